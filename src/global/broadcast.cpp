#include "global/broadcast.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "global/communication.hpp"

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
  // modified: place 1 is served first and forwards nothing, so that it can go on to the next panel
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
      members_(std::move(members)),
      data_(static_cast<char*>(data)),
      count_(count),
      type_(type),
      tag_(tag),
      size_(static_cast<int>(members_.size())) {
  message_count(count);  // refuses what MPI cannot count
  const int rank = rank_in(communicator);
  place_ = static_cast<int>(std::find(members_.begin(), members_.end(), rank) - members_.begin());
  if (size_ == 1 || count == 0) return;
  if (kind == BroadcastKind::ibcast) {
    to_receive_ = place_ == 0 ? 0 : 1;
    under_way_.push_back(MPI_REQUEST_NULL);
    const int root = rank_at(0);
    GLINPACK_MPI(MPI_Ibcast(data, static_cast<int>(count), type, root, communicator, &under_way_.back()));
    return;
  }
  if (kind == BroadcastKind::ring_pipelined) {
    pipelined_.emplace(communicator, place_ > 0 ? rank_at(place_ - 1) : -1,
                       place_ + 1 < size_ ? rank_at(place_ + 1) : -1, data, count, type, tag);
    return;
  }
  if (kind == BroadcastKind::long_ || kind == BroadcastKind::long_modified) {
    plan_long(kind == BroadcastKind::long_modified);
  } else {
    plan_forwarding(kind);
  }
  to_receive_ = receives_not_started();
  start_ready_steps();
}

void Broadcast::plan_forwarding(BroadcastKind kind) {
  const ForwardingPlace mine = forwarding_place(kind, size_, place_);
  if (mine.parent >= 0) steps_.push_back({rank_at(mine.parent), 0, count_, true, false});
  bool first = true;
  for (const int child : mine.children) {
    steps_.push_back({rank_at(child), 0, count_, false, first && mine.parent >= 0});
    first = false;
  }
}

// Scatter, then roll: the root sends the i-th of `members` pieces to the i-th member; then each member passes pieces
// around the ring of members until all have all. Modified: place 1 gets the whole from the root and is no member.
void Broadcast::plan_long(bool modified) {
  const bool aside = modified && size_ > 2;
  if (aside && place_ == 1) {
    steps_.push_back({rank_at(0), 0, count_, true, false});
    return;
  }
  const int members = aside ? size_ - 1 : size_;
  const auto member_rank = [&](int member) { return rank_at(aside && member > 0 ? member + 1 : member); };
  const int self = aside && place_ > 0 ? place_ - 1 : place_;
  const auto piece = [&](int member, int peer, bool receive, bool after_earlier) {
    const Index begin = count_ * member / members;
    steps_.push_back({peer, begin, count_ * (member + 1) / members - begin, receive, after_earlier});
  };
  if (place_ == 0) {
    if (aside) steps_.push_back({rank_at(1), 0, count_, false, false});
    for (int member = 1; member < members; ++member) piece(member, member_rank(member), false, false);
  } else {
    piece(self, member_rank(0), true, false);
  }
  const int left = member_rank((self + members - 1) % members);
  const int right = member_rank((self + 1) % members);
  for (int turn = 0; turn < members - 1; ++turn) {
    const int sent = (self - turn + members) % members;
    const int received = (self - turn - 1 + 2 * members) % members;
    // the root has everything: it only feeds its right neighbour, and its left one keeps the last pieces
    if (right != rank_at(0)) piece(sent, right, false, place_ != 0);
    if (place_ != 0) piece(received, left, true, false);
  }
}

void Broadcast::start_ready_steps() {
  while (next_step_ < steps_.size()) {
    const Step& step = steps_[next_step_];
    if (step.after_earlier && !under_way_.empty()) return;
    int type_size = 0;
    GLINPACK_MPI(MPI_Type_size(type_, &type_size));
    char* first = data_ + step.first * type_size;
    const int count = static_cast<int>(step.count);
    MPI_Request request = MPI_REQUEST_NULL;
    if (step.receive) {
      GLINPACK_MPI(MPI_Irecv(first, count, type_, step.peer, tag_, communicator_, &request));
    } else {
      GLINPACK_MPI(MPI_Isend(first, count, type_, step.peer, tag_, communicator_, &request));
    }
    under_way_.push_back(request);
    ++next_step_;
  }
}

bool Broadcast::test() {
  if (pipelined_) {
    pipelined_->advance();
    return pipelined_->done();
  }
  int done = 1;
  if (!under_way_.empty()) {
    GLINPACK_MPI(MPI_Testall(static_cast<int>(under_way_.size()), under_way_.data(), &done, MPI_STATUSES_IGNORE));
  }
  if (done == 0) return false;
  take_done();
  start_ready_steps();
  return under_way_.empty() && next_step_ == steps_.size();
}

void Broadcast::take_done() {
  under_way_.clear();
  to_receive_ = receives_not_started();  // none in MPI's own broadcast, which has no steps
}

std::size_t Broadcast::receives_not_started() const {
  return static_cast<std::size_t>(std::count_if(steps_.begin() + static_cast<std::ptrdiff_t>(next_step_), steps_.end(),
                                                [](const Step& step) { return step.receive; }));
}

// The steps end with the ones under way; a rank that receives among these cannot go on without it.
Pending Broadcast::pending() const {
  if (pipelined_) return pipelined_->pending();
  if (steps_.empty()) return Pending::with_all_of(communicator_);
  const auto started = std::span(steps_).first(next_step_);
  const auto under_way = started.last(std::min(under_way_.size(), started.size()));
  for (const Step& step : under_way) {
    if (step.receive) return Pending::from(communicator_, step.peer);
  }
  return under_way.empty() ? Pending{} : Pending::to(communicator_, under_way.back().peer);
}

void Broadcast::wait_until_arrived() {
  while (pipelined_ && !pipelined_->arrived()) wait_until([this] { return pipelined_->advance(); }, pending());
  while (!arrived()) {
    glinpack::wait(under_way_, pending());
    test();
  }
}

void Broadcast::wait() {
  while (pipelined_ && !pipelined_->done()) wait_until([this] { return pipelined_->advance(); }, pending());
  do {
    glinpack::wait(under_way_, pending());
  } while (!test());
}

}  // namespace glinpack
