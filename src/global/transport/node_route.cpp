#include "transport/node_route.hpp"

#include <algorithm>
#include <stdexcept>

namespace glinpack {

namespace {

// The chains that places first ... size-1 form in two rings: first ... middle-1 and middle ... size-1.
int middle_of(int first, int size) { return first + (size - first + 1) / 2; }

}  // namespace

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
  constexpr Index max_pieces = 16;
  return std::clamp<Index>(bytes / smallest_piece, 1, max_pieces);
}

namespace {

/// How the ranks of a line receive a message: the first rank of each node after the root, by messages; the others copy.
struct Leaders {
  std::vector<int> all;  // in ring order; the root is the first
  int own = 0;           // of this rank's node
};

Leaders leaders_of(const NodeLine& line, int root) {
  Leaders leaders;
  std::vector<bool> has_leader(static_cast<std::size_t>(line.size));
  for (int place = 0; place < line.size; ++place) {
    const int rank = (root + place) % line.size;
    const auto node = static_cast<std::size_t>(line.node_of(rank));
    if (has_leader[node]) continue;
    has_leader[node] = true;
    leaders.all.push_back(rank);
    if (line.node_of(rank) == line.node_of(line.rank)) leaders.own = rank;
  }
  return leaders;
}

}  // namespace

NodeRoute node_route(BroadcastKind kind, NodeLine line, const RoutedMessage& message) {
  NodeRoute route;
  if (line.size == 1 || message.count == 0) return route;
  const bool receives = line.rank != message.root;
  if (is_mpi_collective(kind)) {
    route.is_collective = true;
    route.steps.push_back({message.root, 0, message.count, receives, 0});
    route.receives = receives ? 1 : 0;
    return route;
  }
  const Index bytes = message.count * message.element_bytes;
  if (static_cast<std::size_t>(bytes) > line.shared_bytes) line.nodes = {};
  const Leaders leaders = leaders_of(line, message.root);
  if (leaders.own != line.rank) {
    route.copies_from = leaders.own;
    return route;
  }
  const auto place = std::ranges::find(leaders.all, line.rank) - leaders.all.begin();
  route.steps = broadcast_steps(kind, static_cast<int>(leaders.all.size()), static_cast<int>(place), message.count,
                                pieces_of_message(bytes));
  for (BroadcastStep& step : route.steps) {
    step.peer = leaders.all[static_cast<std::size_t>(step.peer)];
    if (step.receive) ++route.receives;
  }
  for (int rank = 0; rank < line.size; ++rank) {
    if (rank != line.rank && line.node_of(rank) == line.node_of(line.rank)) route.copied_by.push_back(rank);
  }
  return route;
}

}  // namespace glinpack
