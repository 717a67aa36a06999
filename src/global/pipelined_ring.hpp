// The increasing ring of a broadcast with its message in pieces: a place passes on one while it receives the next, so
// that the last of many places waits for little more than one message, and not for as many as there are places.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "global/pending.hpp"
#include "local/matrix_view.hpp"

namespace glinpack {

/// Pieces that a message of so many bytes travels in: few enough for the latencies of their messages to be lost in the
/// time that they take.
Index pieces_of_message(Index bytes);

/// One under way, as Broadcast (broadcast.hpp).
class PipelinedRing {
 public:
  /// `parent`: the rank that it comes from, -1 on the root; `child`: the one that it goes on to, -1 on the last.
  PipelinedRing(MPI_Comm communicator, int parent, int child, void* data, Index count, MPI_Datatype type, int tag);

  /// Drives it on; true where something has ended.
  bool advance();
  bool done() const { return arrived() && sent_ == to_send_; }
  bool arrived() const { return received_ == to_receive_; }
  Pending pending() const;

 private:
  // With more of them MPI may send them side by side, a little of each in turn, and all would arrive at the end.
  static constexpr Index most_sends = 2;

  Index begin_of(Index piece) const { return count_ * piece / pieces_; }
  Index receive_those_that_came();
  void start_sends();

  MPI_Comm communicator_;
  int parent_;
  int child_;
  char* data_;
  Index count_;
  MPI_Datatype type_;
  int tag_;
  int type_size_ = 0;
  Index pieces_ = 0;
  Index to_receive_ = 0;
  Index received_ = 0;  // the first so many
  Index to_send_ = 0;
  Index started_ = 0;  // sends
  Index sent_ = 0;     // of them, in their order
  std::vector<MPI_Request> receives_;
  std::array<MPI_Request, most_sends> sends_;  // piece i in place i % most_sends
};

}  // namespace glinpack
