#include "app/program/pci.hpp"

#include <hwloc.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <regex>

#include "sensors/kernel_sensors.hpp"

namespace glinpack::app {

namespace {

using nlohmann::json;
using PciAttributes = hwloc_obj_attr_u::hwloc_pcidev_attr_s;
using BridgeAttributes = hwloc_obj_attr_u::hwloc_bridge_attr_s;

std::string address_of(const PciAttributes& device) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", device.domain, device.bus, device.dev, device.func);
}

std::string name_of_bridge(const BridgeAttributes& bridge) {
  if (bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI) return address_of(bridge.upstream.pci);
  return fmt::format("pci{:04x}:{:02x}", bridge.downstream.pci.domain, bridge.downstream.pci.secondary_bus);
}

// From the root complex down to the device.
std::vector<std::string> bridges_above(hwloc_obj_t device) {
  std::vector<std::string> bridges;
  for (hwloc_obj_t above = device->parent; above != nullptr; above = above->parent) {
    if (above->type == HWLOC_OBJ_BRIDGE) bridges.insert(bridges.begin(), name_of_bridge(above->attr->bridge));
  }
  return bridges;
}

std::vector<int> indices_in(hwloc_const_bitmap_t set) {
  std::vector<int> indices;
  for (int index = -1; (index = hwloc_bitmap_next(set, index)) >= 0;) indices.push_back(index);
  return indices;
}

json json_of(hwloc_topology_t topology, hwloc_obj_t device, const std::string& root) {
  const PciAttributes& pci = device->attr->pcidev;
  const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, device);
  const bool has_node =
      hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) > 1 && hwloc_bitmap_weight(near->nodeset) == 1;
  // hwloc knows a link's present throughput, but neither its largest width nor its speed
  const std::string folder = root + "/sys/bus/pci/devices/" + address_of(pci) + "/";
  return {{"address", address_of(pci)},
          {"vendor", pci.vendor_id},
          {"numa_node", has_node ? hwloc_bitmap_first(near->nodeset) : -1},
          {"local_processors", indices_in(near->cpuset)},
          {"width", sensors::number_of(folder + "current_link_width").value_or(0)},
          {"largest_width", sensors::number_of(folder + "max_link_width").value_or(0)},
          {"speed", sensors::line_of(folder + "current_link_speed").value_or("")},
          {"bridges", bridges_above(device)}};
}

std::string hexadecimal_digits(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isxdigit(byte) != 0) digits += static_cast<char>(std::tolower(byte));
  }
  return digits;
}

// NVIDIA's module has a folder for each GPU, named by its address, with a line "GPU UUID: GPU-..." in `information`.
std::string nvidia_address(const std::string& root, const std::string& uuid) {
  const std::string folder = root + "/proc/driver/nvidia/gpus/";
  for (const std::string& address : sensors::names_in(folder)) {
    std::ifstream file(folder + address + "/information");
    for (std::string line; std::getline(file, line);) {
      const std::size_t at = line.find("GPU-");
      if (!line.starts_with("GPU UUID") || at == std::string::npos) continue;
      if (hexadecimal_digits(line.substr(at + 4)) == hexadecimal_digits(uuid)) return address;
    }
  }
  return {};
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
  const bool known = topology_ != nullptr && sensors::is_pci_address(address);
  const hwloc_obj_t found = known ? hwloc_get_pcidev_by_busidstring(topology_.get(), address.c_str()) : nullptr;
  return found == nullptr ? no_pci_device() : json_of(topology_.get(), found, root_);
}

json PciBus::gpus() const {
  constexpr std::array<int, 4> vendors{0x10de, 0x1002, 0x8086, 0x1ed5};
  constexpr int display_controller = 0x03;
  json gpus = json::array();
  if (topology_ == nullptr) return gpus;
  for (hwloc_obj_t device = nullptr; (device = hwloc_get_next_pcidev(topology_.get(), device)) != nullptr;) {
    const PciAttributes& pci = device->attr->pcidev;
    const bool for_computing = std::find(vendors.begin(), vendors.end(), pci.vendor_id) != vendors.end();
    if (pci.class_id >> 8 == display_controller && for_computing) {
      gpus.push_back(json_of(topology_.get(), device, root_));
    }
  }
  return gpus;
}

json no_pci_device() {
  return {{"address", ""}, {"vendor", 0},        {"numa_node", -1}, {"local_processors", json::array()},
          {"width", 0},    {"largest_width", 0}, {"speed", ""},     {"bridges", json::array()}};
}

std::string pci_address_of(const std::string& root, const std::string& drm_file, const std::string& uuid) {
  const auto address = sensors::pci_address_of(root, drm_file);
  if (address && sensors::is_pci_address(*address)) return *address;
  return uuid.empty() ? std::string() : nvidia_address(root, uuid);
}

std::string pci_distance(const json& a, const json& b) {
  const json &of_a = a.at("bridges"), &of_b = b.at("bridges");
  if (of_a.empty() || of_b.empty()) return {};
  const auto [end_a, end_b] = std::mismatch(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
  const auto common = end_a - of_a.begin();
  if (common == 0) return a.at("numa_node") == b.at("numa_node") ? "NODE" : "SYS";
  if (common == 1) return "PHB";
  return end_a == of_a.end() && end_b == of_b.end() ? "PIX" : "PXB";
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
