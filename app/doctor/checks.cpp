#include "app/doctor/checks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "app/doctor/judgement.hpp"
#include "app/input/values.hpp"
#include "app/program/pci.hpp"
#include "base/measuring.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

constexpr std::size_t most_shown = 4;  // entries of a list

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

std::string bytes_text(std::int64_t bytes) { return memory_text(static_cast<double>(bytes)); }

std::string without_repeated_blanks(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' || (!result.empty() && result.back() != ' ')) result += c;
  }
  return result;
}

bool is_open_mpi(const std::string& headers) { return headers.starts_with("Open MPI"); }

// True if the loaded library is ABI-compatible with the headers of the build. MPICH's derivatives share one ABI
// (https://www.mpich.org/abi).
bool library_fits(const std::string& library, const std::string& headers) {
  const auto names = [&library](const char* mpi) { return library.find(mpi) != std::string::npos; };
  if (is_open_mpi(headers)) return names("Open MPI");
  return !headers.starts_with("MPICH") || names("MPICH") || names("Intel") || names("MVAPICH");
}

// The launcher of the MPI that glinpack was built with; Debian's names.
std::string right_launcher(const json& process) {
  const std::string headers = process.at("mpi_headers");
  const int launched = process.at("launched");
  if (process.at("launcher") == "Slurm") {
    return fmt::format("srun --mpi={} -n {} glinpack ...  # srun --mpi=list names what there is",
                       is_open_mpi(headers) ? "pmix" : "pmi2", launched);
  }
  return fmt::format("{} -np {} glinpack ...  # the launcher of {}",
                     is_open_mpi(headers) ? "mpirun.openmpi" : "mpirun.mpich", launched, headers);
}

void check_mpi(const Job& job, Judgement& judgement) {
  const json& process = job.part("process");
  const std::string library = without_repeated_blanks(process.at("mpi_library")), headers = process.at("mpi_headers");
  const std::string launcher = process.at("launcher");
  const int size = process.at("world_size"), launched = process.at("launched");
  const bool foreign =
      judgement.fail_if(size == 1 && launched > 1, right_launcher(process),
                        "the launcher ({}) started {} processes, but each of them sees a world of its own: it belongs "
                        "to another MPI than glinpack's, {}",
                        launcher, launched, headers);
  judgement.warn_if(!foreign && launched > 0 && launched != size, right_launcher(process),
                    "the launcher ({}) started {} process{}, MPI sees {}", launcher, launched,
                    launched == 1 ? "" : "es", size);
  judgement.fail_if(!library_fits(library, headers),
                    "ldd $(command -v glinpack) | grep libmpi  # then correct LD_LIBRARY_PATH",
                    "compiled with {}, but running with {}", headers, library);
  const std::string how = launcher.empty() ? "without a launcher" : "started by " + launcher;
  judgement.ok(fmt::format("{}, compiled with {}, {}", library, headers, how));
}

std::string per_node_command(const json& process, std::size_t ranks, std::size_t nodes) {
  const std::size_t each = (ranks + nodes - 1) / nodes;
  if (process.at("launcher") == "Slurm") {
    return fmt::format("srun --nodes={} --ntasks-per-node={} glinpack ...", nodes, each);
  }
  const char* option = process.at("launcher") == "Open MPI" ? "--npernode" : "-ppn";
  return fmt::format("mpirun -np {} {} {} glinpack ...", each * nodes, option, each);
}

