// The checks of speed: cores, threads, OpenBLAS's kernels, clocks; measured links and matrix products.
#include <algorithm>
#include <map>
#include <set>

#include "app/doctor/judgement.hpp"
#include "app/doctor/measure.hpp"
#include "app/program/node_load.hpp"
#include "app/program/pci.hpp"
#include "openblas/blas_library.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

// The union of the cores that the ranks of a node may use.
std::set<int> cores_of(const Node& node) {
  std::set<int> cores;
  for (const json* rank : node.ranks) {
    for (const json& core : rank->at("processor").at("cores")) cores.insert(core.get<int>());
  }
  return cores;
}

// The number of these cores that a control group's quota allows.
int capacity_of(const Node& node) {
  const auto cores = static_cast<int>(cores_of(node).size());
  const int limit = node.part("processor").at("core_limit");
  return limit > 0 ? std::min(limit, cores) : cores;
}

std::string binding_command(const json& process, int cores_each) {
  const std::string launcher = process.at("launcher");
  if (launcher.empty()) return "taskset --pid $$  # what this shell binds its programs to";
  if (launcher == "Slurm") return fmt::format("srun --cpus-per-task={} --cpu-bind=cores glinpack ...", cores_each);
  if (launcher != "Open MPI") return fmt::format("mpirun -bind-to core:{} glinpack ...", cores_each);
  return fmt::format("mpirun --map-by slot:PE={} --bind-to core glinpack ...", cores_each);
}

// Finds groups of ranks that are bound to the same cores and outnumber them.
void check_shared_cores(const Node& node, const std::string& remedy, Judgement& judgement) {
  std::map<std::vector<int>, std::vector<int>> ranks_by_cores;
  for (const json* rank : node.ranks) {
    ranks_by_cores[rank->at("processor").at("cores").get<std::vector<int>>()].push_back(number_of(*rank));
  }
  for (const auto& [cores, ranks] : ranks_by_cores) {
    judgement.warn_if(ranks.size() > cores.size(), remedy, "{}: {} are bound to the same {}, {}", node.host,
                      ranks_text(ranks), counted(static_cast<std::int64_t>(cores.size()), "core"),
                      list_of_processors(cores));
  }
}

void check_binding(const Node& node, std::int64_t capacity_of_job, Judgement& judgement) {
  const json &process = node.part("process"), &processor = node.part("processor");
  const int node_cores = processor.at("node_cores"), numa_nodes = processor.at("numa_nodes");
  const int ranks = node.size(), cores = static_cast<int>(cores_of(node).size()), capacity = capacity_of(node);
  const bool unbound = std::all_of(node.ranks.begin(), node.ranks.end(), [](const json* rank) {
    const json& own = rank->at("processor");
    return own.at("cores").size() >= own.at("node_cores").get<std::size_t>();
  });
  const std::string share = binding_command(process, std::max(1, node_cores / ranks));
  const std::string ranks_here = counted(ranks, "rank"), cores_here = counted(node_cores, "core");
  const bool more_cores = node_cores > cores && ranks <= node_cores;
  const bool wrong =
      judgement.warn_if(ranks > capacity,
                        more_cores ? share : start_command(process, std::max<std::int64_t>(1, capacity_of_job)),
                        "{}: {} share {}", node.host, ranks_here,
                        node_cores > cores ? fmt::format("{} of {}", cores, cores_here) : counted(capacity, "core")) ||
      judgement.warn_if(cores * 2 <= node_cores && processor.at("core_limit") == 0, share, "{}: {} may use {} of {}",
                        node.host, ranks_here, cores, cores_here) ||
      judgement.warn_if(ranks > 1 && numa_nodes > 1 && unbound, share, "{}: {} on {} are not bound to cores", node.host,
                        ranks_here, counted(numa_nodes, "NUMA node"));
  if (!wrong) check_shared_cores(node, share, judgement);
  judgement.ok(fmt::format("{}: {}{} on {} of {}", node.host, ranks_here, unbound ? ", not bound," : ", bound,", cores,
                           cores_here));
}

