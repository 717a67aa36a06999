// Devices on the PCI bus, as hwloc and sysfs describe them. The JSON is "pci" of docs/doctor.schema.json. Unreadable
// values are empty, 0 or -1.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

struct hwloc_topology;

namespace glinpack::app {

/// The PCI devices of this machine, also those that the control group of this process excludes.
class PciBus {
 public:
  /// `xml`: a machine in hwloc's XML instead of this one. `root`: prefix of /sys, for the links' widths and speeds.
  explicit PciBus(const std::string& xml = "", std::string root = "");

  /// The device at an address such as "0000:18:00.0"; no_pci_device() if there is none.
  nlohmann::json device(const std::string& address) const;
  /// Display controllers of the vendors with GPUs for computing (NVIDIA, AMD, Intel, Moore Threads). Excludes the
  /// controllers of server management and of virtual machines.
  nlohmann::json gpus() const;

 private:
  struct Destroy {
    void operator()(hwloc_topology* topology) const;
  };
  std::unique_ptr<hwloc_topology, Destroy> topology_;  // null if hwloc fails
  std::string root_;
};

nlohmann::json no_pci_device();

/// The PCI address of an EGL device, by its DRM file ("/dev/dri/card0") or else by its UUID (hexadecimal) among
/// NVIDIA's devices. Empty if it is unknown. `root`: prefix of /sys and /proc.
std::string pci_address_of(const std::string& root, const std::string& drm_file, const std::string& uuid);

/// The link between two devices of a node in the terms of `nvidia-smi topo`: "PIX" one bridge, "PXB" several bridges,
/// "PHB" the host bridge, "NODE" several host bridges of one NUMA node, "SYS" between NUMA nodes. Empty if unknown.
std::string pci_distance(const nlohmann::json& a, const nlohmann::json& b);

/// "0-3,8,10-11", as hwloc and taskset write it.
std::string list_of_processors(const std::vector<int>& processors);

/// The version of NVIDIA's kernel module, "580.159" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159  Tue
/// ..."; empty: not loaded.
std::string nvidia_kernel_driver();

}  // namespace glinpack::app
