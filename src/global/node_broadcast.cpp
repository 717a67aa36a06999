#include "global/node_broadcast.hpp"

#include <utility>

#include "global/communication.hpp"

namespace glinpack {

NodeBroadcast::NodeBroadcast(MPI_Comm communicator, BroadcastKind kind, int root, void* data, Index count,
                             MPI_Datatype type, int tag, NodeWindow* window)
    : communicator_(communicator), data_(data), window_(window) {
  if (window == nullptr) {
    messages_.emplace(communicator, kind, root, data, count, type, tag);
    return;
  }
  int rank = 0;
  int type_size = 0;
  GLINPACK_MPI(MPI_Comm_rank(communicator, &rank));
  GLINPACK_MPI(MPI_Type_size(type, &type_size));
  bytes_ = static_cast<std::size_t>(count) * static_cast<std::size_t>(type_size);
  number_ = window->next_message();
  in_node_done_ = false;
  NodePlaces places = node_places(window->nodes(), root, rank);
  leader_ = places.leader;
  if (places.leads) messages_.emplace(communicator, kind, std::move(places.leaders), data, count, type, tag);
  // what the others of the node wait for now would else wait for this rank to come by again
  if (rank == root) wait_until_arrived();
}

// The leader copies in, the others copy out; true when that is done.
bool NodeBroadcast::test_in_node() {
  if (in_node_done_) return true;
  if (messages_) {
    if (!messages_->arrived() || !window_->is_free(number_)) return false;
    window_->copy_in(number_, data_, bytes_);
  } else {
    if (!window_->has_begun(number_)) return false;
    const PendingNote note(Pending::from(communicator_, leader_));  // slices that it has still to copy in
    window_->copy_out(number_, data_, bytes_);
  }
  in_node_done_ = true;
  return true;
}

bool NodeBroadcast::test() {
  const bool sent = !messages_ || messages_->test();
  return test_in_node() && sent;
}

// Messages first; then those of the node get the data from its leader, which waits for a slot that they have read.
Pending NodeBroadcast::pending() const {
  if (!messages_) return Pending::from(communicator_, leader_);
  return messages_->arrived() ? Pending::with_all_of(communicator_) : messages_->pending();
}

void NodeBroadcast::wait_until_arrived() {
  if (window_ == nullptr) return messages_->wait_until_arrived();
  const auto test_and_help = [this] {
    test();
    if (arrived()) return true;
    make_progress(communicator_);
    return false;
  };
  wait_until(test_and_help, pending());
}

void NodeBroadcast::wait() {
  wait_until_arrived();
  if (messages_) messages_->wait();
}

}  // namespace glinpack
