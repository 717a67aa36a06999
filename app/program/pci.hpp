// Devices on the PCI bus, as hwloc describes them.
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
  /// `xml`: a machine in hwloc's XML instead of this one. `root`: prefix of /sys, for the widths of links.
  explicit PciBus(const std::string& xml = "", std::string root = "");

  /// "pci" of docs/doctor.schema.json for an address such as "0000:18:00.0"; null if there is no such device.
  nlohmann::json device(const std::string& address) const;
  /// The addresses of display controllers of the vendors with GPUs for computing (NVIDIA, AMD, Intel, Moore Threads).
  /// Excludes the controllers of server management and of virtual machines.
  std::vector<std::string> gpus() const;

 private:
  struct Destroy {
    void operator()(hwloc_topology* topology) const;
  };
  std::unique_ptr<hwloc_topology, Destroy> topology_;  // null if hwloc fails
  std::string root_;
};

/// "0-3,8,10-11", as hwloc and taskset write it.
std::string list_of_processors(const std::vector<int>& processors);

/// The version of NVIDIA's kernel module, "580.159" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159  Tue
/// ..."; empty: not loaded.
std::string nvidia_kernel_driver();

}  // namespace glinpack::app
