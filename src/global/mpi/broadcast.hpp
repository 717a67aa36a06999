// Broadcasts along process rows and columns by MPI.
#pragma once

#include <mpi.h>

#include <vector>

#include "base/matrix_view.hpp"
#include "mpi/communication.hpp"
#include "transport/node_route.hpp"

namespace glinpack {

/// A pending broadcast. Non-blocking: the constructor starts it, test() makes progress, wait() ends it. The buffer must
/// outlive it, and must not change on the root until it is done.
class Broadcast {
 public:
  /// Collective over `communicator`: the same kind, root and count on all ranks. Simultaneous broadcasts on one
  /// communicator need different tags.
  Broadcast(MPI_Comm communicator, BroadcastKind kind, int root, const MpiMessage& message);
  /// The messages of a route. Collective over the ranks whose routes have some.
  Broadcast(MPI_Comm communicator, NodeRoute route, const MpiMessage& message);
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;

  /// Makes progress on the broadcast. True once this process has received and forwarded its data.
  bool test();
  void wait();
  /// Whether this process has its data: it may read them, but others may still need them from here.
  bool arrived() const { return received_ == to_receive_; }
  void wait_until_arrived();
  /// The operation that blocks this process now.
  Pending pending() const;

 private:
  // True if a step has ended.
  bool advance();
  bool done() const { return next_step_ == steps_.size() && pending_ == 0; }
  void start_ready_steps();
  MPI_Request start(const BroadcastStep& step) const;
  void count_receives();

  MPI_Comm communicator_;
  bool is_collective_;  // an MPI collective, as one step
  char* data_;
  MPI_Datatype type_;
  int type_bytes_;
  int tag_;
  std::vector<BroadcastStep> steps_;   // peers are ranks of the communicator
  std::size_t next_step_ = 0;          // to start
  std::vector<MPI_Request> requests_;  // of the started steps
  std::vector<int> ended_;             // steps, as MPI lists them
  std::size_t pending_ = 0;            // started and not ended
  std::size_t counted_ = 0;            // steps before the first receive that has not ended
  Index received_ = 0;                 // receives among them
  Index to_receive_ = 0;
};

}  // namespace glinpack
