#include "app/model/links.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lu/panel/tournament.hpp"

namespace glinpack::app::model {

namespace {

int levels(int ranks) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}  // log2, rounded up

}  // namespace

Links::Links(const MachineModel& machine, const Problem& problem) : machine_(machine), problem_(problem) {
  const int per_node = std::min(problem.arrangement.processes_per_node, problem.grid.size());
  const bool row_major = problem.order == RankOrder::row_major;
  for (int q = 0; q < problem.grid.columns; ++q) node_.push_back((row_major ? q : q * problem.grid.rows) / per_node);
  link_free_.assign(static_cast<std::size_t>(node_.back()) + 1, 0.0);
  const auto shared = [per_node](int along, int across) { return std::clamp(per_node / along, 1, across); };
  const auto [rows, columns] = problem.grid;
  column_ranks_on_node_ = row_major ? shared(columns, rows) : std::min(per_node, rows);
  row_ranks_on_node_ = row_major ? std::min(per_node, columns) : shared(rows, columns);
  rows_on_node_ = column_ranks_on_node_;
  const BroadcastKind kind = problem.parameters.broadcast;
  through_nodes_ = problem.parameters.node_transport == NodeTransport::shared && kind != BroadcastKind::ibcast;
  if (kind == BroadcastKind::long_ || kind == BroadcastKind::long_modified || kind == BroadcastKind::ibcast) return;
  const int size = static_cast<int>(members_from(0).size());
  for (int place = 0; place < size; ++place) children_.push_back(forwarding_place(kind, size, place).children);
}

double Links::message(bool same_node, double bytes, double sharing) const {
  return same_node ? machine_.seconds(Work::memory, {0, bytes, 1})
                   : machine_.seconds(Work::network, {0, sharing * bytes, 1});
}

double Links::messages_by_doubling(int ranks, int ranks_on_node, double bytes, double sharing) const {
  double seconds = 0;
  for (int distance = 1; distance < ranks; distance *= 2) seconds += message(distance < ranks_on_node, bytes, sharing);
  return seconds;
}

double Links::hand_on_in_node(double bytes) const {
  return row_ranks_on_node_ > 1 ? machine_.seconds(Work::memory, {0, bytes, 1}) : 0;
}

// In the order of the ring, the root first. With shared memory a node's first rank alone.
std::vector<Links::Member> Links::members_from(int root) const {
  const int columns = problem_.grid.columns;
  std::vector<Member> members;
  std::vector<bool> has_node(link_free_.size(), false);
  for (int i = 0; i < columns; ++i) {
    const int column = (root + i) % columns;
    const int node = node_[static_cast<std::size_t>(column)];
    if (through_nodes_ && has_node[static_cast<std::size_t>(node)]) continue;
    has_node[static_cast<std::size_t>(node)] = true;
    members.push_back({column, node});
  }
  return members;
}

std::vector<double> Links::broadcast_along_row(int root, double begin, double bytes, const std::vector<double>& ready,
                                               double beside) {
  const auto columns = static_cast<std::size_t>(problem_.grid.columns);
  std::vector<double> arrival(columns, begin);
  if (columns == 1) return arrival;
  const std::vector<Member> members = members_from(root);
  if (children_.empty()) {
    together(members, bytes, beside, ready, arrival);
  } else {
    forward(members, bytes, beside, ready, arrival);
  }
  if (!through_nodes_) return arrival;
  // the node's others have it from its first one, each when it asks for it
  std::vector<int> first_of_node(link_free_.size());
  for (const Member& member : members) first_of_node[static_cast<std::size_t>(member.node)] = member.column;
  for (std::size_t q = 0; q < columns; ++q) {
    const int first = first_of_node[static_cast<std::size_t>(node_[q])];
    if (static_cast<std::size_t>(first) == q) continue;
    arrival[q] = std::max(arrival[static_cast<std::size_t>(first)], ready[q]) + hand_on_in_node(bytes);
  }
  return arrival;
}

// From place to place (forwarding_place()), the message whole, or in pieces of which a place passes on the first ones
// while it receives the next.
void Links::forward(const std::vector<Member>& members, double bytes, double beside, const std::vector<double>& ready,
                    std::vector<double>& arrival) {
  const bool whole = problem_.parameters.broadcast != BroadcastKind::ring_pipelined;
  const auto pieces = whole ? 1.0 : static_cast<double>(pieces_of_message(static_cast<Index>(bytes)));
  const double sharing = through_nodes_ ? rows_on_node_ : rows_on_node_ * row_ranks_on_node_;
  std::vector<double> first_piece(arrival);
  for (std::size_t place = 0; place < members.size(); ++place) {
    const Member& from = members[place];
    const auto sender = static_cast<std::size_t>(from.column);
    double next = place == 0 ? arrival[sender] : std::max(first_piece[sender], ready[sender]);
    for (const int child : children_[place]) {
      const Member& to = members[static_cast<std::size_t>(child)];
      const auto receiver = static_cast<std::size_t>(to.column);
      double& link = link_free_[static_cast<std::size_t>(from.node)];
      const bool same_node = from.node == to.node;
      double start = std::max(next, ready[receiver]);
      if (!same_node) start = std::max(start, link);
      double seconds = message(same_node, bytes, sharing);
      if (place == 0 && !same_node) seconds += std::min(beside, seconds);
      first_piece[receiver] = start + seconds / pieces;
      arrival[receiver] = std::max(start + seconds, arrival[sender] + seconds / pieces);
      next = arrival[receiver] - message(same_node, 0, 1);  // the sender need not wait for the latency
      if (!same_node) link = next;
    }
  }
}

