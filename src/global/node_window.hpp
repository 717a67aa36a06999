// Memory through which messages travel between the ranks of a process row or column that share a node.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "global/nodes.hpp"
#include "global/shared_memory.hpp"
#include "local/thread_team.hpp"

namespace glinpack {

/// Two slots that take turns. The leader of a node copies a message into a slot with all its threads; the other ranks
/// of the node copy it out with all of theirs, slice by slice, as slices arrive, and count themselves as done, which
/// the slot's next leader waits for. Every rank of the communicator takes part in every message, and all in the same
/// order.
class NodeWindow {
 public:
  /// For messages of up to `largest` bytes between the ranks of `communicator`, whose nodes are `nodes`; collective.
  /// Before it is used, all ranks have to agree that error() is empty everywhere. `team`: the threads that copy, which
  /// must outlive it.
  NodeWindow(MPI_Comm communicator, std::vector<int> nodes, std::size_t largest, ThreadTeam& team);

  const std::string& error() const { return memory_.error(); }
  const std::vector<int>& nodes() const { return nodes_; }
  std::size_t largest() const { return largest_; }

  /// The number of the next message, the same on all ranks.
  std::uint64_t next_message() { return messages_++; }
  /// Whether the message's slot has been read by all.
  bool is_free(std::uint64_t message) const;
  /// By the leader, when the slot is free.
  void copy_in(std::uint64_t message, const void* data, std::size_t bytes);
  /// Whether copy_in() has begun.
  bool has_begun(std::uint64_t message) const;
  /// By the others, when it has begun.
  void copy_out(std::uint64_t message, void* data, std::size_t bytes);

 private:
  // Turns of a slot are counted from 1, so that zeros mean that there has been none.
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

}  // namespace glinpack
