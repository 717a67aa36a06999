// Devices on the PCI bus, from sysfs and from the files of NVIDIA's kernel module. `root` is a prefix of /sys and /proc
// for tests, else "". Unreadable values are empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/doctor/facts.hpp"

namespace glinpack::app::doctor {

/// "0-3,8,10-11", as sysfs and taskset write it.
std::vector<int> parse_processor_list(std::string_view text);
std::string processor_list(const std::vector<int>& processors);

/// The first line of a file without trailing blanks; empty if there is no such file.
std::string first_line(const std::string& path);

/// The sorted names in a folder that begin with `prefix`.
std::vector<std::string> names_in(const std::string& folder, std::string_view prefix);

PciDevice read_pci_device(const std::string& root, const std::string& address);

/// Display controllers of the vendors with GPUs for computing (NVIDIA, AMD, Intel, Moore Threads). Excludes the
/// controllers of server management and of virtual machines.
std::vector<PciDevice> list_gpus(const std::string& root);

/// The PCI address of an EGL device, by its DRM file ("/dev/dri/card0") or else by its UUID (hexadecimal) among
/// NVIDIA's devices. Empty if it is unknown.
std::string pci_address_of(const std::string& root, const std::string& drm_file, const std::string& uuid);

/// The link between two devices of a node in the terms of `nvidia-smi topo`: "PIX" one bridge, "PXB" several bridges,
/// "PHB" the host bridge, "NODE" several host bridges of one NUMA node, "SYS" between NUMA nodes. Empty if unknown.
std::string pci_distance(const PciDevice& a, const PciDevice& b);

/// The version of NVIDIA's kernel module, "580.159" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159  Tue
/// ..."; empty: not loaded.
std::string nvidia_kernel_driver();

}  // namespace glinpack::app::doctor