// Scatter and roll: pieces go round until all have all; the MPI library's own goes like that, or by a tree.
void Links::together(const std::vector<Member>& members, double bytes, double beside, const std::vector<double>& ready,
                     std::vector<double>& arrival) {
  const int size = static_cast<int>(members.size());
  const double sharing = through_nodes_ ? rows_on_node_ : rows_on_node_ * row_ranks_on_node_;
  double begin = arrival[static_cast<std::size_t>(members.front().column)];
  for (const Member& member : members) {
    begin = std::max(
        {begin, ready[static_cast<std::size_t>(member.column)], link_free_[static_cast<std::size_t>(member.node)]});
  }
  if (size == 1) return;
  const bool same_node = link_free_.size() == 1;
  const double pieces = 2 * (size - 1) * message(same_node, bytes / size, sharing);
  double seconds = pieces;
  if (problem_.parameters.broadcast == BroadcastKind::ibcast) {
    seconds = std::min(pieces, messages_by_doubling(size, row_ranks_on_node_, bytes, sharing));
  }
  if (!same_node) seconds += std::min(beside, seconds);
  for (std::size_t i = 0; i < members.size(); ++i) {
    link_free_[static_cast<std::size_t>(members[i].node)] = begin + seconds;
    if (i > 0) arrival[static_cast<std::size_t>(members[i].column)] = begin + seconds;
  }
}

// A rank sends the rows of U that it knows, 1/P, 2/P, ... of them, and the pivot's the displaced rows, 1/2, 1/4, ...
double Links::binary_exchange(double bytes) const {
  const int ranks = problem_.grid.rows;
  const int most = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  const double sharing = problem_.arrangement.processes_per_node;
  double seconds = 0;
  for (int distance = 1; distance < most; distance *= 2) {
    const double known = static_cast<double>(distance) / most;
    const double displaced = 1.0 / (2.0 * distance);
    seconds += message(distance < column_ranks_on_node_, (known + displaced) * bytes, sharing);
  }
  if (most == ranks) return seconds;
  // those that are too many hand in their rows, and receive the outcome
  const bool same_node = most < column_ranks_on_node_;
  return seconds + message(same_node, bytes / ranks, sharing) + message(same_node, bytes, sharing);
}

// Rows of U are evened out; displaced ones go down a tree, half of them, a quarter, ...; U goes round in pieces.
double Links::spread_roll(double bytes) const {
  const int ranks = problem_.grid.rows;
  const double sharing = problem_.arrangement.processes_per_node;
  const bool same_node = column_ranks_on_node_ >= ranks;
  double seconds = message(same_node, 0, sharing);
  double half = 0.5;
  for (int level = 0; level < levels(ranks); ++level, half /= 2) seconds += message(same_node, half * bytes, sharing);
  return seconds + (ranks - 1) * message(same_node, bytes / ranks, sharing);
}

// Rows straight to where they belong, then U12 down the column, from rank to rank.
double Links::direct(double bytes) const {
  const int ranks = problem_.grid.rows;
  const double sharing = problem_.arrangement.processes_per_node;
  const bool same_node = column_ranks_on_node_ >= ranks;
  double seconds = 0;
  if (problem_.swaps_across()) seconds += message(same_node, bytes * (ranks - 1) / ranks, sharing);
  return seconds + (ranks - 1) * message(same_node, bytes, sharing);
}

double Links::swap_messages(Index width, Index columns) const {
  if (problem_.grid.rows == 1 || columns == 0) return 0;
  const double bytes = static_cast<double>(width) * static_cast<double>(columns) * problem_.element_bytes();
  if (!problem_.all_compute_u12()) return direct(bytes);
  const bool by_pairs = kind_for(problem_.parameters.row_swap, columns) == RowSwapKind::binary_exchange;
  return by_pairs ? binary_exchange(bytes) : spread_roll(bytes);
}

double Links::swap_in_column(int column, double begin, Index width, Index columns) const {
  const double seconds = swap_messages(width, columns);
  if (column_ranks_on_node_ >= problem_.grid.rows) return begin + seconds;  // no link to share
  // what the node still sends along its rows shares the link; other columns' messages are counted in them
  const double link = link_free_[static_cast<std::size_t>(node_[static_cast<std::size_t>(column)])];
  return std::max(begin, std::min(link, begin + seconds)) + seconds;
}

double Links::panel_messages(Index width) const {
  const int ranks = problem_.grid.rows;
  if (ranks == 1) return 0;
  const double element = problem_.element_bytes();
  const auto by_doubling = [&](double elements) {
    return messages_by_doubling(ranks, column_ranks_on_node_, elements * element, 1);
  };
  const auto columns = static_cast<double>(width);
  switch (problem_.parameters.pivoting) {
    case Pivoting::local:  // U11, down the column
      return (ranks - 1) * message(column_ranks_on_node_ >= ranks, columns * columns * element, 1);
    case Pivoting::partial:  // for every column an all-reduce of the best row and the current one
      return columns * by_doubling(2 * columns);
    case Pivoting::tournament: {  // for every block of columns a match a level, then the outcome to all
      const double block = static_cast<double>(std::min(tournament_columns, width));
      return std::ceil(columns / block) * (by_doubling(block * columns) + by_doubling(2 * block * columns));
    }
  }
  return 0;
}

double Links::substitution_messages(Index width) const {
  const double bytes = static_cast<double>(width) * problem_.element_bytes();
  return messages_by_doubling(problem_.grid.columns, row_ranks_on_node_, bytes, 1) +
         messages_by_doubling(problem_.grid.rows, column_ranks_on_node_, bytes, 1);
}

}  // namespace glinpack::app::model
