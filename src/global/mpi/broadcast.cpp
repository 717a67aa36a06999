#include "mpi/broadcast.hpp"

#include <algorithm>
#include <span>
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
  if (mine.parent >= 0) steps.push_back({mine.parent, 0, count, true, false});
  bool first = true;
  for (const int child : mine.children) {
    steps.push_back({child, 0, count, false, first && mine.parent >= 0});
    first = false;
  }
  return steps;
}

// Those of PipelinedRing.
std::vector<BroadcastStep> pipelined_steps(int size, int place, Index count, Index pieces) {
  std::vector<BroadcastStep> steps;
  pieces = std::min(count, pieces);
  for (Index i = 0; i < pieces; ++i) {
    const Index begin = count * i / pieces, end = count * (i + 1) / pieces;
    if (place > 0) steps.push_back({place - 1, begin, end - begin, true, false});
    if (place + 1 < size) steps.push_back({place + 1, begin, end - begin, false, place > 0});
  }
  return steps;
}

// Scatter, then roll: the root sends the i-th of `members` pieces to the i-th member. Then pieces circulate in the ring
// of members until each member has all of them. Modified: place 1 receives the whole message and is not a member.
std::vector<BroadcastStep> long_steps(bool modified, int size, int place, Index count) {
  const bool aside = modified && size > 2;
  if (aside && place == 1) return {{0, 0, count, true, false}};
  std::vector<BroadcastStep> steps;
  const int members = aside ? size - 1 : size;
  const auto member_place = [&](int member) { return aside && member > 0 ? member + 1 : member; };
  const int self = aside && place > 0 ? place - 1 : place;
  const auto piece = [&](int member, int peer, bool receive, bool after_earlier) {
    const Index begin = count * member / members;
    steps.push_back({peer, begin, count * (member + 1) / members - begin, receive, after_earlier});
  };
  if (place == 0) {
    if (aside) steps.push_back({1, 0, count, false, false});
    for (int member = 1; member < members; ++member) piece(member, member_place(member), false, false);
  } else {
    piece(self, 0, true, false);
  }
  const int left = member_place((self + members - 1) % members);
  const int right = member_place((self + 1) % members);
  for (int turn = 0; turn < members - 1; ++turn) {
    const int sent = (self - turn + members) % members;
    const int received = (self - turn - 1 + 2 * members) % members;
    // the root receives nothing: its left neighbour keeps the last pieces
    if (right != 0) piece(sent, right, false, place != 0);
    if (place != 0) piece(received, left, true, false);
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
  constexpr Index least = 256 * 1024;
  constexpr Index most = 16;
  return std::clamp<Index>(bytes / least, 1, most);
}

std::vector<int> ring_order(MPI_Comm communicator, int root) {
  const int size = size_of(communicator);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  for (int place = 0; place < size; ++place) ranks[static_cast<std::size_t>(place)] = (root + place) % size;
  return ranks;
}

// The increasing ring with its message in pieces. A place forwards one piece while it receives the next, so that the
// last place waits for little more than one message.
class Broadcast::PipelinedRing {
 public:
  // `parent`: the sending rank, -1 on the root; `child`: the receiving rank, -1 on the last place.
  PipelinedRing(MPI_Comm communicator, int parent, int child, void* data, Index count, MPI_Datatype type, int tag);
  PipelinedRing(const PipelinedRing&) = delete;
  PipelinedRing& operator=(const PipelinedRing&) = delete;

  // Makes progress; true if a send or receive has completed.
  bool advance();
  bool done() const { return arrived() && sent_ == sends_.size(); }
  // All pieces have been received, and all sends have been posted.
  bool arrived() const { return received_ == to_receive_; }
  Pending pending() const;

 private:
  // With more receives, MPI may interleave the pieces, and all would complete at the end. The receiver limits this,
  // since it waits for the data; no rank waits for a send.
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

namespace {

bool has_ended(MPI_Request& request) {
  int ended = 0;
  GLINPACK_MPI(MPI_Test(&request, &ended, MPI_STATUS_IGNORE));
  return ended != 0;
}

}  // namespace

Broadcast::PipelinedRing::PipelinedRing(MPI_Comm communicator, int parent, int child, void* data, Index count,
                                        MPI_Datatype type, int tag)
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

void Broadcast::PipelinedRing::start_receives() {
  for (; awaited_ < std::min(to_receive_, received_ + most_receives); ++awaited_) {
    GLINPACK_MPI(MPI_Irecv(data_ + begin_of(awaited_) * type_size_,
                           static_cast<int>(begin_of(awaited_ + 1) - begin_of(awaited_)), type_, parent_, tag_,
                           communicator_, &receives_[static_cast<std::size_t>(awaited_ % most_receives)]));
  }
}

void Broadcast::PipelinedRing::start_send(Index piece) {
  if (child_ < 0) return;
  sends_.push_back(MPI_REQUEST_NULL);
  GLINPACK_MPI(MPI_Isend(data_ + begin_of(piece) * type_size_, static_cast<int>(begin_of(piece + 1) - begin_of(piece)),
                         type_, child_, tag_, communicator_, &sends_.back()));
}

bool Broadcast::PipelinedRing::advance() {
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

Pending Broadcast::PipelinedRing::pending() const {
  if (!arrived()) return Pending::from(communicator_, parent_);
  return done() ? Pending{} : Pending::to(communicator_, child_);
}

Broadcast::Broadcast(MPI_Comm communicator, BroadcastKind kind, int root, void* data, Index count, MPI_Datatype type,
                     int tag)
    : Broadcast(communicator, kind, ring_order(communicator, root), data, count, type, tag) {}

Broadcast::Broadcast(MPI_Comm communicator, BroadcastKind kind, std::vector<int> members, void* data, Index count,
                     MPI_Datatype type, int tag)
    : communicator_(communicator),
      members_(std::move(members)),
      data_(static_cast<char*>(data)),
      type_(type),
      tag_(tag),
      size_(static_cast<int>(members_.size())) {
  message_count(count);  // throws if the count exceeds int
  const int rank = rank_in(communicator);
  place_ = static_cast<int>(std::find(members_.begin(), members_.end(), rank) - members_.begin());
  if (size_ == 1 || count == 0) return;
  if (kind == BroadcastKind::ibcast) {
    to_receive_ = place_ == 0 ? 0 : 1;
    requests_.push_back(MPI_REQUEST_NULL);
    const int root = rank_at(0);
    GLINPACK_MPI(MPI_Ibcast(data, static_cast<int>(count), type, root, communicator, &requests_.back()));
    return;
  }
  if (kind == BroadcastKind::ring_pipelined) {
    pipelined_ = std::make_unique<PipelinedRing>(communicator, place_ > 0 ? rank_at(place_ - 1) : -1,
                                                 place_ + 1 < size_ ? rank_at(place_ + 1) : -1, data, count, type, tag);
    return;
  }
  steps_ = broadcast_steps(kind, size_, place_, count);
  to_receive_ = receives_not_started();
  start_ready_steps();
}

Broadcast::~Broadcast() = default;

bool Broadcast::arrived() const { return pipelined_ ? pipelined_->arrived() : to_receive_ == 0; }

void Broadcast::start_ready_steps() {
  while (next_step_ < steps_.size()) {
    const BroadcastStep& step = steps_[next_step_];
    if (step.after_earlier && !requests_.empty()) return;
    int type_size = 0;
    GLINPACK_MPI(MPI_Type_size(type_, &type_size));
    char* first = data_ + step.first * type_size;
    const int count = static_cast<int>(step.count);
    MPI_Request request = MPI_REQUEST_NULL;
    if (step.receive) {
      GLINPACK_MPI(MPI_Irecv(first, count, type_, rank_at(step.peer), tag_, communicator_, &request));
    } else {
      GLINPACK_MPI(MPI_Isend(first, count, type_, rank_at(step.peer), tag_, communicator_, &request));
    }
    requests_.push_back(request);
    ++next_step_;
  }
}

bool Broadcast::test() {
  if (pipelined_) {
    pipelined_->advance();
    return pipelined_->done();
  }
  int done = 1;
  if (!requests_.empty()) {
    GLINPACK_MPI(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE));
  }
  if (done == 0) return false;
  take_done();
  start_ready_steps();
  return requests_.empty() && next_step_ == steps_.size();
}

void Broadcast::take_done() {
  requests_.clear();
  to_receive_ = receives_not_started();  // none in MPI's own broadcast, which has no steps
}

std::size_t Broadcast::receives_not_started() const {
  return static_cast<std::size_t>(std::count_if(steps_.begin() + static_cast<std::ptrdiff_t>(next_step_), steps_.end(),
                                                [](const BroadcastStep& step) { return step.receive; }));
}

// The last of the started steps are pending. A receive among them blocks this rank, so it precedes the sends.
Pending Broadcast::pending() const {
  if (pipelined_) return pipelined_->pending();
  if (steps_.empty()) return Pending::with_all_of(communicator_);
  const auto started = std::span(steps_).first(next_step_);
  const auto pending_steps = started.last(std::min(requests_.size(), started.size()));
  for (const BroadcastStep& step : pending_steps) {
    if (step.receive) return Pending::from(communicator_, rank_at(step.peer));
  }
  return pending_steps.empty() ? Pending{} : Pending::to(communicator_, rank_at(pending_steps.back().peer));
}

void Broadcast::wait_until_arrived() {
  while (pipelined_ && !pipelined_->arrived()) wait_until([this] { return pipelined_->advance(); }, pending());
  while (!arrived()) {
    glinpack::wait(requests_, pending());
    test();
  }
}

void Broadcast::wait() {
  while (pipelined_ && !pipelined_->done()) wait_until([this] { return pipelined_->advance(); }, pending());
  do {
    glinpack::wait(requests_, pending());
  } while (!test());
}

}  // namespace glinpack
