// Broadcasts that go through shared memory inside nodes and by messages between them.
#pragma once

#include <mpi.h>

#include <optional>

#include "global/broadcast.hpp"
#include "global/node_window.hpp"

namespace glinpack {

/// One broadcast under way, as Broadcast (broadcast.hpp). With a window, one rank of every node takes part in the
/// messages: the root, elsewhere the node's first one after it in the ring. It copies what it has for the others of its
/// node, who copy it out when they wait for it or test. On its root it starts when the node's ranks have read the
/// message before the last.
class NodeBroadcast {
 public:
  /// Collective over `communicator`. `window`: of the same communicator and for as many bytes, on all its ranks or on
  /// none; with one, any kind but ibcast.
  NodeBroadcast(MPI_Comm communicator, BroadcastKind kind, int root, void* data, Index count, MPI_Datatype type,
                int tag, NodeWindow* window);
  NodeBroadcast(const NodeBroadcast&) = delete;
  NodeBroadcast& operator=(const NodeBroadcast&) = delete;

  bool test();
  void wait();
  /// Whether this rank has its data, and those of its node can have them without it.
  bool arrived() const { return in_node_done_ && (!messages_ || messages_->arrived()); }
  void wait_until_arrived();

 private:
  bool test_in_node();
  Pending pending() const;

  MPI_Comm communicator_;
  void* data_;
  std::size_t bytes_ = 0;
  NodeWindow* window_;
  int leader_ = 0;                     // of this rank's node
  std::uint64_t number_ = 0;           // in the window
  std::optional<Broadcast> messages_;  // none where another rank of the node has them
  bool in_node_done_ = true;
};

}  // namespace glinpack
