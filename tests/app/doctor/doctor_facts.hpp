// Facts of ranks without problems, for tests to modify, and the expected findings.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/doctor/checks.hpp"

namespace glinpack::app::doctor {

inline constexpr std::int64_t gib = std::int64_t{1} << 30;

inline std::vector<int> range(int first, int end) {
  std::vector<int> numbers;
  for (int number = first; number < end; ++number) numbers.push_back(number);
  return numbers;
}

inline nlohmann::json gpu(int index, int numa_node) {
  return {{"index", index},
          {"software", false},
          {"renderer", "NVIDIA H200/PCIe/SSE2"},
          {"version", "4.6.0 NVIDIA 580.159"},
          {"uuid", "uuid" + std::to_string(index)},
          {"total_memory", 140 * gib},
          {"free_memory", 139 * gib},
          {"pci",
           {{"address", "0000:" + std::to_string(18 + index) + ":00.0"},
            {"numa_node", numa_node},
            {"local_processors", range(numa_node * 8, numa_node * 8 + 8)},
            {"width", 16},
            {"max_width", 16}}},
          {"mhz", nullptr},
          {"celsius", nullptr},
          {"throttle", nlohmann::json::array()}};
}

inline nlohmann::json healthy_rank(int rank, int ranks, int per_node) {
  using nlohmann::json;
  const int node = rank / per_node, local = rank % per_node, cores = 16 / per_node;
  const std::vector<int> own_cores = range(local * cores, (local + 1) * cores);
  json gpus = json::array();
  for (int device = 0; device < per_node; ++device) gpus.push_back(gpu(device, 0)["pci"]["address"]);
  return {{"process",
           {{"rank", rank},
            {"world_size", ranks},
            {"local_rank", local},
            {"node", node * per_node},
            {"program", "0.1.0 (abc)"},
            {"mpi_library", "MPICH Version: 4.0.2"},
            {"mpi_headers", "MPICH 4.0.2"},
            {"launcher", ranks == 1 ? "" : "Hydra"},
            {"launched", ranks == 1 ? 0 : ranks},
            {"allocated_tasks", 0},
            {"oversubscribed", false}}},
          {"host", "node" + std::to_string(node)},
          {"processor",
           {{"name", "Some processor"},
            {"cores", own_cores},
            {"processors", own_cores},
            {"node_cores", 16},
            {"numa_nodes", 2},
            {"core_limit", nullptr},
            {"node_processors", 32},
            {"other_load", 0.5},
            {"threads", cores},
            {"kernels", "SkylakeX"},
            {"kernels_before", ""},
            {"better_kernels", ""},
            {"core_type", ""},
            {"governor", "performance"},
            {"throttled", 0}}},
          {"memory",
           {{"total", 256 * gib},
            {"available", 250 * gib},
            {"left_by_groups", nullptr},
            {"shared", 128 * gib},
            {"locked", nullptr},
            {"rdma_devices", 0}}},
          {"graphics",
           {{"backend", "auto"},
            {"devices", per_node},
            {"hardware", per_node},
            {"unusable", json::array()},
            {"nvidia_files", true},
            {"denied", json::array()},
            {"gpus", gpus},
            {"nvidia_kernel_driver", "580.159"},
            {"egl_vendors", json::array({"/usr/share/glvnd/egl_vendor.d/10_nvidia.json"})},
            {"variables", json::array()},
            {"container", ""},
            {"driver_capabilities", ""}}},
          {"device", gpu(local, local * 2 / std::max(2, per_node))},
          {"gemm", {{"host", 500e9}, {"device", 20e12}, {"error", ""}}},
          {"burn_in", nullptr}};
}

inline Facts healthy(int ranks, int per_node) {
  Facts facts;
  for (int rank = 0; rank < ranks; ++rank) facts.ranks.push_back(healthy_rank(rank, ranks, per_node));
  if (ranks > 1) {
    Screening screening;
    for (int a = 0; a < ranks; ++a) {
      for (int b = a + 1; b < ranks; ++b) screening.links.push_back({a, b, 2e-6, 10e9});
    }
    screening.pairs = static_cast<Index>(screening.links.size());
    screening.between_hosts = {screening.pairs, 2e-6, 10e9};
    facts.screening = screening;
  }
  return facts;
}

/// Values of facts by their places: "2/host" of rank 2, "*/host" of all ranks.
using Changes = std::vector<std::pair<std::string, nlohmann::json>>;

inline Facts changed(Facts facts, const Changes& changes) {
  for (const auto& [place, value] : changes) {
    const std::size_t slash = place.find('/');
    const nlohmann::json::json_pointer pointer(place.substr(slash));
    for (std::size_t rank = 0; rank < facts.ranks.size(); ++rank) {
      if (place[0] == '*' || place.substr(0, slash) == std::to_string(rank)) facts.ranks[rank][pointer] = value;
    }
  }
  return facts;
}

inline void expect_finding(const Facts& facts, const std::string& check, Verdict verdict, const std::string& evidence,
                           const std::string& remedy = "") {
  const std::vector<Finding> findings = judge(facts);
  const auto finding = std::ranges::find(findings, check, &Finding::check);
  ASSERT_NE(finding, findings.end()) << check;
  EXPECT_EQ(name_of(finding->verdict), name_of(verdict)) << check << ": " << finding->evidence;
  EXPECT_THAT(finding->evidence, ::testing::HasSubstr(evidence)) << check;
  if (verdict == Verdict::ok || verdict == Verdict::unknown) {
    EXPECT_THAT(finding->remedies, ::testing::IsEmpty()) << check;
  } else {
    ASSERT_FALSE(finding->remedies.empty()) << check << ": " << evidence;
    EXPECT_THAT(finding->remedies.front(), ::testing::HasSubstr(remedy)) << check;
  }
}

}  // namespace glinpack::app::doctor
