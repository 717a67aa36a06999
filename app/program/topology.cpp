#include "app/program/topology.hpp"

#include <hwloc.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <memory>
#include <regex>
#include <utility>

#include "host/host_memory.hpp"
#include "mpi/session.hpp"
#include "sensors/kernel_sensors.hpp"

namespace glinpack::app {

namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};

// Null if hwloc fails.
std::unique_ptr<hwloc_topology, Destroy> load_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  std::unique_ptr<hwloc_topology, Destroy> loaded(topology);
  return hwloc_topology_load(topology) == 0 ? std::move(loaded) : nullptr;
}

// Fills in the cores from hwloc.
void read_cores(NodeView& view) {
  // hwloc reads hundreds of files; what they say does not change
  static const std::unique_ptr<hwloc_topology, Destroy> topology = load_topology();
  if (topology == nullptr) return;
  const std::unique_ptr<hwloc_bitmap_s, Destroy> bound(hwloc_bitmap_alloc());
  // queries this thread: the process has no binding if its threads differ, as OpenGL drivers unbind theirs
  if (hwloc_get_cpubind(topology.get(), bound.get(), HWLOC_CPUBIND_THREAD) != 0) {
    hwloc_bitmap_copy(bound.get(), hwloc_topology_get_allowed_cpuset(topology.get()));
  }
  // containers may hide cores but show processing units: then count those
  const bool has_cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(topology.get(), type, core)) != nullptr;) {
    if (hwloc_bitmap_intersects(core->cpuset, bound.get()) != 0) {
      view.cores.push_back(static_cast<int>(core->logical_index));
    }
  }
  for (int processor = -1; (processor = hwloc_bitmap_next(bound.get(), processor)) >= 0;) {
    view.processors.push_back(processor);
  }
  view.node_cores = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), type));
  view.node_processors = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU));
  view.sockets = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PACKAGE));
  view.numa_nodes = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE));
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
  const auto on_node = [&mine](const NodeView& other) { return other.host == mine.host; };
  const auto sharing = [&](const NodeView& other) { return on_node(other) && other.cores == mine.cores; };
  const auto ranks_sharing = static_cast<int>(std::count_if(views.begin(), views.end(), sharing));
  int threads = static_cast<int>(mine.cores.size()) / ranks_sharing;
  if (mine.core_limit > 0) {
    const auto ranks_on_node = static_cast<int>(std::count_if(views.begin(), views.end(), on_node));
    threads = std::min(threads, mine.core_limit / ranks_on_node);
  }
  return std::max(1, threads);
}

namespace {

using nlohmann::json;

std::vector<int> indices_in(hwloc_const_bitmap_t set) {
  std::vector<int> indices;
  for (int index = -1; (index = hwloc_bitmap_next(set, index)) >= 0;) indices.push_back(index);
  return indices;
}

}  // namespace

void PciBus::Destroy::operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }

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
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> set(hwloc_bitmap_alloc(), hwloc_bitmap_free);
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
