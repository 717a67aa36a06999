// The node of a rank, as hwloc describes it: usable cores, memory, PCI devices.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/record/json.hpp"

struct hwloc_topology;

namespace glinpack::app {

/// One rank's view of its node. Counts cores, since a second hardware thread of a core does not speed up arithmetic.
struct NodeView {
  std::string host;
  std::vector<int> cores;             // hwloc's logical indices of the cores that this process may use, ascending
  std::vector<int> fast_cores = {};   // of these, the fast ones; empty: all are alike, or hwloc does not know
  int core_limit = 0;                 // a cgroup's quota, rounded up; 0: no limit
  std::int64_t available_memory = 0;  // bytes on the node, shared by its ranks; 0 unknown
  std::vector<int> processors = {};   // OS indices of the cores' processing units, ascending
  int node_cores = 0;                 // of the node or container, regardless of this process's binding
  int node_processors = 0;            // hardware threads, likewise
  int sockets = 0;
  int numa_nodes = 0;
  int asked_threads = 0;  // by OPENBLAS_NUM_THREADS or OMP_NUM_THREADS; 0: by neither
};

// what threads_for() needs
GLINPACK_DESCRIBE(NodeView, host, cores, fast_cores, core_limit, asked_threads)

/// Uses hwloc and respects the process's binding. Memory is MemAvailable of /proc/meminfo, or the cgroups' limit if
/// that is less.
NodeView view_node();

/// Threads for arithmetic on `rank` of the world: those that its environment asks for; else its cores, divided by the
/// number of ranks of its node that may use the same ones; at least 1. Only fast cores count if there is one for each
/// of these ranks: slow ones would delay every pass. `views`: one per rank.
int threads_for(std::span<const NodeView> views, std::size_t rank);

/// Whether the fast cores suffice for `threads` of each rank that may use the same cores as `rank`.
bool fast_cores_suffice(std::span<const NodeView> views, std::size_t rank, int threads);

/// Binds the threads of this process to those of its cores.
void bind_to_fast_cores();

// Devices on the PCI bus, as hwloc describes them.

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const;
};
using Topology = std::unique_ptr<hwloc_topology, DestroyTopology>;

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
  Topology topology_;  // null if hwloc fails
  std::string root_;
};

/// "0-3,8,10-11", as hwloc and taskset write it.
std::string list_of_processors(const std::vector<int>& processors);

/// The version of NVIDIA's kernel module, "580.159" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159  Tue
/// ..."; empty: not loaded.
std::string nvidia_kernel_driver();

}  // namespace glinpack::app