double gigahertz(const json& megahertz) { return megahertz.get<double>() / 1000; }

void check_processor_clocks(const Node& node, Judgement& judgement) {
  constexpr double near_limit = 5;  // degrees below the critical temperature
  const char* const cool = "sensors  # of lm-sensors; fans, dust, the room's temperature";
  const json& clocks = node.part("clocks");
  const std::string driver = clocks.at("driver"), governor = clocks.at("governor");
  const std::int64_t throttled = clocks.at("throttled");
  judgement.warn_if(saves_power(driver, governor), "sudo cpupower frequency-set --governor performance",
                    "{}: the processor's governor is powersave ({})", node.host, driver);
  judgement.warn_if(throttled > 0, cool, "{}: cores were throttled by heat {} since the system started", node.host,
                    counted(throttled, "time"));
  std::string seen;
  if (clocks.at("fastest_mhz") > 0) {
    seen += fmt::format(", {:.2f} to {:.2f} of {:.2f} GHz", gigahertz(clocks.at("slowest_mhz")),
                        gigahertz(clocks.at("fastest_mhz")), gigahertz(clocks.at("highest_mhz")));
  }
  if (!governor.empty()) seen += ", governor " + governor;
  for (const json& sensor : clocks.at("hottest")) {
    const double celsius = sensor.at("celsius"), critical = sensor.at("critical");
    const std::string degrees = fmt::format("{} at {:.0f} C", fact_text(sensor.at("name")), celsius) +
                                (critical > 0 ? fmt::format(" of {:.0f} C", critical) : "");
    judgement.warn_if(critical > 0 && celsius > critical - near_limit, cool, "{}: {}", node.host, degrees);
    seen += ", " + degrees;
  }
  if (throttled == 0) seen += ", never throttled by heat";
  if (seen.empty()) return judgement.unknown(node.host + " tells neither clocks nor temperatures of the processor");
  judgement.ok(node.host + ": " + seen.substr(2));
}

// A power limit is a setting and works as configured. Thermal and power failures are faults.
void check_device_clocks(const json& rank, Judgement& judgement) {
  const json& clocks = rank.at("clocks");
  if (clocks.at("device_source") == "") return;
  std::string seen = fmt::format("rank {}'s device", number_of(rank));
  const auto add = [&seen](const char* format, double value) {
    if (value > 0) seen += fmt::format(fmt::runtime(format), value);
  };
  add(" at {:.2f} GHz", gigahertz(clocks.at("device_mhz")));
  add(" of {:.2f} GHz", gigahertz(clocks.at("device_highest_mhz")));
  add(", {:.0f} C", clocks.at("device_celsius"));
  bool at_fault = false;
  for (const json& reason : clocks.at("device_throttle")) {
    at_fault = at_fault || reason != "power cap";
    seen += ", " + fact_text(reason);
  }
  judgement.warn_if(at_fault, "nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER", "{}: {}", host_of(rank), seen);
  judgement.ok(seen);
}

bool any_oversubscribed(const Facts& facts) {
  return std::any_of(facts.ranks.begin(), facts.ranks.end(),
                     [](const json& rank) { return rank.at("process").at("oversubscribed").get<bool>(); });
}

// Names the nodes whose processors other programs used during the measurements.
void name_loaded_nodes(const Job& job, Judgement& judgement) {
  for (const Node& node : job.nodes) {
    const json& processor = node.part("processor");
    const double load = processor.at("other_load");
    const int processors = processor.at("node_processors");
    judgement.warn_if(is_loaded(load, processors),
                      "ps aux --sort=-pcpu | head  # on " + node.host + "; then measure again",
                      "{}: other programs used {:.1f} of {} during the measurements", node.host, load,
                      counted(processors, "processor"));
  }
}

std::string rates_text(double latency, double bandwidth) {
  return fmt::format("{:.2f} us, {:.2f} GB/s", latency * 1e6, bandwidth * 1e-9);
}

