#include "app/doctor/facts.hpp"

#include <nlohmann/json.hpp>

// nlohmann-json 3.11 does not support std::optional
namespace nlohmann {
template <class Value>
struct adl_serializer<std::optional<Value>> {
  static void to_json(json& to, const std::optional<Value>& from) { to = from ? json(*from) : json(); }
  static void from_json(const json& from, std::optional<Value>& to) {
    to = from.is_null() ? std::nullopt : std::optional<Value>(from.get<Value>());
  }
};
}  // namespace nlohmann

namespace glinpack::app::doctor {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProcessFacts, rank, world_size, local_rank, node, program, mpi_library, mpi_headers,
                                   launcher, launched, allocated_tasks, oversubscribed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostFacts, name, kernel, addresses, resolve_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProcessorFacts, name, cores, processors, node_cores, numa_nodes, core_limit, threads,
                                   threads_asked, kernels, kernels_before, core_type, avx2_fma, avx512)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryFacts, total, available, left_by_groups, address_space, locked, rdma_devices)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FolderFacts, path, writable, total, free)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceFile, path, usable, group)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PciDevice, address, vendor, numa_node, local_processors, width, largest_width, speed,
                                   bridges)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceFacts, index, usable, software, why_unusable, renderer, version, uuid,
                                   total_memory, free_memory, nvlinks, pci)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GraphicsFacts, looked, backend, devices, chosen, files, gpus, nvidia_kernel_driver,
                                   egl_vendors)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ContainerFacts, kind, driver_capabilities, visible_devices)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Temperature, name, celsius, critical)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClockFacts, driver, governor, slowest_mhz, fastest_mhz, highest_mhz, throttled,
                                   hottest, device_source, device_mhz, device_highest_mhz, device_celsius,
                                   device_throttle)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GemmFacts, host, device, error)

nlohmann::json to_json(const RankFacts& facts) {
  return {{"process", facts.process},   {"host", facts.host},           {"processor", facts.processor},
          {"memory", facts.memory},     {"temporary", facts.temporary}, {"shared_memory", facts.shared_memory},
          {"graphics", facts.graphics}, {"container", facts.container}, {"clocks", facts.clocks},
          {"gemm", facts.gemm}};
}

RankFacts facts_from_json(const nlohmann::json& json) {
  return {.process = json.at("process"),
          .host = json.at("host"),
          .processor = json.at("processor"),
          .memory = json.at("memory"),
          .shared_memory = json.at("shared_memory"),
          .temporary = json.at("temporary"),
          .graphics = json.at("graphics"),
          .container = json.at("container"),
          .clocks = json.at("clocks"),
          .gemm = json.at("gemm")};
}

}  // namespace glinpack::app::doctor
