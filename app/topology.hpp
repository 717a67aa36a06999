// The node that a rank runs on: cores that it may use, and memory.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace glinpack::app {

/// What one rank sees of its node. Cores, not hardware threads: arithmetic gains nothing from the second thread of one.
struct NodeView {
  std::string host;
  std::vector<int> cores;             // hwloc's logical indices of the cores that this process may run on, ascending
  int core_limit = 0;                 // what a cgroup's quota leaves, rounded up; 0: no limit
  std::int64_t available_memory = 0;  // bytes for all ranks of the node together; 0 unknown
  std::vector<int> processors = {};   // the system's numbers of the cores' processing units, ascending
  int node_cores = 0;                 // that the node, or the container, has, whatever this process is bound to
  int numa_nodes = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NodeView, host, cores, core_limit, available_memory, processors, node_cores,
                                   numa_nodes)

/// By hwloc, respecting the process's binding; memory is MemAvailable of /proc/meminfo, or what the cgroups leave where
/// that is less.
NodeView view_node();

/// Threads for arithmetic on `rank` of the world: its cores divided by the ranks of its node that may use the same
/// ones, at least 1. `views`: one per rank.
int threads_for(std::span<const NodeView> views, std::size_t rank);

}  // namespace glinpack::app