std::string links_text(const char* kind, const LinkMedian& median) {
  if (median.links == 0) return {};
  return fmt::format("; {} {}{}: {}", counted(median.links, "link"), kind, median.links == 1 ? "" : " (medians)",
                     rates_text(median.latency, median.bandwidth));
}

std::vector<double> rates_of(const std::vector<const json*>& ranks, const char* key) {
  std::vector<double> rates;
  for (const json* rank : ranks) rates.push_back(rank->at("gemm").at(key));
  return rates;
}

// A node below this fraction of the nodes' median is a straggler; below the next fraction it is broken. Ranks of one
// node share memory and power, and vary more.
constexpr double straggler = 0.9;
constexpr double straggler_in_node = 0.8;
constexpr double broken = 0.5;

void compare_rates(const Job& job, const char* key, const std::string& name, Judgement& judgement) {
  std::vector<double> means;
  for (const Node& node : job.nodes) {
    double sum = 0;
    for (const double rate : rates_of(node.ranks, key)) sum += rate;
    means.push_back(sum / node.size());
  }
  const double median = median_of(means);
  for (std::size_t n = 0; n < job.nodes.size(); ++n) {
    if (means[n] >= straggler * median) continue;
    judgement.add_problem(means[n] < broken * median ? Verdict::fail : Verdict::warn,
                          "ps aux --sort=-pcpu | head  # on " + job.nodes[n].host + "; clocks, heat, memory modules",
                          fmt::format("{}: {} of {:.1f} GFLOPS a rank, {:.2f} of the nodes' median {:.1f}",
                                      job.nodes[n].host, name, means[n] * 1e-9, means[n] / median, median * 1e-9));
  }
  for (const Node& node : job.nodes) {
    const std::vector<double> rates = rates_of(node.ranks, key);
    const double usual = median_of(rates);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      judgement.warn_if(rates[i] < straggler_in_node * usual, "ps aux --sort=-pcpu | head  # on " + node.host,
                        "{}, rank {}: {} of {:.1f} GFLOPS, {:.2f} of its node's median", node.host,
                        number_of(*node.ranks[i]), name, rates[i] * 1e-9, rates[i] / usual);
    }
  }
}

// A device that slows down in its burn-in, or is slower than the others of its kind.
void compare_burn_ins(const std::vector<const json*>& ranks, double limit, Judgement& judgement) {
  constexpr std::size_t least_peers = 3, least_loops = 6;
  const auto number = [](const json* rank, const char* key) { return rank->at("burn_in").at(key).get<double>(); };
  std::vector<double> medians;
  for (const json* rank : ranks) medians.push_back(number(rank, "median_gflops"));
  const double usual = median_of(medians);
  for (const json* rank : ranks) {
    const std::string remedy = rank->at("burn_in").at("hardware").get<bool>()
                                   ? "nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER  # on " + host_of(*rank)
                                   : "ps aux --sort=-pcpu | head  # on " + host_of(*rank);
    const double median = number(rank, "median_gflops"), before = number(rank, "first_half_gflops");
    const double after = number(rank, "second_half_gflops");
    if (ranks.size() >= least_peers && median < limit * usual) {
      judgement.add_problem(
          median < broken * usual ? Verdict::fail : Verdict::warn, remedy,
          fmt::format("rank {} ({}): {:.1f} GFLOPS, {:.2f} of the median of {} such devices, {:.1f}", number_of(*rank),
                      burnt_in_device(*rank), median, median / usual, ranks.size(), usual));
    }
    judgement.warn_if(number(rank, "measured_loops") >= least_loops && after < limit * before, remedy,
                      "rank {} ({}): {:.1f} GFLOPS in the second half of its loops, {:.2f} of {:.1f} in the first",
                      number_of(*rank), burnt_in_device(*rank), after, after / before, before);
  }
  judgement.ok(fmt::format("{}, {:.1f} GFLOPS (median){}", counted(static_cast<std::int64_t>(ranks.size()), "device"),
                           usual, ranks.size() < least_peers ? ", compared over time alone: too few peers" : ""));
}

