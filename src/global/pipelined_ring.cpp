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
  receives_.fill(MPI_REQUEST_NULL);
  start_receives();
  for (Index i = 0; parent < 0 && i < pieces_; ++i) start_send(i);
}

void PipelinedRing::start_receives() {
  for (; awaited_ < std::min(to_receive_, received_ + most_receives); ++awaited_) {
    GLINPACK_MPI(MPI_Irecv(data_ + begin_of(awaited_) * type_size_,
                           static_cast<int>(begin_of(awaited_ + 1) - begin_of(awaited_)), type_, parent_, tag_,
                           communicator_, &receives_[static_cast<std::size_t>(awaited_ % most_receives)]));
  }
}

void PipelinedRing::start_send(Index piece) {
  if (child_ < 0) return;
  sends_.push_back(MPI_REQUEST_NULL);
  GLINPACK_MPI(MPI_Isend(data_ + begin_of(piece) * type_size_, static_cast<int>(begin_of(piece + 1) - begin_of(piece)),
                         type_, child_, tag_, communicator_, &sends_.back()));
}

bool PipelinedRing::advance() {
  bool ended = false;
  while (received_ < awaited_ && has_ended(receives_[static_cast<std::size_t>(received_ % most_receives)])) {
    start_send(received_);
    ++received_;
    start_receives();
    ended = true;
  }
  for (; sent_ < sends_.size() && has_ended(sends_[sent_]); ++sent_) ended = true;
  return ended;
}

Pending PipelinedRing::pending() const {
  if (!arrived()) return Pending::from(communicator_, parent_);
  return done() ? Pending{} : Pending::to(communicator_, child_);
}

}  // namespace glinpack
