#include "global/pipelined_ring.hpp"

#include <algorithm>

#include "global/communication.hpp"

namespace glinpack {

namespace {

bool has_ended(MPI_Request& request) {
  int ended = 0;
  GLINPACK_MPI(MPI_Test(&request, &ended, MPI_STATUS_IGNORE));
  return ended != 0;
}

}  // namespace

Index pieces_of_message(Index bytes) {
  constexpr Index least = 256 * 1024;
  constexpr Index most = 16;
  return std::clamp<Index>(bytes / least, 1, most);
}

PipelinedRing::PipelinedRing(MPI_Comm communicator, int parent, int child, void* data, Index count, MPI_Datatype type,
                             int tag)
    : communicator_(communicator),
      parent_(parent),
      child_(child),
      data_(static_cast<char*>(data)),
      count_(count),
      type_(type),
      tag_(tag) {
  GLINPACK_MPI(MPI_Type_size(type, &type_size_));
  pieces_ = std::min(count, pieces_of_message(count * type_size_));
  to_receive_ = parent >= 0 ? pieces_ : 0;
  to_send_ = child >= 0 ? pieces_ : 0;
  sends_.fill(MPI_REQUEST_NULL);
  receives_.assign(static_cast<std::size_t>(to_receive_), MPI_REQUEST_NULL);
  for (Index i = 0; i < to_receive_; ++i) {
    GLINPACK_MPI(MPI_Irecv(data_ + begin_of(i) * type_size_, static_cast<int>(begin_of(i + 1) - begin_of(i)), type_,
                           parent_, tag_, communicator_, &receives_[static_cast<std::size_t>(i)]));
  }
  start_sends();
}

// In the order in which they are sent on, even where a later one is here before.
Index PipelinedRing::receive_those_that_came() {
  const Index before = received_;
  while (received_ < to_receive_ && has_ended(receives_[static_cast<std::size_t>(received_)])) ++received_;
  return received_ - before;
}

void PipelinedRing::start_sends() {
  const Index here = to_receive_ > 0 ? received_ : pieces_;
  for (; started_ < std::min({to_send_, here, sent_ + most_sends}); ++started_) {
    GLINPACK_MPI(MPI_Isend(data_ + begin_of(started_) * type_size_,
                           static_cast<int>(begin_of(started_ + 1) - begin_of(started_)), type_, child_, tag_,
                           communicator_, &sends_[static_cast<std::size_t>(started_ % most_sends)]));
  }
}

bool PipelinedRing::advance() {
  bool ended = receive_those_that_came() > 0;
  for (start_sends(); sent_ < started_ && has_ended(sends_[static_cast<std::size_t>(sent_ % most_sends)]);) {
    ++sent_;
    ended = true;
    start_sends();
  }
  return ended;
}

Pending PipelinedRing::pending() const {
  if (!arrived()) return Pending::from(communicator_, parent_);
  return sent_ < to_send_ ? Pending::to(communicator_, child_) : Pending{};
}

}  // namespace glinpack