void check_world(const Job& job, Judgement& judgement) {
  const json& process = job.part("process");
  const std::size_t ranks = job.facts.ranks.size(), nodes = job.nodes.size();
  const int allocated = process.at("allocated_tasks");
  const std::string size = fmt::format("{} process{} on {}", ranks, ranks == 1 ? "" : "es",
                                       counted(static_cast<std::int64_t>(nodes), "node"));
  std::map<int, std::vector<std::string>> hosts_by_ranks;
  for (const Node& node : job.nodes) hosts_by_ranks[node.size()].push_back(node.host);
  std::string uneven;
  for (const auto& [count, hosts] : hosts_by_ranks) uneven += fmt::format("; {} on {}", count, list_text(hosts));
  judgement.warn_if(hosts_by_ranks.size() > 1, per_node_command(process, ranks, nodes), "{}{}", size, uneven);
  judgement.warn_if(ranks == 1 && process.at("launched") <= 1 && allocated > 1,
                    fmt::format("srun -n {} glinpack ...", allocated), "{} in a Slurm allocation of {} tasks", size,
                    allocated);
  judgement.ok(nodes == 1 ? size : fmt::format("{}, {} on each", size, ranks / nodes));
}

bool is_loopback(const json& address) {
  return address == "::1" || address.get_ref<const std::string&>().starts_with("127.");
}

void check_addresses(const json& host, bool alone, Judgement& judgement) {
  constexpr double slow = 1.0;  // seconds
  const double seconds = host.at("resolve_seconds");
  const std::string name = host.at("name");
  const json& addresses = host.at("addresses");
  const std::string remedy = fmt::format("getent ahosts {}  # then correct /etc/hosts or the name server", name);
  judgement.warn_if(seconds > slow, remedy, "{}: looking up its own name takes {:.1f} s", name, seconds);
  if (alone || seconds < 0) return;
  if (judgement.warn_if(addresses.empty(), remedy, "{} has no address by its own name", name)) return;
  judgement.warn_if(std::all_of(addresses.begin(), addresses.end(), is_loopback), remedy,
                    "{} resolves to {}, which no other node reaches", name, fact_text(addresses.front()));
}

void check_hosts(const Job& job, Judgement& judgement) {
  const char* const remedy = "sudo hostnamectl set-hostname NAME  # a name of its own for every node";
  const bool alone = job.nodes.size() == 1;
  std::map<std::string, int> times;
  for (const Node& node : job.nodes) ++times[node.host];
  std::vector<std::string> names;
  for (const auto& [host, count] : times) {
    names.push_back(host);
    judgement.warn_if(count > 1, remedy, "{} nodes are called {}, or MPI cannot share memory between processes of one",
                      count, host);
    judgement.warn_if(!alone && host.starts_with("localhost"), remedy, "a node among several is called {}", host);
  }
  for (const Node& node : job.nodes) check_addresses(node.part("host"), alone, judgement);
  judgement.ok(list_text(names));
}

void check_program(const Job& job, Judgement& judgement) {
  std::map<std::string, std::vector<int>> programs;
  std::map<std::string, std::set<std::string>> kernels;
  for (const json& rank : job.facts.ranks) {
    programs[fact_text(rank.at("process").at("program"))].push_back(number_of(rank));
    kernels[fact_text(rank.at("host").at("kernel"))].insert(host_of(rank));
  }
  const std::string program = job.part("process").at("program"), kernel = job.part("host").at("kernel");
  for (const auto& [other, ranks] : programs) {
    judgement.fail_if(other != program, "which -a glinpack  # on every node: one installation for all",
                      "rank 0 runs glinpack {}, {} {}", program, ranks_text(ranks), other);
  }
  for (const auto& [other, hosts] : kernels) {
    judgement.warn_if(other != kernel, "uname -r  # on every node", "{} runs {}, {} {}",
                      host_of(job.facts.ranks.front()), kernel, list_text({hosts.begin(), hosts.end()}), other);
  }
  judgement.ok(fmt::format("glinpack {}, {}", program, kernel));
}

