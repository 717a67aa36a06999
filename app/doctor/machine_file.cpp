#include "app/doctor/machine_file.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

#include "app/doctor/subjects.hpp"
#include "base/measuring.hpp"

namespace glinpack::app::doctor {

namespace {

using nlohmann::json;

// Bytes that are free for a rank: of its device, or its share of the host; 0 if unknown.
std::int64_t free_memory(const json& rank, std::size_t ranks_of_node) {
  const auto bytes = [](const json& fact, std::int64_t if_unknown) {
    return fact.is_null() ? if_unknown : fact.get<std::int64_t>();
  };
  if (const json* device = hardware_of(rank); device != nullptr && !device->at("free_memory").is_null()) {
    return device->at("free_memory");
  }
  const std::int64_t available = bytes(rank.at("memory").at("available"), 0);
  return std::min(available, bytes(rank.at("memory").at("left_by_groups"), available)) /
         static_cast<std::int64_t>(ranks_of_node);
}

// FLOPS of a double-precision product.
double rate_of(const json& rank) {
  const json& gemm = rank.at("gemm");
  double best = 0;
  for (const char* place : {"host", "device"}) {
    if (!gemm.is_null() && !gemm.at(place).is_null()) best = std::max(best, gemm.at(place).get<double>());
  }
  return best;
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
  const auto nodes = ranks_of_nodes(facts.ranks);
  std::vector<std::size_t> sizes;
  std::vector<std::int64_t> memory;
  std::vector<double> rates;
  bool on_devices = true;
  for (const auto& ranks : nodes) {
    sizes.push_back(ranks.size());
    for (const std::size_t rank : ranks) {
      memory.push_back(free_memory(facts.ranks[rank], ranks.size()));
      rates.push_back(rate_of(facts.ranks[rank]));
      on_devices = on_devices && hardware_of(facts.ranks[rank]) != nullptr;
    }
  }
  std::string text = fmt::format(
      "# Measured by `glinpack doctor` on {}. For `glinpack plan{} --machine FILE`.\n"
      "# Products in double precision: {:.1f} GFLOPS a rank (median). Rates of runs: from = [\"results.json\"].\n",
      facts.ranks.front().at("host").get<std::string>() + (nodes.size() > 1 ? " and others" : ""),
      on_devices ? "" : " --backend openblas", spread_of(rates).median * 1e-9);
  text += fmt::format("nodes = {}\ngpus-per-node = {}{}\n", nodes.size(), *std::ranges::min_element(sizes),
                      on_devices ? "" : "  # processes");
  const std::int64_t min = *std::ranges::min_element(memory) / mebi;
  text += min > 0 ? fmt::format("memory = \"{}MiB\"  # free, the minimum of all ranks\n", min)
                  : "# Free memory is unknown: add memory = \"80G\".\n";
  return text + between_nodes_text(facts);
}

}  // namespace glinpack::app::doctor
