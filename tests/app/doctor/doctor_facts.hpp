// Facts of ranks without problems, for tests to modify, and the expected findings.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/doctor/checks.hpp"
#include "app/doctor/measure.hpp"
#include "app/program/pci.hpp"

namespace glinpack::app::doctor {

inline constexpr std::int64_t gib = std::int64_t{1} << 30;

inline nlohmann::json memory(std::int64_t total, std::int64_t available) {
  return {{"total", total},     {"available", available}, {"left_by_groups", 0},
          {"address_space", 0}, {"locked", -1},           {"rdma_devices", 0}};
}

inline nlohmann::json folder(const std::string& path, std::int64_t total, std::int64_t free) {
  return {{"path", path}, {"writable", true}, {"total", total}, {"free", free}};
}

inline nlohmann::json device_file(const std::string& path, bool usable, const std::string& group) {
  return {{"path", path}, {"usable", usable}, {"group", group}};
}

inline nlohmann::json temperature(double celsius, double critical) {
  return {{"name", "coretemp Package id 0"}, {"celsius", celsius}, {"critical", critical}};
}

inline std::vector<int> range(int first, int end) {
  std::vector<int> numbers;
  for (int number = first; number < end; ++number) numbers.push_back(number);
  return numbers;
}

inline nlohmann::json gpu(int index, int numa_node) {
  const std::string number = std::to_string(index);
  return {{"index", index},
          {"usable", true},
          {"software", false},
          {"why_unusable", ""},
          {"renderer", "NVIDIA H200/PCIe/SSE2"},
          {"version", "4.6.0 NVIDIA 580.159"},
          {"uuid", "uuid" + number},
          {"total_memory", 140 * gib},
          {"free_memory", 139 * gib},
          {"nvlinks", -1},
          {"pci",
           {{"address", "0000:" + std::to_string(18 + index) + ":00.0"},
            {"vendor", 0x10de},
            {"numa_node", numa_node},
            {"local_processors", range(numa_node * 8, numa_node * 8 + 8)},
            {"width", 16},
            {"largest_width", 16},
            {"speed", "32.0 GT/s PCIe"},
            {"bridges", std::vector<std::string>{"pci0000:" + number, "0000:" + number + "0:01.0"}}}}};
}

inline nlohmann::json healthy_rank(int rank, int ranks, int per_node) {
  const int node = rank / per_node, local = rank % per_node, cores = 16 / per_node;
  const std::vector<int> own_cores = range(local * cores, (local + 1) * cores);
  nlohmann::json devices = nlohmann::json::array(), gpus = nlohmann::json::array();
  for (int device = 0; device < per_node; ++device) {
    devices.push_back(gpu(device, device * 2 / std::max(2, per_node)));
    gpus.push_back(devices.back()["pci"]);
  }
  nlohmann::json clocks = unknown_clocks();
  clocks.update({{"driver", "intel_pstate"},
                 {"governor", "powersave"},
                 {"slowest_mhz", 2000},
                 {"fastest_mhz", 3500},
                 {"highest_mhz", 3800},
                 {"throttled", 0},
                 {"hottest", nlohmann::json::array({temperature(60, 100)})}});
  return {{"process",
           {{"rank", rank},
            {"world_size", ranks},
            {"local_rank", local},
            {"node", node * per_node},
            {"program", "0.1.0 (abc)"},
            {"mpi_library", "MPICH Version:  4.0.2"},
            {"mpi_headers", "MPICH 4.0.2"},
            {"launcher", ranks == 1 ? "" : "Hydra"},
            {"launched", ranks == 1 ? 0 : ranks},
            {"allocated_tasks", 0},
            {"oversubscribed", false}}},
          {"host",
           {{"name", "node" + std::to_string(node)},
            {"kernel", "Linux 6.1.0"},
            {"addresses", nlohmann::json::array({"10.0.0." + std::to_string(node + 1)})},
            {"resolve_seconds", 0.001}}},
          {"processor",
           {{"name", "Some processor"},
            {"cores", own_cores},
            {"processors", own_cores},
            {"node_cores", 16},
            {"numa_nodes", 2},
            {"core_limit", 0},
            {"node_processors", 32},
            {"other_load", 0.5},
            {"threads", cores},
            {"kernels", "SkylakeX"},
            {"kernels_before", ""},
            {"core_type", ""},
            {"avx2_fma", true},
            {"avx512", true}}},
          {"memory", memory(256 * gib, 250 * gib)},
          {"shared_memory", folder("/dev/shm", 128 * gib, 128 * gib)},
          {"temporary", folder("/tmp", 100 * gib, 50 * gib)},
          {"graphics",
           {{"looked", true},
            {"backend", "auto"},
            {"devices", devices},
            {"chosen", local},
            {"files", {device_file("/dev/dri/renderD128", true, ""), device_file("/dev/nvidiactl", true, "")}},
            {"gpus", gpus},
            {"nvidia_kernel_driver", "580.159"},
            {"egl_vendors", nlohmann::json::array({"/usr/share/glvnd/egl_vendor.d/10_nvidia.json"})},
            {"variables", nlohmann::json::array()}}},
          {"container", {{"kind", ""}, {"driver_capabilities", nullptr}, {"visible_devices", nullptr}}},
          {"clocks", clocks},
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

inline Finding finding_of(const Facts& facts, const std::string& check) {
  const std::vector<Finding> findings = judge(facts);
  const auto found =
      std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.check == check; });
  EXPECT_NE(found, findings.end()) << check;
  return found == findings.end() ? Finding{} : *found;
}

inline void expect_finding(const Facts& facts, const std::string& check, Verdict verdict, const std::string& evidence,
                           const std::string& remedy = "") {
  const Finding finding = finding_of(facts, check);
  EXPECT_EQ(name_of(finding.verdict), name_of(verdict)) << check << ": " << finding.evidence;
  EXPECT_THAT(finding.evidence, ::testing::HasSubstr(evidence)) << check;
  if (verdict == Verdict::ok || verdict == Verdict::unknown) {
    EXPECT_THAT(finding.remedies, ::testing::IsEmpty()) << check;
  } else {
    ASSERT_FALSE(finding.remedies.empty()) << check;
    EXPECT_THAT(finding.remedies.front(), ::testing::HasSubstr(remedy)) << check;
  }
}

}  // namespace glinpack::app::doctor
