// Facts of ranks without problems, for tests to modify, and the expected findings.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/doctor/checks.hpp"

namespace glinpack::app::doctor {

inline constexpr std::int64_t gib = std::int64_t{1} << 30;

inline DeviceFacts gpu(int index, int numa_node) {
  DeviceFacts device;
  device.index = index;
  device.usable = true;
  device.renderer = "NVIDIA H200/PCIe/SSE2";
  device.version = "4.6.0 NVIDIA 580.159";
  device.uuid = "uuid" + std::to_string(index);
  device.total_memory = 140 * gib;
  device.free_memory = 139 * gib;
  device.pci.address = "0000:" + std::to_string(18 + index) + ":00.0";
  device.pci.vendor = 0x10de;
  device.pci.numa_node = numa_node;
  for (int processor = 0; processor < 8; ++processor) device.pci.local_processors.push_back(numa_node * 8 + processor);
  device.pci.width = device.pci.largest_width = 16;
  device.pci.speed = "32.0 GT/s PCIe";
  device.pci.bridges = {"pci0000:" + std::to_string(index), "0000:" + std::to_string(index) + "0:01.0"};
  return device;
}

inline RankFacts healthy_rank(int rank, int ranks, int per_node) {
  RankFacts facts;
  const int node = rank / per_node, local = rank % per_node, cores = 16 / per_node;
  facts.process = {.rank = rank,
                   .world_size = ranks,
                   .local_rank = local,
                   .node = node * per_node,
                   .program = "0.1.0 (abc)",
                   .mpi_library = "MPICH Version:  4.0.2",
                   .mpi_headers = "MPICH 4.0.2",
                   .launcher = ranks == 1 ? "" : "Hydra",
                   .launched = ranks == 1 ? 0 : ranks};
  facts.host = {.name = "node" + std::to_string(node),
                .kernel = "Linux 6.1.0",
                .addresses = {"10.0.0." + std::to_string(node + 1)},
                .resolve_seconds = 0.001};
  facts.processor.name = "Some processor";
  for (int core = local * cores; core < (local + 1) * cores; ++core) facts.processor.cores.push_back(core);
  facts.processor.processors = facts.processor.cores;
  facts.processor.node_cores = 16;
  facts.processor.numa_nodes = 2;
  facts.processor.threads = cores;
  facts.processor.kernels = "SkylakeX";
  facts.processor.avx2_fma = facts.processor.avx512 = true;
  facts.memory = {.total = 256 * gib, .available = 250 * gib};
  facts.shared_memory = {.path = "/dev/shm", .writable = true, .total = 128 * gib, .free = 128 * gib};
  facts.temporary = {.path = "/tmp", .writable = true, .total = 100 * gib, .free = 50 * gib};
  facts.graphics.looked = true;
  facts.graphics.backend = "auto";
  for (int device = 0; device < per_node; ++device) {
    facts.graphics.devices.push_back(gpu(device, device * 2 / std::max(2, per_node)));
    facts.graphics.gpus.push_back(facts.graphics.devices.back().pci);
  }
  facts.graphics.chosen = local;
  facts.graphics.files = {{"/dev/dri/renderD128", true, ""}, {"/dev/nvidiactl", true, ""}};
  facts.graphics.nvidia_kernel_driver = "580.159";
  facts.graphics.egl_vendors = {"/usr/share/glvnd/egl_vendor.d/10_nvidia.json"};
  facts.clocks.driver = "intel_pstate";
  facts.clocks.governor = "powersave";
  facts.clocks.slowest_mhz = 2000;
  facts.clocks.fastest_mhz = 3500;
  facts.clocks.highest_mhz = 3800;
  facts.clocks.throttled = 0;
  facts.clocks.hottest = {{"coretemp Package id 0", 60, 100}};
  facts.gemm = {.host = 500e9, .device = 20e12};
  return facts;
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