// Returns the rates as text; empty unless all ranks measured them.
std::string check_rates(const Job& job, const char* key, const std::string& name, bool compared, Judgement& judgement) {
  std::vector<double> rates;
  for (const json& rank : job.facts.ranks) rates.push_back(rank.at("gemm").at(key));
  const Measured spread = spread_of(rates);
  if (spread.least <= 0) return {};
  if (compared) compare_rates(job, key, name, judgement);
  if (rates.size() == 1) return fmt::format("{} {:.1f} GFLOPS", name, spread.median * 1e-9);
  return fmt::format("{} {:.1f} GFLOPS a rank (median), {:.1f} to {:.1f}", name, spread.median * 1e-9,
                     spread.least * 1e-9, spread.most * 1e-9);
}

}  // namespace

void check_affinity(const Job& job, Judgement& judgement) {
  std::int64_t capacity = 0;
  for (const Node& node : job.nodes) capacity += capacity_of(node);
  for (const Node& node : job.nodes) {
    if (cores_of(node).empty()) {
      judgement.unknown(node.host + " does not report its cores");
    } else {
      check_binding(node, capacity, judgement);
    }
  }
}

void check_threads(const Node& node, Judgement& judgement) {
  const int capacity = capacity_of(node), ranks = node.size();
  int threads = 0, most = 0;
  for (const json* rank : node.ranks) {
    const int own = rank->at("processor").at("threads");
    threads += own;
    most = std::max(most, own);
  }
  const std::string here = fmt::format("{}: {} x {} on {}", node.host, counted(ranks, "rank"), counted(most, "thread"),
                                       counted(capacity, "core"));
  if (capacity == 0) return judgement.unknown(here);
  judgement.warn_if(threads > capacity && most > 1,
                    fmt::format("glinpack plu --threads {} ...", std::max(1, capacity / ranks)), "{}", here);
  judgement.ok(here);
}

void check_kernels(const Job& job, Judgement& judgement) {
  std::map<std::string, std::vector<int>> seen;
  for (const json& rank : job.facts.ranks) {
    const json& processor = rank.at("processor");
    const std::string kernels = processor.at("kernels"), core_type = processor.at("core_type");
    const std::string name = processor.at("name"), before = processor.at("kernels_before");
    const auto better = better_kernels(kernels, {processor.at("avx2_fma"), processor.at("avx512")});
    if (better) {
      judgement.add_problem_of(
          rank, Verdict::warn, core_type.empty() ? "export OPENBLAS_CORETYPE=" + *better : "unset OPENBLAS_CORETYPE",
          fmt::format("OpenBLAS has the kernels {} where {} suit the processor, {}", kernels, *better, name));
    }
    if (kernels.empty()) continue;
    const std::string change =
        before.empty() ? ""
                       : fmt::format(" (OpenBLAS had chosen {}; glinpack set OPENBLAS_CORETYPE={})", before, core_type);
    seen[kernels + " for " + name + change].push_back(number_of(rank));
  }
  for (const auto& [kernels, ranks] : seen) {
    judgement.ok(seen.size() == 1 ? kernels : fmt::format("{}: {}", ranks_text(ranks), kernels));
  }
  judgement.unknown("OpenBLAS does not report it");
}

void check_load(const Job& job, Judgement& judgement) {
  if (job.facts.quick) return judgement.unknown("not measured: --quick");
  name_loaded_nodes(job, judgement);
  double most = 0;
  for (const Node& node : job.nodes) most = std::max(most, node.part("processor").at("other_load").get<double>());
  judgement.ok(fmt::format("other programs used at most {:.1f} processors of a node during the measurements", most));
}

void check_clocks(const Job& job, Judgement& judgement) {
  if (job.facts.quick) return judgement.unknown("not read: --quick");
  for (const Node& node : job.nodes) {
    check_processor_clocks(node, judgement);
    for (const json* rank : node.ranks) check_device_clocks(*rank, judgement);
  }
}

