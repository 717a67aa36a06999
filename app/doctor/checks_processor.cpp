// Checks of cores, threads, OpenBLAS's kernels, clocks and temperatures.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/doctor/judgement.hpp"
#include "app/doctor/pci.hpp"
#include "openblas/openblas_backend.hpp"

namespace glinpack::app::doctor {

namespace {

constexpr double near_limit = 5;  // degrees below the critical temperature

// The union of the cores that the ranks of a node may use.
std::set<int> cores_of(const Node& node) {
  std::set<int> cores;
  for (const RankFacts* rank : node.ranks) cores.insert(rank->processor.cores.begin(), rank->processor.cores.end());
  return cores;
}

// The number of cores that a control group's quota allows.
int capacity_of(const Node& node) {
  const auto cores = static_cast<int>(cores_of(node).size());
  const int limit = node.first().processor.core_limit;
  return limit > 0 ? std::min(limit, cores) : cores;
}

std::string binding_command(const ProcessFacts& process, int cores_each) {
  if (process.launcher == "Slurm") {
    return fmt::format("srun --cpus-per-task={} --cpu-bind=cores glinpack ...", cores_each);
  }
  if (process.launcher == "Open MPI") {
    return fmt::format("mpirun --map-by slot:PE={} --bind-to core glinpack ...", cores_each);
  }
  return process.launcher.empty() ? "taskset --pid $$  # what this shell binds its programs to"
                                  : fmt::format("mpirun -bind-to core:{} glinpack ...", cores_each);
}

bool unbound(const Node& node) {
  return std::all_of(node.ranks.begin(), node.ranks.end(), [](const RankFacts* rank) {
    return static_cast<int>(rank->processor.cores.size()) >= rank->processor.node_cores;
  });
}

// Finds groups of ranks that are bound to the same cores and outnumber them.
void judge_pools(const Node& node, const std::string& remedy, Judgement& judgement) {
  std::map<std::vector<int>, std::vector<const RankFacts*>> pools;
  for (const RankFacts* rank : node.ranks) pools[rank->processor.cores].push_back(rank);
  for (const auto& [cores, ranks] : pools) {
    if (ranks.size() <= cores.size()) continue;
    judgement.warn(fmt::format("{}: {} are bound to the same {}, {}", node.host, ranks_text(ranks),
                               counted(static_cast<std::int64_t>(cores.size()), "core"), processor_list(cores)),
                   remedy);
  }
}

void judge_binding(const Node& node, std::int64_t capacity_of_all, Judgement& judgement) {
  const ProcessFacts& process = node.first().process;
  const int node_cores = node.first().processor.node_cores;
  const auto ranks = static_cast<int>(node.ranks.size());
  const auto cores = static_cast<int>(cores_of(node).size());
  const std::string share = binding_command(process, std::max(1, node_cores / ranks));
  const std::string ranks_here = counted(ranks, "rank");
  if (ranks > capacity_of(node)) {
    const bool more_cores = node_cores > cores && ranks <= node_cores;
    const std::string where = node_cores > cores ? fmt::format("{} of {}", cores, counted(node_cores, "core"))
                                                 : counted(capacity_of(node), "core");
    judgement.warn(fmt::format("{}: {} share {}", node.host, ranks_here, where),
                   more_cores ? share : start_command(process, std::max<std::int64_t>(1, capacity_of_all)));
  } else if (cores * 2 <= node_cores && node.first().processor.core_limit == 0) {
    judgement.warn(fmt::format("{}: {} may use {} of {}", node.host, ranks_here, cores, counted(node_cores, "core")),
                   share);
  } else if (ranks > 1 && node.first().processor.numa_nodes > 1 && unbound(node)) {
    judgement.warn(fmt::format("{}: {} on {} are not bound to cores", node.host, ranks_here,
                               counted(node.first().processor.numa_nodes, "NUMA node")),
                   share);
  } else {
    judge_pools(node, share, judgement);
  }
  judgement.ok(fmt::format("{}: {}{} on {} of {}", node.host, ranks_here, unbound(node) ? ", not bound," : ", bound,",
                           cores, counted(node_cores, "core")));
}

double gigahertz(double mhz) { return mhz / 1000; }

// Judges the processor's clocks of a node.
void judge_processor_clocks(const Node& node, Judgement& judgement) {
  const ClockFacts& clocks = node.first().clocks;
  const bool hints = clocks.driver == "intel_pstate" || clocks.driver.starts_with("amd-pstate-epp");
  if (clocks.governor == "powersave" && !hints) {
    judgement.warn(fmt::format("{}: the processor's governor is powersave ({})", node.host, clocks.driver),
                   "sudo cpupower frequency-set --governor performance");
  }
  if (clocks.throttled > 0) {
    judgement.warn(fmt::format("{}: cores were throttled by heat {} since the system started", node.host,
                               counted(clocks.throttled, "time")),
                   "sensors  # of lm-sensors; fans, dust, the room's temperature");
  }
  std::string text;
  if (clocks.fastest_mhz > 0) {
    text += fmt::format(", {:.2f} to {:.2f} of {:.2f} GHz", gigahertz(clocks.slowest_mhz),
                        gigahertz(clocks.fastest_mhz), gigahertz(clocks.highest_mhz));
  }
  if (!clocks.governor.empty()) text += ", governor " + clocks.governor;
  for (const Temperature& t : clocks.hottest) {
    const std::string degrees = fmt::format("{} at {:.0f} C", t.name, t.celsius) +
                                (t.critical > 0 ? fmt::format(" of {:.0f} C", t.critical) : "");
    if (t.critical > 0 && t.celsius > t.critical - near_limit) {
      judgement.warn(node.host + ": " + degrees, "sensors  # of lm-sensors; fans, dust, the room's temperature");
    }
    text += ", " + degrees;
  }
  if (clocks.throttled == 0) text += ", never throttled by heat";
  if (text.empty()) {
    judgement.unknown(node.host + " tells neither clocks nor temperatures of the processor");
  } else {
    judgement.ok(node.host + ": " + text.substr(2));
  }
}

// A power limit is a setting and works as configured. Thermal and power failures are faults.
void judge_device_clocks(const RankFacts& rank, Judgement& judgement) {
  const ClockFacts& clocks = rank.clocks;
  if (clocks.device_source.empty()) return;
  std::string text = fmt::format("rank {}'s device", rank.process.rank);
  if (clocks.device_mhz > 0) text += fmt::format(" at {:.2f} GHz", gigahertz(clocks.device_mhz));
  if (clocks.device_highest_mhz > 0) text += fmt::format(" of {:.2f} GHz", gigahertz(clocks.device_highest_mhz));
  if (clocks.device_celsius > 0) text += fmt::format(", {:.0f} C", clocks.device_celsius);
  std::vector<std::string> faults;
  for (const std::string& reason : clocks.device_throttle) {
    if (reason != "power cap") faults.push_back(reason);
    text += ", " + reason;
  }
  if (faults.empty()) {
    judgement.ok(text);
  } else {
    judgement.warn(fmt::format("{}: {}", rank.host.name, text), "nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER");
  }
}

}  // namespace

Finding check_affinity(const Facts& facts) {
  Judgement judgement("affinity");
  const std::vector<Node> nodes = nodes_in(facts);
  std::int64_t capacity = 0;
  for (const Node& node : nodes) capacity += capacity_of(node);
  for (const Node& node : nodes) {
    if (cores_of(node).empty()) {
      judgement.unknown(node.host + " does not tell its cores");
    } else {
      judge_binding(node, capacity, judgement);
    }
  }
  return judgement.finding();
}

Finding check_threads(const Facts& facts) {
  Judgement judgement("threads");
  for (const Node& node : nodes_in(facts)) {
    const int capacity = capacity_of(node);
    int threads = 0, most = 0;
    for (const RankFacts* rank : node.ranks) {
      threads += rank->processor.threads;
      most = std::max(most, rank->processor.threads);
    }
    const auto ranks = static_cast<int>(node.ranks.size());
    const std::string text = fmt::format("{}: {} x {} on {}", node.host, counted(ranks, "rank"),
                                         counted(most, "thread"), counted(capacity, "core"));
    if (capacity == 0) {
      judgement.unknown(text);
    } else if (threads > capacity && most > 1) {
      judgement.warn(text, fmt::format("glinpack plu --threads {} ...", std::max(1, capacity / ranks)));
    } else {
      judgement.ok(text);
    }
  }
  return judgement.finding();
}

Finding check_kernels(const Facts& facts) {
  Judgement judgement("kernels");
  std::map<std::string, std::vector<int>> seen;
  for (const RankFacts& rank : facts.ranks) {
    const ProcessorFacts& processor = rank.processor;
    const auto better = better_kernels(processor.kernels, {processor.avx2_fma, processor.avx512});
    if (better) {
      judgement.warn(fmt::format("{}, rank {}: OpenBLAS has the kernels {} where {} suit the processor, {}",
                                 rank.host.name, rank.process.rank, processor.kernels, *better, processor.name),
                     processor.core_type.empty() ? "export OPENBLAS_CORETYPE=" + *better : "unset OPENBLAS_CORETYPE");
    }
    std::string text = processor.kernels + " for " + processor.name;
    if (!processor.kernels_before.empty()) {
      text += fmt::format(" (OpenBLAS had chosen {}; glinpack set OPENBLAS_CORETYPE={})", processor.kernels_before,
                          processor.core_type);
    }
    if (!processor.kernels.empty()) seen[text].push_back(rank.process.rank);
  }
  for (const auto& [text, ranks] : seen) {
    judgement.ok(seen.size() == 1 ? text : fmt::format("{}: {}", ranks_text(ranks), text));
  }
  judgement.unknown("OpenBLAS does not tell");
  return judgement.finding();
}

Finding check_clocks(const Facts& facts) {
  Judgement judgement("clocks");
  if (facts.quick) {
    judgement.unknown("not read: --quick");
    return judgement.finding();
  }
  for (const Node& node : nodes_in(facts)) {
    judge_processor_clocks(node, judgement);
    for (const RankFacts* rank : node.ranks) judge_device_clocks(*rank, judgement);
  }
  return judgement.finding();
}

}  // namespace glinpack::app::doctor
