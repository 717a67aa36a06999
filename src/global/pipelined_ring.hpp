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
  PipelinedRing(const PipelinedRing&) = delete;
  PipelinedRing& operator=(const PipelinedRing&) = delete;

  /// Drives it on; true where something has ended.
  bool advance();
  bool done() const { return arrived() && sent_ == sends_.size(); }
  /// All of it is here, and MPI has been told to send on all of it.
  bool arrived() const { return received_ == to_receive_; }
  Pending pending() const;

 private:
  // With more of them MPI may take pieces side by side, a little of each in turn, and all would arrive at the end. It
  // is the receiver that sees to that, for it waits for what it receives, and nobody for what is sent on.
  static constexpr Index most_receives = 2;

  Index begin_of(Index piece) const { return count_ * piece / pieces_; }
  void start_receives();
  void start_send(Index piece);

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
  Index awaited_ = 0;                                // receives started
  Index received_ = 0;                               // of them, in their order
  std::array<MPI_Request, most_receives> receives_;  // piece i in place i % most_receives
  std::vector<MPI_Request> sends_;                   // started, in the order of the pieces
  std::size_t sent_ = 0;                             // of them
};

}  // namespace glinpack
