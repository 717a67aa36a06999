#include "app/program/topology.hpp"

#include <hwloc.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>
#include <string_view>
#include <utility>

#include "host/host_memory.hpp"
#include "mpi/session.hpp"
#include "sensors/kernel_sensors.hpp"

namespace glinpack::app {

using nlohmann::json;

namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using ProcessorSet = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

// Null if hwloc fails. It reads hundreds of files; what they say does not change.
const Topology& topology_of_node() {
  static const Topology topology = []() -> Topology {
    hwloc_topology_t made = nullptr;
    if (hwloc_topology_init(&made) != 0) return nullptr;
    Topology loaded(made);
    return hwloc_topology_load(made) == 0 ? std::move(loaded) : nullptr;
  }();
  return topology;
}

// What this process may use.
ProcessorSet bound_processors(const Topology& topology) {
  ProcessorSet bound(hwloc_bitmap_alloc());
  // queries this thread: the process has no binding if its threads differ, as OpenGL drivers unbind theirs
  if (hwloc_get_cpubind(topology.get(), bound.get(), HWLOC_CPUBIND_THREAD) != 0) {
    hwloc_bitmap_copy(bound.get(), hwloc_topology_get_allowed_cpuset(topology.get()));
  }
  return bound;
}

// The speed of a kind of core: the kernel's measure, or else its highest clock; 0 if unknown.
double speed_of(const hwloc_info_s* begin, unsigned count) {
  double speed = 0;
  for (const hwloc_info_s* info = begin; info != begin + count; ++info) {
    const std::string_view name = info->name;
    if (name == "LinuxCapacity" || (name == "FrequencyMaxMHz" && speed == 0)) speed = std::atof(info->value);
  }
  return speed;
}

// The fast processors among `bound`. Empty if all are alike, or a speed is not known.
ProcessorSet fast_processors(const Topology& topology, const ProcessorSet& bound) {
  // one design's better specimens are up to 1.1 times faster than others; cores of two designs differ more
  constexpr double fast = 0.8;
  ProcessorSet result(hwloc_bitmap_alloc());
  std::vector<std::pair<double, ProcessorSet>> kinds;
  for (int kind = 0; kind < hwloc_cpukinds_get_nr(topology.get(), 0); ++kind) {
    ProcessorSet set(hwloc_bitmap_alloc());
    hwloc_info_s* infos = nullptr;
    unsigned count = 0;
    int efficiency = 0;
    hwloc_cpukinds_get_info(topology.get(), static_cast<unsigned>(kind), set.get(), &efficiency, &count, &infos, 0);
    hwloc_bitmap_and(set.get(), set.get(), bound.get());
    if (hwloc_bitmap_iszero(set.get()) == 0) kinds.emplace_back(speed_of(infos, count), std::move(set));
  }
  if (kinds.empty()) return result;
  std::ranges::sort(kinds, {}, [](const auto& kind) { return kind.first; });
  const double slowest = kinds.front().first, fastest = kinds.back().first;
  if (slowest <= 0 || slowest >= fast * fastest) return result;
  for (const auto& [speed, set] : kinds) {
    if (speed >= fast * fastest) hwloc_bitmap_or(result.get(), result.get(), set.get());
  }
  return result;
}

std::vector<int> indices_in(hwloc_const_bitmap_t set) {
  std::vector<int> indices;
  for (int index = -1; (index = hwloc_bitmap_next(set, index)) >= 0;) indices.push_back(index);
  return indices;
}

// Fills in the cores from hwloc.
void read_cores(NodeView& view) {
  const Topology& topology = topology_of_node();
  if (topology == nullptr) return;
  const ProcessorSet bound = bound_processors(topology), fast = fast_processors(topology, bound);
  // containers may hide cores but show processing units: then count those
  const bool has_cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology.get(), type, core)) != nullptr;) {
    if (hwloc_bitmap_intersects(core->cpuset, bound.get()) != 0) {
      view.cores.push_back(static_cast<int>(core->logical_index));
    }
    if (hwloc_bitmap_intersects(core->cpuset, fast.get()) != 0) {
      view.fast_cores.push_back(static_cast<int>(core->logical_index));
    }
  }
  view.processors = indices_in(bound.get());
  view.node_cores = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), type));
  view.node_processors = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU));
  view.sockets = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PACKAGE));
  view.numa_nodes = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE));
}

int ranks_sharing_cores(std::span<const NodeView> views, std::size_t rank) {
  const NodeView& mine = views[rank];
  return static_cast<int>(std::ranges::count_if(
      views, [&mine](const NodeView& other) { return other.host == mine.host && other.cores == mine.cores; }));
}

}  // namespace

