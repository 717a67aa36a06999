#include "mpi/broadcast.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "mpi/communication.hpp"

namespace glinpack {

namespace {

struct KindNames {
  BroadcastKind kind;
  std::string_view name;
  std::string_view hpl_name;
  int digit;
};

constexpr std::array<KindNames, 8> kinds{{{BroadcastKind::ring, "ring", "1rg", 0},
                                          {BroadcastKind::ring_modified, "ring-modified", "1rM", 1},
                                          {BroadcastKind::two_rings, "two-rings", "2rg", 2},
                                          {BroadcastKind::two_rings_modified, "two-rings-modified", "2rM", 3},
                                          {BroadcastKind::long_, "long", "Lng", 4},
                                          {BroadcastKind::long_modified, "long-modified", "LnM", 5},
                                          {BroadcastKind::ibcast, "ibcast", "MPI_Ibcast", 6},
                                          {BroadcastKind::ring_pipelined, "ring-pipelined", "ring-pipelined", 7}}};

// The chains that places first ... size-1 form in two rings: first ... middle-1 and middle ... size-1.
int middle_of(int first, int size) { return first + (size - first + 1) / 2; }

}  // namespace

std::string_view name_of(BroadcastKind kind) { return kinds[static_cast<std::size_t>(kind)].name; }

std::string_view name_of(NodeTransport transport) { return transport == NodeTransport::shared ? "shared" : "mpi"; }

int hpl_digit(BroadcastKind kind) { return kinds[static_cast<std::size_t>(kind)].digit; }

std::optional<BroadcastKind> broadcast_from_name(std::string_view name) {
  for (const KindNames& entry : kinds) {
    const bool is_digit = name.size() == 1 && name[0] == '0' + entry.digit && entry.digit <= 5;
    if (name == entry.name || name == entry.hpl_name || is_digit) return entry.kind;
  }
  return std::nullopt;
}

ForwardingPlace forwarding_place(BroadcastKind kind, int size, int place) {
  const bool modified = kind == BroadcastKind::ring_modified || kind == BroadcastKind::two_rings_modified;
  const bool two = kind == BroadcastKind::two_rings || kind == BroadcastKind::two_rings_modified;
  // modified: place 1 receives first and forwards nothing, so that it can start the next panel
  const int first = modified ? 2 : 1;
  const int second = two ? middle_of(first, size) : size;  // head of the second chain
  ForwardingPlace result;
  if (place == 0) {
    if (modified && size > 1) result.children.push_back(1);
    if (first < size) result.children.push_back(first);
    if (second < size) result.children.push_back(second);
    return result;
  }
  if (place < first || place == first || place == second) {
    result.parent = 0;
  } else {
    result.parent = place - 1;
  }
  const bool in_chain = place >= first;
  const bool ends_chain = place + 1 == second || place + 1 == size;
  if (in_chain && !ends_chain) result.children.push_back(place + 1);
  return result;
}

namespace {

std::vector<BroadcastStep> forwarding_steps(BroadcastKind kind, int size, int place, Index count) {
  std::vector<BroadcastStep> steps;
  const ForwardingPlace mine = forwarding_place(kind, size, place);
  const bool is_root = mine.parent < 0;
  if (!is_root) steps.push_back({mine.parent, 0, count, true, 0});
  for (const int child : mine.children) steps.push_back({child, 0, count, false, is_root ? 0 : 1});
  return steps;
}

// The increasing ring with its message in pieces. A place forwards one piece while it receives the next, so that the
// last place waits for little more than one message. Two receives are posted at a time: with more, MPI may interleave
// the pieces, and all would complete at the end.
std::vector<BroadcastStep> pipelined_steps(int size, int place, Index count, Index pieces) {
  std::vector<BroadcastStep> steps;
  pieces = std::min(count, pieces);
  const auto add = [&](Index piece, int peer, bool receive, Index after_receives) {
    const Index begin = count * piece / pieces;
    steps.push_back({peer, begin, count * (piece + 1) / pieces - begin, receive, after_receives});
  };
  const bool is_root = place == 0, is_last = place + 1 == size;
  for (Index i = 0; i <= pieces; ++i) {
    if (i < pieces && !is_root) add(i, place - 1, true, std::max<Index>(0, i - 1));
    if (i > 0 && !is_last) add(i - 1, place + 1, false, is_root ? 0 : i);
  }
  return steps;
}

// Scatter, then roll: the root sends the i-th of `members` pieces to the i-th member. Then pieces circulate in the ring
// of members until each member has all of them. Modified: place 1 receives the whole message and is not a member.
std::vector<BroadcastStep> long_steps(bool modified, int size, int place, Index count) {
  const bool aside = modified && size > 2;
  if (aside && place == 1) return {{0, 0, count, true, 0}};
  std::vector<BroadcastStep> steps;
  const int members = aside ? size - 1 : size;
  const auto member_place = [&](int member) { return aside && member > 0 ? member + 1 : member; };
  const int self = aside && place > 0 ? place - 1 : place;
  const auto piece = [&](int member, int peer, bool receive, Index after_receives) {
    const Index begin = count * member / members;
    steps.push_back({peer, begin, count * (member + 1) / members - begin, receive, after_receives});
  };
  if (place == 0) {
    if (aside) steps.push_back({1, 0, count, false, 0});
    for (int member = 1; member < members; ++member) piece(member, member_place(member), false, 0);
  } else {
    piece(self, 0, true, 0);
  }
  const int left = member_place((self + members - 1) % members);
  const int right = member_place((self + 1) % members);
  for (int turn = 0; turn < members - 1; ++turn) {
    const int sent = (self - turn + members) % members;
    const int received = (self - turn - 1 + 2 * members) % members;
    // the root receives nothing: its left neighbour keeps the last pieces
    if (right != 0) piece(sent, right, false, place != 0 ? turn + 1 : 0);
    if (place != 0) piece(received, left, true, 0);
  }
  return steps;
}

}  // namespace

std::vector<BroadcastStep> broadcast_steps(BroadcastKind kind, int size, int place, Index count, Index pieces) {
  if (size == 1 || count == 0) return {};
  switch (kind) {
    case BroadcastKind::long_:
    case BroadcastKind::long_modified:
      return long_steps(kind == BroadcastKind::long_modified, size, place, count);
    case BroadcastKind::ring_pipelined:
      return pipelined_steps(size, place, count, pieces);
    case BroadcastKind::ring:
    case BroadcastKind::ring_modified:
    case BroadcastKind::two_rings:
    case BroadcastKind::two_rings_modified:
      return forwarding_steps(kind, size, place, count);
    case BroadcastKind::ibcast:
      break;  // MPI's own
  }
  throw std::logic_error("broadcast_steps: MPI_Ibcast has no steps of its own");
}

Index pieces_of_message(Index bytes) {
  constexpr Index smallest_piece = 256 * 1024;
  constexpr Index most_pieces = 16;
  return std::clamp<Index>(bytes / smallest_piece, 1, most_pieces);
}

std::vector<int> ring_order(MPI_Comm communicator, int root) {
  const int size = size_of(communicator);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  for (int place = 0; place < size; ++place) ranks[static_cast<std::size_t>(place)] = (root + place) % size;
  return ranks;
}

Broadcast::Broadcast(MPI_Comm communicator, BroadcastKind kind, int root, void* data, Index count, MPI_Datatype type,
                     int tag)
    : Broadcast(communicator, kind, ring_order(communicator, root), data, count, type, tag) {}

Broadcast::Broadcast(MPI_Comm communicator, BroadcastKind kind, std::vector<int> members, void* data, Index count,
                     MPI_Datatype type, int tag)
    : communicator_(communicator),
      is_collective_(is_mpi_collective(kind)),
      members_(std::move(members)),
      data_(static_cast<char*>(data)),
      type_(type),
      tag_(tag) {
  message_count(count);  // throws if the count exceeds int
  const auto size = static_cast<int>(members_.size());
  if (size == 1 || count == 0) return;
  GLINPACK_MPI(MPI_Type_size(type, &type_size_));
  const int rank = rank_in(communicator);
  const auto place = static_cast<int>(std::find(members_.begin(), members_.end(), rank) - members_.begin());
  if (is_collective_) {
    if (size != size_of(communicator)) throw std::logic_error("MPI_Ibcast among some ranks of a communicator");
    steps_.push_back({0, 0, count, place > 0, 0});
  } else {
    steps_ = broadcast_steps(kind, size, place, count, pieces_of_message(count * type_size_));
  }
  to_receive_ = std::count_if(steps_.begin(), steps_.end(), [](const BroadcastStep& step) { return step.receive; });
  ended_.resize(steps_.size());
  start_ready_steps();
}

bool Broadcast::arrived() const { return received_ == to_receive_; }

void Broadcast::start_ready_steps() {
  for (; next_step_ < steps_.size() && steps_[next_step_].after_receives <= received_; ++next_step_) {
    requests_.push_back(start(steps_[next_step_]));
    ++pending_;
  }
}

MPI_Request Broadcast::start(const BroadcastStep& step) const {
  char* first = data_ + step.first * type_size_;
  const int count = static_cast<int>(step.count), peer = rank_at(step.peer);
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
    if (steps_[i].receive) return Pending::from(communicator_, rank_at(steps_[i].peer));
    send = Pending::to(communicator_, rank_at(steps_[i].peer));
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
