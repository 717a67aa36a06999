// Messages between two ranks of a node through rings in shared memory: for row exchanges and panels of process columns.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "mpi/shared_memory.hpp"

namespace glinpack {

inline constexpr std::size_t ring_slice_bytes = std::size_t{1} << 17;
inline constexpr std::size_t word_stride = 64;
// A thread of the team leaves after this many looks at slices that are not ready.
inline constexpr int looks_of_team = 4000;

inline std::uint64_t ring_slices_of(std::size_t bytes) { return (bytes + ring_slice_bytes - 1) / ring_slice_bytes; }

inline std::size_t ranks_of_node(const std::vector<int>& nodes, int rank) {
  return static_cast<std::size_t>(std::count(nodes.begin(), nodes.end(), nodes[static_cast<std::size_t>(rank)]));
}

// A slice's word counts its uses: 2 t before it is filled for the t-th time, 2 t + 1 after that.
inline std::atomic_ref<std::uint64_t> word_of(char* words, std::uint64_t slot) {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(words + slot * word_stride));
}

// Copies bytes [first, first + count) of the parts, one behind the other, to or from `memory`.
inline void copy_parts(const std::vector<std::span<char>>& parts, std::size_t first, std::size_t count, char* memory,
                       bool to_parts) {
  for (const std::span<char> part : parts) {
    if (first >= part.size()) {
      first -= part.size();
      continue;
    }
    const std::size_t bytes = std::min(count, part.size() - first);
    if (bytes == 0) return;
    if (to_parts) {
      std::memcpy(part.data() + first, memory, bytes);
    } else {
      std::memcpy(memory, part.data() + first, bytes);
    }
    memory += bytes;
    count -= bytes;
    first = 0;
  }
}

/// One ring of slices for every ordered pair of ranks of a communicator that share a node. The sender copies the slices
/// of its messages in, the receiver copies them out in the same order. A message may be longer than its ring.
class NodeRings {
 public:
  /// Collective over `communicator`, whose ranks' nodes are `nodes` and whose own rank is `rank`. `ring_bytes`: of each
  /// ring, rounded to slices. Before using it, all ranks must agree that error() is empty everywhere. `team` copies,
  /// and must outlive it.
  NodeRings(MPI_Comm communicator, std::vector<int> nodes, int rank, std::size_t ring_bytes, ThreadTeam& team)
      : nodes_(std::move(nodes)),
        rank_(rank),
        slices_each_(std::max<std::uint64_t>(2, ring_slices_of(ring_bytes))),
        memory_(communicator, nodes_, rank_,
                ranks_of_node(nodes_, rank_) * (ranks_of_node(nodes_, rank_) - 1) * slices_each_ *
                    (ring_slice_bytes + word_stride)),
        team_(team) {
    const auto size = static_cast<int>(nodes_.size());
    sending_.resize(nodes_.size());
    receiving_.resize(nodes_.size());
    for (int other = 0; other < size; ++other) {
      if (!reach(other) || memory_.data() == nullptr) continue;
      sending_[static_cast<std::size_t>(other)] = ring_between(rank_, other);
      receiving_[static_cast<std::size_t>(other)] = ring_between(other, rank_);
    }
  }

  const std::string& error() const { return memory_.error(); }
  std::size_t ring_bytes() const { return slices_each_ * ring_slice_bytes; }
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
  Ring ring_between(int sender, int receiver) const {
    const auto place_in_node = [&](int rank) {
      return static_cast<std::size_t>(std::count(nodes_.begin(), nodes_.begin() + rank, node_of(rank)));
    };
    const std::size_t count = ranks_of_node(nodes_, rank_), from = place_in_node(sender), to = place_in_node(receiver);
    const std::size_t number = from * (count - 1) + (to < from ? to : to - 1);
    char* const words = memory_.data() + number * slices_each_ * word_stride;
    char* const first_slice = memory_.data() + count * (count - 1) * slices_each_ * word_stride;
    return {words, first_slice + number * slices_each_ * ring_slice_bytes, 0};
  }

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
  RingExchange(NodeRings& rings, const std::vector<RingMessage>& messages) : rings_(rings) {
    for (const RingMessage& asked : messages) {
      auto& ring = (asked.receives ? rings.receiving_ : rings.sending_)[static_cast<std::size_t>(asked.peer)];
      Message& message = messages_.emplace_back();
      message.ring = ring;
      message.receives = asked.receives;
      message.parts = asked.parts;
      for (const std::span<char> part : asked.parts) message.bytes += part.size();
      message.slices = ring_slices_of(message.bytes);
      bytes_ += message.bytes;
      ring.next += message.slices;
    }
  }
  RingExchange(const RingExchange&) = delete;
  RingExchange& operator=(const RingExchange&) = delete;

  /// Copies what can be copied now; true when all messages are.
  bool advance() {
    if (done_) return true;
    if (any_ready()) {
      if (bytes_ < min_bytes_for_team || rings_.team_.members() == 1) {
        copy_slices(0);
      } else {
        rings_.team_.run([this](int) { copy_slices(looks_of_team); });
      }
    }
    done_ = std::ranges::all_of(messages_, [](const Message& message) { return message.taken == message.slices; });
    return done_;
  }

 private:
  struct Message {
    NodeRings::Ring ring;
    bool receives;
    std::vector<std::span<char>> parts;
    std::size_t bytes = 0;
    std::uint64_t slices = 0;
    std::atomic<std::uint64_t> taken{0};  // slices that a thread copies or has copied
  };
  bool is_ready(const Message& message, std::uint64_t slice) const {
    const std::uint64_t number = message.ring.next + slice, slots = rings_.slices_each_;
    const std::uint64_t wanted = 2 * (number / slots) + (message.receives ? 1 : 0);
    return word_of(message.ring.words, number % slots).load(std::memory_order_acquire) == wanted;
  }
  bool any_ready() const {
    return std::ranges::any_of(messages_, [this](const Message& message) {
      const std::uint64_t slice = message.taken.load(std::memory_order_relaxed);
      return slice < message.slices && is_ready(message, slice);
    });
  }
  void copy_slice(Message& message, std::uint64_t slice) {
    const std::uint64_t number = message.ring.next + slice, slot = number % rings_.slices_each_;
    const std::size_t first = slice * ring_slice_bytes;
    copy_parts(message.parts, first, std::min(ring_slice_bytes, message.bytes - first),
               message.ring.slices + slot * ring_slice_bytes, message.receives);
    word_of(message.ring.words, slot).fetch_add(1, std::memory_order_acq_rel);
  }
  // By one thread, until all slices are taken, or none was ready for a while.
  void copy_slices(int patience) {
    for (int looks = 0; looks <= patience; ++looks) {
      bool any_left = false;
      for (Message& message : messages_) {
        std::uint64_t slice = message.taken.load(std::memory_order_relaxed);
        while (slice < message.slices && is_ready(message, slice)) {
          if (message.taken.compare_exchange_weak(slice, slice + 1)) {
            copy_slice(message, slice++);
            looks = 0;
          }
        }
        any_left |= slice < message.slices;
      }
      if (!any_left) return;
    }
  }

  NodeRings& rings_;
  std::deque<Message> messages_;
  std::size_t bytes_ = 0;
  bool done_ = false;
};

}  // namespace glinpack
