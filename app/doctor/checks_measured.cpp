// Checks of measurements: network links, and the gemm rate of every rank.
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "app/doctor/judgement.hpp"

namespace glinpack::app::doctor {

namespace {

// A node below this fraction of the nodes' median is a straggler; below the next fraction it is broken. Ranks of one
// node share memory and power, and vary more.
constexpr double straggler = 0.9;
constexpr double straggler_in_node = 0.8;
constexpr double broken = 0.5;

// Oversubscribed ranks wait for their time slice in every round trip. Then only bandwidths far below the others' count.
constexpr double slow_in_turns = 0.25;

bool any_oversubscribed(const Facts& facts) {
  return std::any_of(facts.ranks.begin(), facts.ranks.end(),
                     [](const RankFacts& rank) { return rank.process.oversubscribed; });
}

std::string rates(double latency, double bandwidth) {
  return fmt::format("{:.2f} us, {:.2f} GB/s", latency * 1e6, bandwidth * 1e-9);
}

std::string kind_text(const char* kind, const LinkMedian& median) {
  if (median.links == 0) return {};
  return fmt::format("; {} {}{}: {}", counted(median.links, "link"), kind, median.links == 1 ? "" : " (medians)",
                     rates(median.latency, median.bandwidth));
}

// The command that measures this pair at all message sizes, and what to check next.
std::string remedy_for(const ProcessFacts& process, const Link& link, bool within_node) {
  std::string start = start_command(process, process.world_size);
  start.resize(start.rfind(" ..."));
  return fmt::format("{} network --ping-pong {}-{}  # then {}", start, link.first, link.second,
                     within_node ? "where the ranks run: hwloc-ps" : "cable, port and `ethtool` of both nodes");
}

void judge_gemm_of_nodes(const Facts& facts, double GemmFacts::*rate, const std::string& name, Judgement& judgement) {
  const std::vector<Node> nodes = nodes_in(facts);
  std::vector<double> means;
  for (const Node& node : nodes) {
    double sum = 0;
    for (const RankFacts* rank : node.ranks) sum += rank->gemm.*rate;
    means.push_back(sum / static_cast<double>(node.ranks.size()));
  }
  const double median = median_of(means);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (means[n] >= straggler * median) continue;
    const std::string evidence = fmt::format("{}: {} of {:.1f} GFLOPS a rank, {:.2f} of the nodes' median {:.1f}",
                                             nodes[n].host, name, means[n] * 1e-9, means[n] / median, median * 1e-9);
    const std::string remedy = "ps aux --sort=-pcpu | head  # on " + nodes[n].host + "; clocks, heat, memory modules";
    means[n] < broken* median ? judgement.fail(evidence, remedy) : judgement.warn(evidence, remedy);
  }
}

void judge_gemm_in_node(const Node& node, double GemmFacts::*rate, const std::string& name, Judgement& judgement) {
  std::vector<double> values;
  for (const RankFacts* rank : node.ranks) values.push_back(rank->gemm.*rate);
  const double median = median_of(values);
  for (const RankFacts* rank : node.ranks) {
    if (rank->gemm.*rate >= straggler_in_node * median) continue;
    judgement.warn(fmt::format("{}, rank {}: {} of {:.1f} GFLOPS, {:.2f} of its node's median", node.host,
                               rank->process.rank, name, rank->gemm.*rate * 1e-9, rank->gemm.*rate / median),
                   "ps aux --sort=-pcpu | head  # on " + node.host);
  }
}

// Returns the rates as text; empty unless all ranks measured them.
std::string judge_gemm(const Facts& facts, double GemmFacts::*rate, const std::string& name, bool judged,
                       Judgement& judgement) {
  std::vector<double> values;
  for (const RankFacts& rank : facts.ranks) values.push_back(rank.gemm.*rate);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least <= 0) return {};
  if (judged) {
    judge_gemm_of_nodes(facts, rate, name, judgement);
    for (const Node& node : nodes_in(facts)) judge_gemm_in_node(node, rate, name, judgement);
  }
  if (values.size() == 1) return fmt::format("{} {:.1f} GFLOPS", name, values.front() * 1e-9);
  return fmt::format("{} {:.1f} GFLOPS a rank (median), {:.1f} to {:.1f}", name, median_of(values) * 1e-9,
                     *least * 1e-9, *most * 1e-9);
}

}  // namespace

Finding check_network(const Facts& facts) {
  Judgement judgement("network");
  judgement.unknown(facts.ranks.size() < 2 ? "one rank has no links" : "not measured: --quick");
  if (!facts.screening) return judgement.finding();
  const Screening& screening = *facts.screening;
  const bool turns = any_oversubscribed(facts);
  for (const Link& link : screening.slow) {
    const std::string& a = facts.ranks[static_cast<std::size_t>(link.first)].host.name;
    const std::string& b = facts.ranks[static_cast<std::size_t>(link.second)].host.name;
    const LinkMedian& usual = a == b ? screening.within_hosts : screening.between_hosts;
    if (turns && link.bandwidth >= slow_in_turns * usual.bandwidth) continue;
    judgement.warn(fmt::format("rank {} ({}) and rank {} ({}): {}, usual are {}", link.first, a, link.second, b,
                               rates(link.latency, link.bandwidth), rates(usual.latency, usual.bandwidth)),
                   remedy_for(facts.ranks.front().process, link, a == b));
  }
  judgement.ok(fmt::format("{} of {} pairs measured{}{}{}", screening.links.size(), screening.pairs,
                           kind_text("within nodes", screening.within_hosts),
                           kind_text("between nodes", screening.between_hosts),
                           turns ? "; times of ranks that take turns on cores" : ""));
  return judgement.finding();
}

Finding check_gemm(const Facts& facts) {
  Judgement judgement("gemm");
  const bool turns = any_oversubscribed(facts);
  for (const RankFacts& rank : facts.ranks) {
    if (rank.gemm.error.empty()) continue;
    judgement.fail(fmt::format("{}, rank {}: {}", rank.host.name, rank.process.rank, rank.gemm.error),
                   "glinpack ceilings --backend gl-compute");
  }
  const std::string host = judge_gemm(facts, &GemmFacts::host, "OpenBLAS's dgemm", !turns, judgement);
  const std::string device =
      judge_gemm(facts, &GemmFacts::device, "the devices' double-precision reduce", true, judgement);
  if (host.empty()) {
    judgement.unknown("not measured: --quick");
    return judgement.finding();
  }
  const std::string all = host + (device.empty() ? "" : "; " + device);
  judgement.ok(turns ? all + "; not compared, since ranks take turns on cores" : all);
  return judgement.finding();
}

}  // namespace glinpack::app::doctor
