#include "app/doctor/machine_file.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

#include "app/doctor/judgement.hpp"
#include "base/measuring.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

// Bytes that are free for a rank: of its device, or its share of the host.
std::int64_t free_memory(const Node& node, const json& rank) {
  const json* device = hardware_of(rank);
  if (device != nullptr && device->at("free_memory") > 0) return device->at("free_memory");
  const std::int64_t available = rank.at("memory").at("available"), group = rank.at("memory").at("left_by_groups");
  return (group > 0 ? std::min(available, group) : available) / node.size();
}

// FLOPS of a double-precision product.
double rate_of(const json& rank) {
  const json& gemm = rank.at("gemm");
  return std::max(gemm.at("host").get<double>(), gemm.at("device").get<double>());
}

std::string between_nodes_text(const Facts& facts) {
  if (!facts.screening || facts.screening->between_hosts.links == 0) {
    return "# No link between nodes was measured: add network = \"100Gb/s\" and latency = \"2us\".\n";
  }
  const LinkMedian& link = facts.screening->between_hosts;
  return fmt::format("network = \"{:.1f}MB/s\"  # one message at a time, median of {}\nlatency = \"{:.2f}us\"\n",
                     link.bandwidth * 1e-6, counted(link.links, "link"), link.latency * 1e6);
}

}  // namespace

std::string machine_file_text(const Facts& facts) {
  constexpr std::int64_t mebi = std::int64_t{1} << 20;
  const Job job(facts);
  std::vector<int> sizes;
  std::vector<std::int64_t> memory;
  std::vector<double> rates;
  bool on_devices = true;
  for (const Node& node : job.nodes) {
    sizes.push_back(node.size());
    for (const json* rank : node.ranks) {
      memory.push_back(free_memory(node, *rank));
      rates.push_back(rate_of(*rank));
      on_devices = on_devices && hardware_of(*rank) != nullptr;
    }
  }
  std::string text = fmt::format(
      "# Measured by `glinpack doctor` on {}. For `glinpack plan{} --machine FILE`.\n"
      "# Products in double precision: {:.1f} GFLOPS a rank (median). Rates of runs: from = [\"results.json\"].\n",
      job.nodes.front().host + (job.nodes.size() > 1 ? " and others" : ""), on_devices ? "" : " --backend openblas",
      spread_of(rates).median * 1e-9);
  text += fmt::format("nodes = {}\ngpus-per-node = {}{}\n", job.nodes.size(), *std::ranges::min_element(sizes),
                      on_devices ? "" : "  # processes");
  const std::int64_t least = *std::ranges::min_element(memory) / mebi;
  text += least > 0 ? fmt::format("memory = \"{}MiB\"  # free, the least of all ranks\n", least)
                    : "# Free memory is unknown: add memory = \"80G\".\n";
  return text + between_nodes_text(facts);
}

}  // namespace glinpack::app::doctor
