// Checks of the launch: MPI library, launcher, nodes, host names, the program itself.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "app/doctor/judgement.hpp"

namespace glinpack::app::doctor {

namespace {

constexpr double slow_resolver = 1.0;  // seconds

std::string squeezed(const std::string& text) {
  std::string one_blank;
  for (const char c : text) {
    if (c != ' ' || (!one_blank.empty() && one_blank.back() != ' ')) one_blank += c;
  }
  return one_blank;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool built_with_open_mpi(const ProcessFacts& process) { return process.mpi_headers.starts_with("Open MPI"); }

// True if the loaded library is ABI-compatible with the headers of the build. MPICH's derivatives share one ABI
// (https://www.mpich.org/abi).
bool library_fits(const ProcessFacts& process) {
  if (built_with_open_mpi(process)) return contains(process.mpi_library, "Open MPI");
  if (!process.mpi_headers.starts_with("MPICH")) return true;
  static constexpr std::array family{"MPICH", "Intel", "MVAPICH"};
  return std::any_of(family.begin(), family.end(),
                     [&](const char* member) { return contains(process.mpi_library, member); });
}

// The launcher of the MPI that glinpack was built with; Debian's names.
std::string right_launcher(const ProcessFacts& process) {
  if (process.launcher == "Slurm") {
    return fmt::format("srun --mpi={} -n {} glinpack ...  # srun --mpi=list names what there is",
                       built_with_open_mpi(process) ? "pmix" : "pmi2", process.launched);
  }
  const char* name = built_with_open_mpi(process) ? "mpirun.openmpi" : "mpirun.mpich";
  return fmt::format("{} -np {} glinpack ...  # the launcher of {}", name, process.launched, process.mpi_headers);
}

std::string per_node_command(const ProcessFacts& process, std::size_t ranks, std::size_t nodes) {
  const std::size_t each = (ranks + nodes - 1) / nodes;
  if (process.launcher == "Slurm") {
    return fmt::format("srun --nodes={} --ntasks-per-node={} glinpack ...", nodes, each);
  }
  const char* option = process.launcher == "Open MPI" ? "--npernode" : "-ppn";
  return fmt::format("mpirun -np {} {} {} glinpack ...", each * nodes, option, each);
}

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

void judge_addresses(const HostFacts& host, bool alone, Judgement& judgement) {
  if (host.resolve_seconds < 0) return;
  const std::string remedy = fmt::format("getent ahosts {}  # then correct /etc/hosts or the name server", host.name);
  if (host.resolve_seconds > slow_resolver) {
    judgement.warn(fmt::format("{}: looking up its own name takes {:.1f} s", host.name, host.resolve_seconds), remedy);
  }
  if (alone) return;
  if (host.addresses.empty()) {
    judgement.warn(fmt::format("{} has no address by its own name", host.name), remedy);
  } else if (std::all_of(host.addresses.begin(), host.addresses.end(), is_loopback)) {
    judgement.warn(fmt::format("{} resolves to {}, which no other node reaches", host.name, host.addresses.front()),
                   remedy);
  }
}

}  // namespace

Finding check_mpi(const Facts& facts) {
  Judgement judgement("mpi");
  const ProcessFacts& process = facts.ranks.front().process;
  const std::string library = squeezed(process.mpi_library);
  if (process.world_size == 1 && process.launched > 1) {
    judgement.fail(fmt::format("the launcher ({}) started {} processes, but each of them sees a world of its own: it "
                               "belongs to another MPI than glinpack's, {}",
                               process.launcher, process.launched, process.mpi_headers),
                   right_launcher(process));
  } else if (process.launched > 0 && process.launched != process.world_size) {
    judgement.warn(fmt::format("the launcher ({}) started {} process{}, MPI sees {}", process.launcher,
                               process.launched, process.launched == 1 ? "" : "es", process.world_size),
                   right_launcher(process));
  }
  if (!library_fits(process)) {
    judgement.fail(fmt::format("compiled with {}, but running with {}", process.mpi_headers, library),
                   "ldd $(command -v glinpack) | grep libmpi  # then correct LD_LIBRARY_PATH");
  }
  const std::string how = process.launcher.empty() ? "without a launcher" : "started by " + process.launcher;
  judgement.ok(fmt::format("{}, compiled with {}, {}", library, process.mpi_headers, how));
  return judgement.finding();
}

Finding check_world(const Facts& facts) {
  Judgement judgement("world");
  const std::vector<Node> nodes = nodes_in(facts);
  const std::size_t ranks = facts.ranks.size();
  std::map<std::size_t, std::vector<std::string>> hosts_by_ranks;
  for (const Node& node : nodes) hosts_by_ranks[node.ranks.size()].push_back(node.host);
  const std::string size = fmt::format("{} process{} on {}", ranks, ranks == 1 ? "" : "es",
                                       counted(static_cast<std::int64_t>(nodes.size()), "node"));
  const ProcessFacts& process = facts.ranks.front().process;
  if (hosts_by_ranks.size() > 1) {
    std::string uneven;
    for (const auto& [count, hosts] : hosts_by_ranks) uneven += fmt::format("; {} on {}", count, list_text(hosts));
    judgement.warn(size + uneven, per_node_command(process, ranks, nodes.size()));
  }
  if (ranks == 1 && process.launched <= 1 && process.allocated_tasks > 1) {
    judgement.warn(fmt::format("{} in a Slurm allocation of {} tasks", size, process.allocated_tasks),
                   fmt::format("srun -n {} glinpack ...", process.allocated_tasks));
  }
  judgement.ok(nodes.size() == 1 ? size : fmt::format("{}, {} on each", size, ranks / nodes.size()));
  return judgement.finding();
}

Finding check_hosts(const Facts& facts) {
  Judgement judgement("hosts");
  const std::vector<Node> nodes = nodes_in(facts);
  std::map<std::string, int> times;
  for (const Node& node : nodes) ++times[node.host];
  std::vector<std::string> names;
  for (const auto& [host, count] : times) {
    names.push_back(host);
    if (count > 1) {
      judgement.warn(
          fmt::format("{} nodes are called {}, or MPI cannot share memory between processes of one", count, host),
          "sudo hostnamectl set-hostname NAME  # a name of its own for every node");
    }
    if (nodes.size() > 1 && host.starts_with("localhost")) {
      judgement.warn("a node among several is called " + host,
                     "sudo hostnamectl set-hostname NAME  # a name of its own for every node");
    }
  }
  for (const Node& node : nodes) judge_addresses(node.first().host, nodes.size() == 1, judgement);
  judgement.ok(list_text(names));
  return judgement.finding();
}

Finding check_program(const Facts& facts) {
  Judgement judgement("program");
  std::map<std::string, std::vector<int>> programs;
  std::map<std::string, std::set<std::string>> kernels;
  for (const RankFacts& rank : facts.ranks) {
    programs[rank.process.program].push_back(rank.process.rank);
    kernels[rank.host.kernel].insert(rank.host.name);
  }
  const std::string& program = facts.ranks.front().process.program;
  const std::string& kernel = facts.ranks.front().host.kernel;
  for (const auto& [other, ranks] : programs) {
    if (other == program) continue;
    judgement.fail(fmt::format("rank 0 runs glinpack {}, {} {}", program, ranks_text(ranks), other),
                   "which -a glinpack  # on every node: one installation for all");
  }
  for (const auto& [other, hosts] : kernels) {
    if (other == kernel) continue;
    judgement.warn(fmt::format("{} runs {}, {} {}", facts.ranks.front().host.name, kernel,
                               list_text({hosts.begin(), hosts.end()}), other),
                   "uname -r  # on every node");
  }
  judgement.ok(fmt::format("glinpack {}, {}", program, kernel));
  return judgement.finding();
}

}  // namespace glinpack::app::doctor
