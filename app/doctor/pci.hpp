// Devices on the PCI bus, by sysfs and by the files of NVIDIA's kernel module. `root` stands before /sys and /proc, so
// that tests can bring files of their own; "" otherwise. What is not readable is empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/doctor/facts.hpp"

namespace glinpack::app::doctor {

/// "0-3,8,10-11" as sysfs and taskset write it, and back.
std::vector<int> parse_processor_list(std::string_view text);
std::string processor_list(const std::vector<int>& processors);

/// The first line of a file, without blanks at its end; empty where there is none.
std::string first_line(const std::string& path);

/// Names in a folder that begin with `prefix`, sorted.
std::vector<std::string> names_in(const std::string& folder, std::string_view prefix);

PciDevice read_pci_device(const std::string& root, const std::string& address);

/// The display controllers of vendors whose GPUs compute (NVIDIA, AMD, Intel, Moore Threads); not the picture makers of
/// servers' management controllers, nor those of virtual machines.
std::vector<PciDevice> list_gpus(const std::string& root);

/// The PCI address of an EGL device by its DRM file ("/dev/dri/card0"), else by its UUID, hexadecimal, among those of
/// NVIDIA's kernel module; empty where neither tells.
std::string pci_address_of(const std::string& root, const std::string& drm_file, const std::string& uuid);

/// How two devices of a node are joined, in the words of `nvidia-smi topo`: "PIX" one bridge, "PXB" several bridges,
/// "PHB" the host bridge, "NODE" several host bridges of one NUMA node, "SYS" between NUMA nodes; empty where unknown.
std::string pci_distance(const PciDevice& a, const PciDevice& b);

}  // namespace glinpack::app::doctor