void check_host_memory(const Job& job, Judgement& judgement) {
  constexpr std::int64_t least_per_rank = 256 * mebibyte;  // for a useful measurement
  constexpr double enough_available = 0.5;
  // identical nodes differ by firmware reservations, but by less than a memory module
  constexpr double same_size = 0.95;
  const char* const users = "ps aux --sort=-rss | head";
  std::vector<const Node*> known;
  std::vector<double> totals;
  std::vector<std::int64_t> available, total, left;
  for (const Node& node : job.nodes) {
    const json& memory = node.part("memory");
    if (memory.at("total") <= 0 || memory.at("available") <= 0) continue;
    known.push_back(&node);
    totals.push_back(memory.at("total"));
    total.push_back(memory.at("total"));
    available.push_back(memory.at("available"));
    if (memory.at("left_by_groups") > 0) left.push_back(memory.at("left_by_groups"));
  }
  const double median = median_of(totals);
  for (std::size_t n = 0; n < known.size(); ++n) {
    const Node& node = *known[n];
    const std::int64_t group = node.part("memory").at("left_by_groups");
    const std::int64_t usable = group > 0 ? std::min(available[n], group) : available[n];
    const bool little = judgement.fail_if(usable < node.size() * least_per_rank, users, "{}: {} for {}", node.host,
                                          bytes_text(usable), counted(node.size(), "rank"));
    judgement.warn_if(!little && static_cast<double>(available[n]) < enough_available * totals[n], users,
                      "{}: {} of {} are available", node.host, bytes_text(available[n]), bytes_text(total[n]));
    judgement.warn_if(totals[n] < same_size * median, "sudo dmidecode -t memory | grep -i size  # is a module missing?",
                      "{} has {}, the nodes' median is {}", node.host, bytes_text(total[n]), memory_text(median));
  }
  if (known.empty()) return judgement.unknown("the system does not report it");
  judgement.ok(fmt::format("{} available of {}{}", memory_range(available), memory_range(total),
                           left.empty() ? "" : ", of which control groups leave " + memory_range(left)));
}

// For MPI's buffers, and for the panels that ranks of a node share. Containers get 64 MiB by default.
void check_shared_memory(const Job& job, Judgement& judgement) {
  constexpr std::int64_t least_per_rank = 32 * mebibyte, enough = gibibyte;
  std::vector<std::int64_t> free, total;
  for (const Node& node : job.nodes) {
    const json& folder = node.part("shared_memory");
    const std::string path = folder.at("path"), container = node.part("container").at("kind");
    const std::int64_t bytes = folder.at("free");
    const bool shares = node.size() > 1;
    if (!folder.at("writable").get<bool>()) {
      judgement.add_problem(shares ? Verdict::fail : Verdict::warn,
                            "sudo mount -t tmpfs -o size=50%,mode=1777 tmpfs " + path,
                            fmt::format("{}: {} cannot be written", node.host, path));
      continue;
    }
    free.push_back(bytes);
    total.push_back(folder.at("total"));
    const std::string remedy = container == "Docker"   ? "docker run --shm-size=8g IMAGE glinpack ..."
                               : container == "Podman" ? "podman run --shm-size=8g IMAGE glinpack ..."
                                                       : "sudo mount -o remount,size=50% /dev/shm";
    if (shares && bytes < std::max(enough, node.size() * least_per_rank)) {
      judgement.add_problem(bytes < node.size() * least_per_rank ? Verdict::fail : Verdict::warn, remedy,
                            fmt::format("{}: {} of {} in {} for {}", node.host, bytes_text(bytes),
                                        bytes_text(total.back()), path, counted(node.size(), "rank")));
    }
  }
  if (free.empty()) return;
  judgement.ok(fmt::format("{} free of {} in {}", memory_range(free), memory_range(total),
                           fact_text(job.part("shared_memory").at("path"))));
}

void check_temporary_space(const Node& node, Judgement& judgement) {
  constexpr std::int64_t least = 64 * mebibyte, enough = gibibyte;
  const char* const remedy = "export TMPDIR=FOLDER  # with more space, on a disk of the node";
  const json& folder = node.part("temporary");
  const std::string path = folder.at("path");
  const std::int64_t free = folder.at("free");
  const std::string here = fmt::format("{}: {} free in {}", node.host, bytes_text(free), path);
  const bool wrong =
      judgement.fail_if(!folder.at("writable").get<bool>(), remedy, "{}: {} cannot be written", node.host, path) ||
      judgement.fail_if(free < least, remedy, "{}", here) || judgement.warn_if(free < enough, remedy, "{}", here);
  if (!wrong) judgement.ok(here);
}

