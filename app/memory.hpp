// Whether the runs fit the memory of the nodes and devices: computed before anything is allocated.
#pragma once

#include <cstdint>
#include <span>
#include <string>

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
};

/// Throws InputError for the first run that does not fit into memory or whose local matrices a backend cannot hold,
/// with what it needs, what is available, and the largest N that fits with its block size and grid. `ranks`: one per
/// rank of the world, in order. `stored_matrix`: the ranks hold their part of a matrix read from a file besides.
void check_memory(std::span<const RunRecord> planned, std::span<const RankMemory> ranks, bool stored_matrix);

/// "12.3 GiB".
std::string memory_text(double bytes);

}  // namespace glinpack::app
