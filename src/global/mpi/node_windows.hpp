// Shared memory of a run for the messages of its process rows and columns inside nodes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/threads.hpp"
#include "mpi/node_rings.hpp"
#include "mpi/process_grid.hpp"
#include "mpi/shared_memory.hpp"
#include "transport/node_route.hpp"

namespace glinpack {

/// Shared memory for messages between the ranks of a process row or column on one node: two slots, used in turn. The
/// leader of a node copies a message into a slot with all its threads. The other ranks of the node copy it out with all
/// of theirs, slice by slice, and count their reads; the slot's next leader waits for the count. Every rank of the
/// communicator takes part in every message, in the same order.
class NodeWindow {
 public:
  /// For messages of up to `largest` bytes between the ranks of `communicator`, whose nodes are `nodes` and whose own
  /// rank is `rank`; collective.
  /// Before using it, all ranks must agree that error() is empty everywhere. `team` copies, and must outlive it.
  NodeWindow(MPI_Comm communicator, std::vector<int> nodes, int rank, std::size_t largest, ThreadTeam& team);

  const std::string& error() const { return memory_.error(); }
  const std::vector<int>& nodes() const { return nodes_; }
  std::size_t largest() const { return largest_; }

  /// The number of the next message, the same on all ranks.
  std::uint64_t next_message() { return messages_++; }
  /// Whether all readers have read the slot's previous message.
  bool is_free(std::uint64_t message) const;
  /// By the leader, when the slot is free.
  void copy_in(std::uint64_t message, const void* data, std::size_t bytes);
  /// Whether copy_in() has begun.
  bool has_begun(std::uint64_t message) const;
  /// By the others, when it has begun.
  void copy_out(std::uint64_t message, void* data, std::size_t bytes);

 private:
  // Turns of a slot count from 1: zeros in new memory are before the first turn.
  static std::uint64_t turn_of(std::uint64_t message) { return message / 2 + 1; }
  char* slot_of(std::uint64_t message) const { return memory_.data() + message % 2 * slot_bytes_; }
  template <class Copy>
  void for_each_slice(std::size_t bytes, Copy copy);

  std::vector<int> nodes_;
  std::uint64_t readers_;  // of a message, on this rank's node
  std::size_t largest_;
  std::size_t head_bytes_;  // of a slot
  std::size_t slot_bytes_;
  SharedMemory memory_;
  ThreadTeam& team_;
  std::uint64_t messages_ = 0;
};

/// Windows of a rank's process row and column; each is null unless two of its ranks share a node.
class NodeWindows {
 public:
  /// Collective over the grid. `nodes_of_row`, `nodes_of_column`: see nodes_of(). All ranks throw AgreedError if any
  /// rank cannot allocate the memory. On an inactive grid, memory must only be counted.
  NodeWindows(const ProcessGrid& grid, std::vector<int> nodes_of_row, std::vector<int> nodes_of_column,
              const BroadcastSizes& largest, int threads);

  NodeWindow* row() const { return row_.get(); }
  NodeWindow* column() const { return column_.get(); }
  /// The rings of the process column: those for rows and those for panels are pending at the same time.
  NodeRings* row_rings() const { return row_rings_.get(); }
  NodeRings* panel_rings() const { return panel_rings_.get(); }

 private:
  ThreadTeam team_;
  std::unique_ptr<NodeWindow> row_;
  std::unique_ptr<NodeWindow> column_;
  std::unique_ptr<NodeRings> row_rings_;
  std::unique_ptr<NodeRings> panel_rings_;
};

/// Windows that copy with `threads` threads a rank. Collective over the grid. Null if the grid has one rank or memory
/// cannot be allocated; the grid's root then warns once on standard error.
std::unique_ptr<NodeWindows> make_node_windows(const ProcessGrid& grid, const BroadcastSizes& largest, int threads);

}  // namespace glinpack