void check_locked_memory(const Node& node, Judgement& judgement) {
  constexpr std::int64_t enough = mebibyte, enough_for_rdma = gibibyte;
  std::optional<std::int64_t> limit;
  for (const json* rank : node.ranks) {
    const std::int64_t locked = rank->at("memory").at("locked");
    if (locked >= 0) limit = std::min(limit.value_or(locked), locked);
  }
  const int rdma = node.part("memory").at("rdma_devices");
  const std::string here = fmt::format("{}: {}{}", node.host, limit ? bytes_text(*limit) : "no limit",
                                       rdma > 0 ? ", " + counted(rdma, "RDMA adapter") : "");
  const char* const remedy =
      node.part("process").at("launcher") == "Slurm"
          ? "ulimit -l unlimited  # and LimitMEMLOCK=infinity in slurmd's unit, PropagateResourceLimitsExcept=MEMLOCK"
          : "ulimit -l unlimited  # for good: memlock in /etc/security/limits.d";
  const bool wrong = judgement.fail_if(limit && rdma > 0 && *limit < enough_for_rdma, remedy,
                                       "{}, which cannot register MPI's buffers", here) ||
                     judgement.warn_if(limit && *limit < enough, remedy, "{}", here);
  if (!wrong) judgement.ok(here);
}

// A check looks at the whole job once, or at every node.
struct Check {
  const char* name;
  void (*of_job)(const Job&, Judgement&) = nullptr;
  void (*of_node)(const Node&, Judgement&) = nullptr;
};

constexpr std::array checks{
    Check{"mpi", check_mpi},
    Check{"world", check_world},
    Check{"hosts", check_hosts},
    Check{"program", check_program},
    Check{"affinity", check_affinity},
    Check{.name = "threads", .of_node = check_threads},
    Check{"kernels", check_kernels},
    Check{"load", check_load},
    Check{"clocks", check_clocks},
    Check{.name = "container", .of_node = check_container},
    Check{.name = "render-nodes", .of_node = check_render_nodes},
    Check{"devices", check_devices},
    Check{"driver", check_driver},
    Check{"renderer", check_renderer},
    Check{"gpu-map", check_gpu_map},
    Check{"gpu-distance", check_gpu_distance},
    Check{"device-memory", check_device_memory},
    Check{"host-memory", check_host_memory},
    Check{"shared-memory", check_shared_memory},
    Check{.name = "temporary-space", .of_node = check_temporary_space},
    Check{.name = "locked-memory", .of_node = check_locked_memory},
    Check{"network", check_network},
    Check{"gemm", check_gemm},
    Check{"burn-in", check_burn_in},
};

}  // namespace

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 4> names{"n/a", "ok", "warn", "fail"};
  return names[static_cast<std::size_t>(verdict)];
}

std::vector<Finding> judge(const Facts& facts) {
  const Job job(facts);
  std::vector<Finding> findings;
  for (const Check& check : checks) {
    Judgement judgement(check.name);
    if (check.of_job != nullptr) check.of_job(job, judgement);
    if (check.of_node != nullptr) {
      for (const Node& node : job.nodes) check.of_node(node, judgement);
    }
    findings.push_back(judgement.finding());
  }
  return findings;
}

