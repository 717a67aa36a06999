#include "mpi/broadcast.hpp"

#include <optional>

namespace glinpack {

namespace {

NodeLine node_line(MPI_Comm communicator, const NodeWindow* window) {
  NodeLine line{.size = size_of(communicator), .rank = rank_in(communicator)};
  if (window != nullptr) line.nodes = window->nodes(), line.shared_bytes = window->largest();
  return line;
}

}  // namespace

Broadcast::Broadcast(MPI_Comm communicator, BroadcastKind kind, int root, const MpiMessage& message, NodeWindow* window)
    : communicator_(communicator),
      message_(message),
      route_(node_route(kind, node_line(communicator, window), {root, message.count, element_bytes(message.type)})),
      window_(route_.copies_in_node() ? window : nullptr),
      in_node_done_(window_ == nullptr),
      ended_(route_.steps.size()) {
  start_ready_steps();
  if (window_ == nullptr) return;
  number_ = window_->next_message();
  // on the root: the other ranks of the node need the data before this rank makes progress again
  if (route_.copies_from < 0 && have_received()) wait_until_arrived();
}

void Broadcast::start_ready_steps() {
  const std::vector<BroadcastStep>& steps = route_.steps;
  for (; next_step_ < steps.size() && steps[next_step_].after_receives <= received_; ++next_step_) {
    requests_.push_back(start(steps[next_step_]));
    ++pending_;
  }
}

MPI_Request Broadcast::start(const BroadcastStep& step) const {
  char* first = static_cast<char*>(message_.data) + step.first * element_bytes(message_.type);
  const int count = message_count(step.count), peer = step.peer;
  MPI_Request request = MPI_REQUEST_NULL;
  if (route_.is_collective) {
    GLINPACK_MPI(MPI_Ibcast(first, count, message_.type, peer, communicator_, &request));
  } else if (step.receive) {
    GLINPACK_MPI(MPI_Irecv(first, count, message_.type, peer, message_.tag, communicator_, &request));
  } else {
    GLINPACK_MPI(MPI_Isend(first, count, message_.type, peer, message_.tag, communicator_, &request));
  }
  return request;
}

bool Broadcast::advance_messages() {
  if (have_sent()) return false;
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
    if (!route_.steps[counted_].receive) continue;
    if (requests_[counted_] != MPI_REQUEST_NULL) return;
    ++received_;
  }
}

// True if this call has copied.
bool Broadcast::copy_in_node() {
  if (in_node_done_) return false;
  const auto bytes = static_cast<std::size_t>(message_.count * element_bytes(message_.type));
  if (route_.copies_from < 0) {
    if (!have_received() || !window_->is_free(number_)) return false;
    window_->copy_in(number_, message_.data, bytes);
  } else {
    if (!window_->has_begun(number_)) return false;
    const ScopedWait note(Pending::from(communicator_, route_.copies_from));  // slices that it has still to copy in
    window_->copy_out(number_, message_.data, bytes);
  }
  in_node_done_ = true;
  return true;
}

bool Broadcast::advance() {
  const bool ended = advance_messages();
  return copy_in_node() || ended;
}

bool Broadcast::test() {
  while (advance()) {
  }
  return in_node_done_ && have_sent();
}

// Messages come first, then the ranks of the node must have read the slot.
Pending Broadcast::pending() const {
  if (in_node_done_) return pending_message();
  if (route_.copies_from >= 0) return Pending::from(communicator_, route_.copies_from);
  return have_received() ? Pending::with_all_of(communicator_) : pending_message();
}

// A receive blocks this rank, so it precedes the sends.
Pending Broadcast::pending_message() const {
  if (have_sent()) return {};
  if (route_.is_collective) return Pending::with_all_of(communicator_);
  std::optional<Pending> send;
  for (std::size_t i = 0; i < next_step_; ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (route_.steps[i].receive) return Pending::from(communicator_, route_.steps[i].peer);
    send = Pending::to(communicator_, route_.steps[i].peer);
  }
  return send.value_or(Pending{});
}

template <class IsDone>
void Broadcast::wait_for(IsDone is_done) {
  const auto advance_or_help = [this] {
    if (advance()) return true;
    if (!in_node_done_) make_progress(communicator_);
    return false;
  };
  while (!is_done()) wait_until(advance_or_help, pending());
}

void Broadcast::wait_until_arrived() {
  wait_for([this] { return arrived(); });
}

void Broadcast::wait() {
  wait_for([this] { return arrived() && have_sent(); });
}

}  // namespace glinpack