void check_network(const Job& job, Judgement& judgement) {
  // oversubscribed ranks wait for their time slice in every round trip: only bandwidths far below the others' count
  constexpr double slow_if_oversubscribed = 0.25;
  const Facts& facts = job.facts;
  if (!facts.screening) {
    return judgement.unknown(facts.ranks.size() < 2 ? "one rank has no links" : "not measured: --quick");
  }
  const Screening& screening = *facts.screening;
  const bool oversubscribed = any_oversubscribed(facts);
  std::string start = start_command(job.part("process"), job.part("process").at("world_size"));
  start.resize(start.rfind(" ..."));
  if (!screening.slow.empty()) name_loaded_nodes(job, judgement);
  for (const Link& link : screening.slow) {
    const std::string first = host_of(facts.ranks.at(static_cast<std::size_t>(link.first)));
    const std::string second = host_of(facts.ranks.at(static_cast<std::size_t>(link.second)));
    const bool within_node = first == second;
    const LinkMedian& usual = within_node ? screening.within_hosts : screening.between_hosts;
    judgement.warn_if(
        !oversubscribed || link.bandwidth < slow_if_oversubscribed * usual.bandwidth,
        // measures this pair at all message sizes
        fmt::format("{} network --ping-pong {}-{}  # then {}", start, link.first, link.second,
                    within_node ? "where the ranks run: hwloc-ps" : "cable, port and `ethtool` of both nodes"),
        "rank {} ({}) and rank {} ({}): {}, usual are {}", link.first, first, link.second, second,
        rates_text(link.latency, link.bandwidth), rates_text(usual.latency, usual.bandwidth));
  }
  judgement.ok(fmt::format("{} of {} pairs measured{}{}{}", screening.links.size(), screening.pairs,
                           links_text("within nodes", screening.within_hosts),
                           links_text("between nodes", screening.between_hosts),
                           oversubscribed ? "; times of ranks that take turns on cores" : ""));
}

void check_gemm(const Job& job, Judgement& judgement) {
  const bool oversubscribed = any_oversubscribed(job.facts);
  for (const json& rank : job.facts.ranks) {
    const std::string error = rank.at("gemm").at("error");
    if (!error.empty()) judgement.add_problem_of(rank, Verdict::fail, "glinpack peaks --backend gl-compute", error);
  }
  const std::string host = check_rates(job, "host", "OpenBLAS's dgemm", !oversubscribed, judgement);
  const std::string device = check_rates(job, "device", "the devices' double-precision reduce", true, judgement);
  if (host.empty()) return judgement.unknown("not measured: --quick");
  judgement.ok(host + (device.empty() ? "" : "; " + device) +
               (oversubscribed ? "; not compared, since ranks take turns on cores" : ""));
}

void check_burn_in(const Job& job, Judgement& judgement) {
  std::map<std::string, std::vector<const json*>> kinds;  // of devices
  for (const json& rank : job.facts.ranks) {
    const json& burn_in = rank.at("burn_in");
    if (burn_in.is_null()) return judgement.unknown("not run: --burn-in MINUTES");
    const std::string error = burn_in.at("error");
    if (!error.empty()) {
      judgement.add_problem_of(rank, Verdict::fail, "glinpack devices", error);
      continue;
    }
    const std::int64_t mismatches = burn_in.at("mismatches");
    judgement.fail_if(mismatches > 0,
                      "glinpack doctor --burn-in 60  # on " + host_of(rank) + " alone, or replace the device",
                      "rank {} ({}) computes wrongly: {}, the first in {}", number_of(rank), burnt_in_device(rank),
                      counted(mismatches, "failed check"), fact_text(burn_in.at("first_mismatch")));
    if (burn_in.at("measured_loops") > 0) kinds[burn_in.at("device")].push_back(&rank);
  }
  for (const auto& [device, ranks] : kinds) {
    const bool takes_turns = any_oversubscribed(job.facts) && !ranks.front()->at("burn_in").at("hardware").get<bool>();
    compare_burn_ins(ranks, takes_turns ? broken : straggler, judgement);
  }
  judgement.unknown("no mismatch, but it ended before loops of the final N");
}

}  // namespace glinpack::app::doctor