Verdict worst_of(std::span<const Finding> findings) {
  Verdict worst = Verdict::unknown;
  for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

Job::Job(const Facts& of_ranks) : facts(of_ranks) {
  std::map<std::pair<std::string, int>, std::size_t> places;
  for (const json& rank : facts.ranks) {
    const std::string host = rank.at("host").at("name");
    const auto [place, is_new] = places.try_emplace({host, rank.at("process").at("node").get<int>()}, nodes.size());
    if (is_new) nodes.push_back({host, {}});
    nodes[place->second].ranks.push_back(&rank);
  }
}

Judgement::Problem& Judgement::insert(Verdict verdict, const std::string& remedy, const std::string& evidence) {
  // the worst come first
  const bool first = verdict > worst_;
  worst_ = std::max(worst_, verdict);
  if (std::find(remedies_.begin(), remedies_.end(), remedy) == remedies_.end()) {
    remedies_.insert(first ? remedies_.begin() : remedies_.end(), remedy);
  }
  return *problems_.insert(first ? problems_.begin() : problems_.end(), {evidence, {}, {}});
}

void Judgement::add_problem_of(const json& rank, Verdict verdict, const std::string& remedy,
                               const std::string& evidence) {
  const auto found = std::find_if(problems_.begin(), problems_.end(), [&](const Problem& problem) {
    return !problem.ranks.empty() && problem.evidence == evidence;
  });
  Problem& problem = found == problems_.end() ? insert(verdict, remedy, evidence) : *found;
  problem.hosts.insert(host_of(rank));
  problem.ranks.push_back(number_of(rank));
}

std::string Judgement::Problem::text() const {
  return ranks.empty()
             ? evidence
             : fmt::format("{}, {}: {}", list_text({hosts.begin(), hosts.end()}), ranks_text(ranks), evidence);
}

Finding Judgement::finding() const {
  if (problems_.empty()) {
    const std::vector<std::string>& shown = good_.empty() ? unknown_ : good_;
    return {check_, good_.empty() ? Verdict::unknown : Verdict::ok, fmt::format("{}", fmt::join(shown, "; ")), {}};
  }
  std::vector<std::string> shown, remedies = remedies_;
  for (const Problem& problem : problems_) shown.push_back(problem.text());
  shown.resize(std::min(shown.size(), most_shown));
  remedies.resize(std::min(remedies.size(), most_shown));
  if (problems_.size() > most_shown) {
    shown.push_back(fmt::format("and {} more like these", problems_.size() - most_shown));
  }
  return {check_, worst_, fmt::format("{}", fmt::join(shown, "; ")), std::move(remedies)};
}

std::string fact_text(const json& fact) { return fact.is_string() ? fact.get<std::string>() : fact.dump(); }

int number_of(const json& rank) { return rank.at("process").at("rank"); }
std::string host_of(const json& rank) { return rank.at("host").at("name"); }
std::string burnt_in_device(const json& rank) {
  const json& burn_in = rank.at("burn_in");
  const int index = burn_in.at("device_index");
  return host_of(rank) + (index < 0 ? "" : fmt::format(", device {}", index)) + ", " + fact_text(burn_in.at("device"));
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string list;
  for (const char c : list_of_processors(ranks)) list += c == ',' ? std::string(", ") : std::string(1, c);
  return (ranks.size() == 1 ? "rank " : "ranks ") + list;
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string list_text(const std::vector<std::string>& names) {
  std::vector<std::string> shown = names;
  if (shown.size() > most_shown + 1) shown.resize(most_shown);
  const std::string list = fmt::format("{}", fmt::join(shown, ", "));
  return shown.size() == names.size() ? list : fmt::format("{} and {} more", list, names.size() - shown.size());
}

std::string memory_range(const std::vector<std::int64_t>& bytes) {
  if (bytes.empty()) return "none";
  const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
  const std::string from = memory_text(static_cast<double>(*least)), to = memory_text(static_cast<double>(*most));
  return from == to ? to : from + " to " + to;
}

double median_of(std::vector<double> values) { return values.empty() ? 0 : spread_of(std::move(values)).median; }

std::string start_command(const json& process, std::int64_t ranks) {
  return fmt::format("{} {} glinpack ...", process.at("launcher") == "Slurm" ? "srun -n" : "mpirun -np", ranks);
}

}  // namespace glinpack::app::doctor
