// Whether the runs fit the memory of the nodes and devices: computed before anything is allocated.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/plan.hpp"

namespace glinpack::app {

/// What one rank found when it started.
struct RankMemory {
  std::string host;
  std::int64_t host_available = 0;    // bytes on the node, for all its ranks together; 0 unknown
  bool device_is_host = true;         // matrices lie in the node's memory: processor, software OpenGL
  std::string device = {};            // ranks of a node that name the same device share it
  std::int64_t address_space = 0;     // bytes that the rank's process may still map; 0 no limit
  std::int64_t device_available = 0;  // bytes on the device; 0 unknown
  Index largest_rows = 0;             // of a local matrix; 0: no limit but memory
  Index largest_columns = 0;
  std::int64_t largest_matrix = 0;  // bytes of a local matrix that the device is sure to hold; 0: no limit but memory
};

/// What the rank at a position of the grid needs.
MemoryNeed memory_need(const RunRecord& run, const Distribution& distribution, GridPosition position);

/// A node's memory, a device's, or the address space of a process.
struct MemoryPool {
  std::string name;      // "node3", "node3, device 0", "the address space of rank 2 (ulimit -v)"
  double needed = 0;     // bytes; in double: sums over ranks of what may be beyond 64 bits
  double available = 0;  // bytes; 0 unknown
  int ranks = 0;         // that share it
};

/// Throws InputError for the first run that does not fit into memory or whose local matrices a backend cannot hold,
/// with what it needs, what is available, and the largest N that fits with its block size and grid. `ranks`: one per
/// rank of the world, in order. `stored_matrix`: the ranks hold their part of a matrix read from a file besides.
void check_memory(std::span<const RunRecord> planned, std::span<const RankMemory> ranks, bool stored_matrix);

/// The largest N with which a run fits into `fraction` of every pool's memory, and its local matrices are no larger
/// than the backend is sure to hold; 0 where there is none. The run's own N does not matter. Pools of unknown size set
/// no limit.
Index largest_fitting_n(RunRecord run, std::span<const RankMemory> ranks, bool stored_matrix, double fraction = 1);

/// The pools of memory that a run takes from.
std::vector<MemoryPool> pools_of(const RunRecord& run, std::span<const RankMemory> ranks, bool stored_matrix);

/// "12.3 GiB".
std::string memory_text(double bytes);

}  // namespace glinpack::app
