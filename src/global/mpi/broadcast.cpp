#include "mpi/broadcast.hpp"

#include <utility>

#include "mpi/communication.hpp"

namespace glinpack {

Broadcast::Broadcast(MPI_Comm communicator, BroadcastKind kind, int root, void* data, Index count, MPI_Datatype type,
                     int tag)
    : Broadcast(communicator,
                node_route(kind, {.size = size_of(communicator), .rank = rank_in(communicator)},
                           {.root = root, .count = count, .element_bytes = element_bytes(type)}),
                data, type, tag) {}

Broadcast::Broadcast(MPI_Comm communicator, NodeRoute route, void* data, MPI_Datatype type, int tag)
    : communicator_(communicator),
      is_collective_(route.is_collective),
      data_(static_cast<char*>(data)),
      type_(type),
      type_bytes_(element_bytes(type)),
      tag_(tag),
      steps_(std::move(route.steps)),
      to_receive_(route.receives) {
  ended_.resize(steps_.size());
  start_ready_steps();
}

void Broadcast::start_ready_steps() {
  for (; next_step_ < steps_.size() && steps_[next_step_].after_receives <= received_; ++next_step_) {
    requests_.push_back(start(steps_[next_step_]));
    ++pending_;
  }
}

MPI_Request Broadcast::start(const BroadcastStep& step) const {
  char* first = data_ + step.first * type_bytes_;
  const int count = message_count(step.count), peer = step.peer;
  MPI_Request request = MPI_REQUEST_NULL;
  if (is_collective_) {
    GLINPACK_MPI(MPI_Ibcast(first, count, type_, peer, communicator_, &request));
  } else if (step.receive) {
    GLINPACK_MPI(MPI_Irecv(first, count, type_, peer, tag_, communicator_, &request));
  } else {
    GLINPACK_MPI(MPI_Isend(first, count, type_, peer, tag_, communicator_, &request));
  }
  return request;
}

bool Broadcast::advance() {
  int ended = 0;
  GLINPACK_MPI(
      MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &ended, ended_.data(), MPI_STATUSES_IGNORE));
  if (ended == 0 || ended == MPI_UNDEFINED) return false;
  pending_ -= static_cast<std::size_t>(ended);
  count_receives();
  start_ready_steps();
  return true;
}

void Broadcast::count_receives() {
  for (; counted_ < next_step_; ++counted_) {
    if (!steps_[counted_].receive) continue;
    if (requests_[counted_] != MPI_REQUEST_NULL) return;
    ++received_;
  }
}

bool Broadcast::test() {
  while (!done() && advance()) {
  }
  return done();
}

// A receive blocks this rank, so it precedes the sends.
Pending Broadcast::pending() const {
  if (done()) return {};
  if (is_collective_) return Pending::with_all_of(communicator_);
  std::optional<Pending> send;
  for (std::size_t i = 0; i < next_step_; ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (steps_[i].receive) return Pending::from(communicator_, steps_[i].peer);
    send = Pending::to(communicator_, steps_[i].peer);
  }
  return send.value_or(Pending{});
}

void Broadcast::wait_until_arrived() {
  while (!arrived()) wait_until([this] { return advance(); }, pending());
}

void Broadcast::wait() {
  while (!done()) wait_until([this] { return advance(); }, pending());
}

}  // namespace glinpack
