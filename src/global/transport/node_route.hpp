// The route of a broadcast along a process row or column: the messages of each rank, and its copies through the memory
// that the ranks of a node share. Pure: MPI executes it, the recorder lists it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/enumerators.hpp"
#include "base/matrix_view.hpp"

namespace glinpack {

/// Broadcasts along process rows and columns, chosen by name as HPL's BCAST values are.
enum class BroadcastKind {
  ring,                // HPL 0, 1rg: increasing ring
  ring_modified,       // HPL 1, 1rM: the root's neighbour receives first and does not forward
  two_rings,           // HPL 2, 2rg
  two_rings_modified,  // HPL 3, 2rM
  long_,               // HPL 4, Lng: scatter, then roll
  long_modified,       // HPL 5, LnM
  ibcast,              // MPI_Ibcast
  ring_pipelined,      // the ring, with the message in pieces; HPL has none
};

inline constexpr auto all_broadcasts = values_up_to<BroadcastKind::ring_pipelined>;

/// An MPI collective: it needs all ranks of a communicator, and MPI chooses its messages.
constexpr bool is_mpi_collective(BroadcastKind kind) { return kind == BroadcastKind::ibcast; }

/// HPL's digit; those that HPL does not have are 6, ibcast, and 7, ring_pipelined.
constexpr int hpl_digit(BroadcastKind kind) { return static_cast<int>(kind); }

constexpr std::string_view name_of(BroadcastKind kind) {
  return text_by_value(kind, "ring", "ring-modified", "two-rings", "two-rings-modified", "long", "long-modified",
                       "ibcast", "ring-pipelined");
}
constexpr std::string_view hpl_name_of(BroadcastKind kind) {
  return text_by_value(kind, "1rg", "1rM", "2rg", "2rM", "Lng", "LnM", "MPI_Ibcast", "ring-pipelined");
}

/// By name, by HPL's name (1rg 1rM 2rg 2rM Lng LnM) or digit (0 ... 5).
inline std::optional<BroadcastKind> broadcast_from_name(std::string_view name) {
  for (const BroadcastKind kind : all_broadcasts) {
    const bool is_digit = kind <= BroadcastKind::long_modified && name == std::to_string(hpl_digit(kind));
    if (name == name_of(kind) || name == hpl_name_of(kind) || is_digit) return kind;
  }
  return std::nullopt;
}

/// The sender and the receivers of a place, in broadcasts that forward the whole message. Places count from the root,
/// which is 0.
struct ForwardingPlace {
  int parent = -1;  // -1 for the root
  std::vector<int> children;
};
/// For ring, ring_modified, two_rings and two_rings_modified; ring_pipelined has the places of ring.
ForwardingPlace forwarding_place(BroadcastKind kind, int size, int place);

/// One message: elements [first, first + count) to or from `peer`.
struct BroadcastStep {
  int peer = 0;
  Index first = 0;
  Index count = 0;
  bool receive = false;
  Index after_receives = 0;  // starts when this many receives, the first ones listed, are done
};
/// The steps of a place in a broadcast of `count` elements, in the order in which they start; peers are places. Not for
/// ibcast. `pieces`: for ring_pipelined (pieces_of_message()).
std::vector<BroadcastStep> broadcast_steps(BroadcastKind kind, int size, int place, Index count, Index pieces = 1);

/// The number of pieces of a pipelined message of `bytes` bytes: few enough that their latency is negligible.
Index pieces_of_message(Index bytes);

/// Bytes of the largest broadcasts of a run: along a rank's process row, and down its process column.
struct BroadcastSizes {
  std::size_t row = 0;
  std::size_t column = 0;
  // of each ring between two ranks of a process column; 0: none
  std::size_t row_ring = 0;
  std::size_t panel_ring = 0;
};

/// For every rank of a line, the first rank of its node. `node_of`: numbers the node of a rank in any way.
template <class NodeOf>
std::vector<int> first_on_nodes(int ranks, NodeOf node_of) {
  std::vector<int> firsts;
  std::unordered_map<int, int> first_on;
  for (int rank = 0; rank < ranks; ++rank) firsts.push_back(first_on.try_emplace(node_of(rank), rank).first->second);
  return firsts;
}

/// A process row or column, as one of its ranks sees it.
struct NodeLine {
  int size = 1;
  int rank = 0;
  std::span<const int> nodes =
      {};                        // for every rank, the first rank of its node (nodes_of()); empty: no memory is shared
  std::size_t shared_bytes = 0;  // the largest message that the shared memory holds

  int node_of(int of_rank) const { return nodes.empty() ? of_rank : nodes[static_cast<std::size_t>(of_rank)]; }
};

struct RoutedMessage {
  int root = 0;
  Index count = 0;  // elements
  Index element_bytes = 1;
};

/// One rank's part in a broadcast. The root, and of every other node the first rank after the root, exchange messages;
/// the other ranks of a node copy from that one. Ranks are those of the line.
struct NodeRoute {
  bool is_collective = false;        // one step is MPI's collective operation, whose peer is the root
  std::vector<BroadcastStep> steps;  // in the order in which they start
  Index receives = 0;                // number of steps that receive
  int copies_from = -1;              // the rank of this node from which it copies; -1: none
  std::vector<int> copied_by;        // ranks of this node that copy from it, after its receives

  bool copies_in_node() const { return copies_from >= 0 || !copied_by.empty(); }
};
NodeRoute node_route(BroadcastKind kind, NodeLine line, const RoutedMessage& message);

}  // namespace glinpack
