// Messages between two ranks of a node through rings in shared memory: for row exchanges and panels of process columns.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/threads.hpp"
#include "mpi/shared_memory.hpp"

namespace glinpack {

/// One ring of slices for every ordered pair of ranks of a communicator that share a node. The sender copies the slices
/// of its messages in, the receiver copies them out in the same order. A message may be longer than its ring.
class NodeRings {
 public:
  /// Collective over `communicator`, whose ranks' nodes are `nodes` and whose own rank is `rank`. `ring_bytes`: of each
  /// ring, rounded to slices. Before using it, all ranks must agree that error() is empty everywhere. `team` copies,
  /// and must outlive it.
  NodeRings(MPI_Comm communicator, std::vector<int> nodes, int rank, std::size_t ring_bytes, ThreadTeam& team);

  const std::string& error() const { return memory_.error(); }
  std::size_t ring_bytes() const;
  /// Whether messages to and from the rank use a ring: another rank of the same node.
  bool reach(int rank) const { return rank != rank_ && node_of(rank) == node_of(rank_); }

 private:
  friend class RingExchange;
  // One direction between this rank and another.
  struct Ring {
    char* words = nullptr;  // of each slice, in a cache line of its own
    char* slices = nullptr;
    std::uint64_t next = 0;  // slice of the next message
  };
  int node_of(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  Ring ring_between(int sender, int receiver) const;

  std::vector<int> nodes_;
  int rank_;
  std::uint64_t slices_each_;  // of a ring
  SharedMemory memory_;
  ThreadTeam& team_;
  std::vector<Ring> sending_;  // by rank
  std::vector<Ring> receiving_;
};

/// A message of this rank, from or to adjoining or separate parts of its memory.
struct RingMessage {
  int peer = 0;
  bool receives = false;
  std::vector<std::span<char>> parts;
};

/// Pending messages, which start in the order of construction. Both ranks of a pair start their messages in the same
/// order, and end one exchange before they wait for the next.
class RingExchange {
 public:
  /// `rings` and the memory must outlive it. Every peer is within reach.
  RingExchange(NodeRings& rings, const std::vector<RingMessage>& messages);
  RingExchange(const RingExchange&) = delete;
  RingExchange& operator=(const RingExchange&) = delete;

  /// Copies what can be copied now; true when all messages are.
  bool advance();

 private:
  struct Message {
    NodeRings::Ring ring;
    bool receives;
    std::vector<std::span<char>> parts;
    std::size_t bytes = 0;
    std::uint64_t slices = 0;
    std::atomic<std::uint64_t> taken{0};  // slices that a thread copies or has copied
  };
  bool is_ready(const Message& message, std::uint64_t slice) const;
  bool any_ready() const;
  void copy_slice(Message& message, std::uint64_t slice);
  void copy_slices(int patience);

  NodeRings& rings_;
  std::deque<Message> messages_;
  std::size_t bytes_ = 0;
  bool done_ = false;
};

}  // namespace glinpack