NodeView view_node() {
  NodeView view{.host = host_name(),
                .cores = {},
                .core_limit = processor_limit_of_control_groups(),
                .available_memory = available_memory()};
  read_cores(view);
  if (const auto limit = thread_limit_of_environment()) view.asked_threads = limit->threads;
  return view;
}

int threads_for(std::span<const NodeView> views, std::size_t rank) {
  const NodeView& mine = views[rank];
  if (mine.asked_threads > 0) return mine.asked_threads;
  const bool uses_fast_cores = fast_cores_suffice(views, rank, 1);
  const auto cores = static_cast<int>(uses_fast_cores ? mine.fast_cores.size() : mine.cores.size());
  int threads = cores / ranks_sharing_cores(views, rank);
  if (mine.core_limit > 0) {
    const auto ranks_on_node = static_cast<int>(std::ranges::count(views, mine.host, &NodeView::host));
    threads = std::min(threads, mine.core_limit / ranks_on_node);
  }
  return std::max(1, threads);
}

bool fast_cores_suffice(std::span<const NodeView> views, std::size_t rank, int threads) {
  const auto fast = static_cast<int>(views[rank].fast_cores.size());
  return fast > 0 && threads <= fast / ranks_sharing_cores(views, rank);
}

void bind_to_fast_cores() {
  const Topology& topology = topology_of_node();
  if (topology == nullptr) return;
  const ProcessorSet fast = fast_processors(topology, bound_processors(topology));
  if (hwloc_bitmap_iszero(fast.get()) == 0 &&
      hwloc_set_cpubind(topology.get(), fast.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    spdlog::debug("this process cannot be bound to its fast cores");
  }
}

void DestroyTopology::operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }

PciBus::PciBus(const std::string& xml, std::string root) : root_(std::move(root)) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return;
  topology_.reset(topology);
  // a rank's GPU may be near processors that its control group excludes
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  // no OS devices: for them, hwloc's plugins would start CUDA, OpenCL and NVML
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_BRIDGE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  const auto size = static_cast<int>(xml.size()) + 1;
  const bool found = xml.empty() || hwloc_topology_set_xmlbuffer(topology, xml.c_str(), size) == 0;
  if (!found || hwloc_topology_load(topology) != 0) topology_.reset();
}

json PciBus::device(const std::string& address) const {
  const bool is_address = topology_ != nullptr && sensors::is_pci_address(address);
  const hwloc_obj_t found = is_address ? hwloc_get_pcidev_by_busidstring(topology_.get(), address.c_str()) : nullptr;
  if (found == nullptr) return {};
  const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology_.get(), found);
  const bool has_node =
      hwloc_get_nbobjs_by_type(topology_.get(), HWLOC_OBJ_NUMANODE) > 1 && hwloc_bitmap_weight(near->nodeset) == 1;
  // hwloc knows a link's throughput, but not its largest width
  const auto width = [&](const char* file) {
    const auto lanes = sensors::number_of(root_ + "/sys/bus/pci/devices/" + address + "/" + file);
    return lanes.value_or(0) > 0 ? json(*lanes) : json();
  };
  return {{"address", address},
          {"numa_node", has_node ? json(hwloc_bitmap_first(near->nodeset)) : json()},
          {"local_processors", indices_in(near->cpuset)},
          {"width", width("current_link_width")},
          {"max_width", width("max_link_width")}};
}

std::vector<std::string> PciBus::gpus() const {
  constexpr std::array<int, 4> vendors{0x10de, 0x1002, 0x8086, 0x1ed5};
  constexpr int display_controller = 0x03;
  std::vector<std::string> addresses;
  if (topology_ == nullptr) return addresses;
  for (hwloc_obj_t device = nullptr; (device = hwloc_get_next_pcidev(topology_.get(), device)) != nullptr;) {
    const auto& pci = device->attr->pcidev;
    if (pci.class_id >> 8 != display_controller || std::ranges::find(vendors, pci.vendor_id) == vendors.end()) continue;
    addresses.push_back(fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func));
  }
  return addresses;
}

std::string list_of_processors(const std::vector<int>& processors) {
  const ProcessorSet set(hwloc_bitmap_alloc());
  for (const int processor : processors) hwloc_bitmap_set(set.get(), static_cast<unsigned>(processor));
  std::string text(static_cast<std::size_t>(hwloc_bitmap_list_snprintf(nullptr, 0, set.get())), '\0');
  hwloc_bitmap_list_snprintf(text.data(), text.size() + 1, set.get());
  return text;
}

std::string nvidia_kernel_driver() {
  const std::string line = sensors::line_of("/proc/driver/nvidia/version").value_or("");
  std::smatch found;
  return std::regex_search(line, found, std::regex(R"(Kernel Module.*?([0-9]+\.[0-9.]*))")) ? found[1].str() : "";
}

}  // namespace glinpack::app
