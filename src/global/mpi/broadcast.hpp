// Broadcasts along process rows and columns: by messages between nodes, and by shared memory inside them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "mpi/communication.hpp"
#include "mpi/node_windows.hpp"
#include "transport/node_route.hpp"

namespace glinpack {

/// A pending broadcast by the route of node_route(). Non-blocking: the constructor starts it, test() makes progress,
/// wait() ends it. The buffer must outlive it, and must not change on the root until it is done. A rank from which
/// others of its node copy writes the data into the window; they copy it out when they wait or test. The root starts
/// once the ranks of its node have read the message before the last.
class Broadcast {
 public:
  /// Collective over `communicator`: the same kind, root and count on all ranks. Simultaneous broadcasts on one
  /// communicator need different tags. `window` belongs to the communicator; null on all of its ranks or on none.
  Broadcast(MPI_Comm communicator, BroadcastKind kind, int root, const MpiMessage& message,
            NodeWindow* window = nullptr);
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;

  /// Makes progress on the broadcast. True once this process has received and forwarded its data.
  bool test();
  void wait();
  /// Whether this process has its data, and the other ranks of its node need nothing more from it. It may read them,
  /// but other nodes may still need them from here.
  bool arrived() const { return in_node_done_ && have_received(); }
  void wait_until_arrived();

 private:
  /// True if a step or the copy inside the node has ended.
  bool advance();
  bool advance_messages();
  bool copy_in_node();
  template <class IsDone>
  void wait_for(IsDone is_done);
  /// The operation that blocks this process now.
  Pending pending() const;
  Pending pending_message() const;
  bool have_received() const { return received_ == route_.receives; }
  bool have_sent() const { return next_step_ == route_.steps.size() && pending_ == 0; }
  void start_ready_steps();
  MPI_Request start(const BroadcastStep& step) const;
  void count_receives();

  MPI_Comm communicator_;
  MpiMessage message_;
  NodeRoute route_;
  NodeWindow* window_;                 // null: this rank neither copies nor is copied from
  std::uint64_t number_ = 0;           // of the message in the window
  bool in_node_done_ = false;          // the copies inside the node
  std::size_t next_step_ = 0;          // to start
  std::vector<MPI_Request> requests_;  // of the started steps
  std::vector<int> ended_;             // steps, as MPI lists them
  std::size_t pending_ = 0;            // started and not ended
  std::size_t counted_ = 0;            // steps before the first receive that has not ended
  Index received_ = 0;                 // receives among them
};

}  // namespace glinpack
