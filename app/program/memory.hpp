// Checks whether the runs fit into the memory of nodes and devices, before any allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/program/planned_runs.hpp"

namespace glinpack::app {

/// The memory that one rank found at start-up. Ranks that are not to be checked have a node alone.
struct RankMemory {
  std::string host;
  int node = 0;                       // nodes_of()
  bool checked = true;                // false: only the node and device_is_host matter
  std::int64_t host_available = 0;    // bytes on the node, shared by all its ranks; 0 unknown
  bool device_is_host = true;         // matrices are in the node's memory: host backend or software device
  std::string device = {};            // ranks of a node that name the same device share it
  std::int64_t address_space = 0;     // bytes that the process can still map; 0: no limit
  std::int64_t device_available = 0;  // bytes on the device; 0 unknown
  bool copies_to_peers = true;        // as far as is known: the device and others of the node
  Index largest_rows = 0;             // of a local matrix; 0: limited only by memory
  Index largest_columns = 0;
  std::int64_t largest_matrix = 0;  // bytes of a local matrix that the device is sure to hold; 0: only memory limits it
};

GLINPACK_DESCRIBE(RankMemory, host, node, host_available, device_is_host, device, address_space, device_available,
                  copies_to_peers, largest_rows, largest_columns, largest_matrix)

struct NeededBytes {
  double host = 0;
  double device = 0;
};
/// The largest need of a rank, if all ranks are on one node and a device is a GPU: counted by the constructors of its
/// run (count_memory()). A local matrix beyond any memory counts alone.
NeededBytes largest_need(const RunRecord& run);

/// Whether the GPUs of a node's ranks copy messages to each other, if their driver can.
bool gpus_may_copy(const RunRecord& run);

/// One pool: a node's memory, a device's, or the address space of a process.
struct MemoryPool {
  std::string name;      // "node3", "node3, device 0", "the address space of rank 2 (ulimit -v)"
  double needed = 0;     // bytes; double, because sums over ranks can exceed 64 bits
  double available = 0;  // bytes; 0 unknown
  int ranks = 0;         // that share the pool
};

/// Throws InputError for the first run that does not fit into memory or into a backend's limits. The message has the
/// needed and the available memory, and the largest N that fits with this block size and grid. `ranks`: one per rank of
/// the world, in order. `stored_matrix`: the ranks also hold their part of a matrix from a file.
void check_memory(std::span<const RunRecord> planned, std::span<const RankMemory> ranks, bool stored_matrix);

/// The largest N that uses at most `fraction` of every pool and whose local matrices the backend is sure to hold; 0 if
/// there is none. Ignores the run's own N. Pools of unknown size set no limit.
Index largest_fitting_n(RunRecord run, std::span<const RankMemory> ranks, bool stored_matrix, double fraction = 1);

/// The pool that is too small for copies of the local matrices, RunParameters::checkpoint_copy, with what a run that
/// has them needs; none if all are large enough.
std::optional<MemoryPool> too_small_for_copies(RunRecord run, std::span<const RankMemory> ranks, bool stored_matrix);

/// The memory pools that a run uses.
std::vector<MemoryPool> pools_of(const RunRecord& run, std::span<const RankMemory> ranks, bool stored_matrix);

}  // namespace glinpack::app
