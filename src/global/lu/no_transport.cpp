#include "lu/no_transport.hpp"

#include <algorithm>
#include <random>
#include <set>

#include "base/memory_count.hpp"
#include "lu/panel/panel.hpp"
#include "lu/panel/tournament.hpp"

namespace glinpack {

namespace {

// std::uniform_int_distribution differs from one standard library to another; ranks may not. The bias of a remainder
// of 64 bits does not matter for extents of matrices.
Index draw(std::mt19937_64& generator, Index choices) {
  return static_cast<Index>(generator() % static_cast<std::uint64_t>(choices));
}

// The process rows whose candidates are in the message from `from` to `to`.
std::set<int> process_rows_behind(const TournamentBlock& block, int from, int to) {
  std::vector<std::set<int>> behind;
  const auto rows_behind = [&behind](int row) -> std::set<int>& {
    const auto place = static_cast<std::size_t>(row);
    if (behind.size() <= place) behind.resize(place + 1);
    behind[place].insert(row);
    return behind[place];
  };
  for (const TournamentStep& step : block.steps) {
    const std::set<int> sent = rows_behind(step.from);
    if (step.from == from && step.to == to) return sent;
    rows_behind(step.to).insert(sent.begin(), sent.end());
  }
  return {from};
}

}  // namespace

std::vector<GlobalIndex> synthetic_pivots(const Distribution& distribution, Pivoting pivoting, Index pass) {
  const Index width = distribution.pass_width(pass);
  const GlobalIndex first = distribution.rows.first(BlockIndex(pass));
  const GridPosition pivot = pivot_position(distribution.shape, pass);
  const PassPlan plan = plan_pass(distribution, pass, pivot);
  std::mt19937_64 generator(static_cast<std::uint64_t>(pass));
  std::vector<GlobalIndex> pivots;
  for (Index j = 0; j < width; ++j) {
    if (pivots_across_processes(pivoting)) {
      pivots.push_back(first + j + draw(generator, distribution.n - first.value - j));
    } else {
      const LocalIndex row = plan.panel_row + j + draw(generator, plan.panel_rows - j);
      pivots.push_back(distribution.rows.global(row, pivot.row));
    }
  }
  return pivots;
}

Index rows_exchanged(const Distribution& distribution, Pivoting pivoting) {
  Index rows = 0;
  if (!pivots_across_processes(pivoting) || distribution.shape.rows == 1) return rows;
  for (Index pass = 0; pass < distribution.passes(); ++pass) {
    const auto pivots = synthetic_pivots(distribution, pivoting, pass);
    for (const GlobalRowMove& move : net_row_moves(distribution.rows.first(BlockIndex(pass)), pivots)) {
      if (distribution.rows.owner(move.from) != distribution.rows.owner(move.to)) ++rows;
    }
  }
  return rows;
}

template <class Real>
void fill_with_placeholders(std::span<Real> values, Index n) {
  const auto most = static_cast<Real>(0.5 / static_cast<double>(n));
  std::minstd_rand generator;  // its 31 bits are plenty: the lowest one gives the sign
  constexpr auto range = static_cast<Real>(std::minstd_rand::max());
  for (Real& value : values) {
    const auto bits = generator();
    const Real magnitude = most * (Real{1} + static_cast<Real>(bits) / range) / 2;
    value = bits % 2 == 0 ? magnitude : -magnitude;
  }
}

template <class Real>
const std::vector<GlobalIndex>& NoTransport<Real>::pivots_of(const PassPlan& pass) {
  if (pivots_pass_ != pass.pass) pivots_ = synthetic_pivots(distribution_, pivoting_, pass.pass);
  pivots_pass_ = pass.pass;
  return pivots_;
}

template <class Real>
NoTransport<Real>::NoTransport(const Distribution& distribution, GridPosition position, Pivoting pivoting,
                               std::size_t largest, bool column_shares_memory)
    : distribution_(distribution),
      position_(position),
      pivoting_(pivoting),
      numbers_(counted_vector<Real>(static_cast<Index>(largest))),
      column_shares_memory_(column_shares_memory) {
  fill_with_placeholders(std::span(numbers_), distribution.n);
}

template <class Real>
void NoTransport<Real>::fill(std::span<Real> message, Index first) {
  if (numbers_.empty()) return;
  const std::size_t end = static_cast<std::size_t>(first) + message.size();
  if (numbers_.size() < end) {
    numbers_.resize(end);
    fill_with_placeholders(std::span(numbers_), distribution_.n);
  }
  std::copy_n(numbers_.begin() + first, message.size(), message.begin());
}

template <class Real>
std::unique_ptr<Transfer> NoTransport<Real>::start_broadcast(MessageKind kind, const PassPlan& pass,
                                                             std::span<Real> message, Index column, MessagePlace) {
  const bool is_root = line_of(kind) == Line::row ? pass.in_pivot_column : pass.in_pivot_row;
  if (is_root) return nullptr;
  fill(message);
  if (kind == MessageKind::panel) {
    write_panel_header(message.data(), std::nullopt, pivots_of(pass));
  } else if (kind == MessageKind::u11) {
    for (Index j = 0; j < pass.width; ++j) message[static_cast<std::size_t>(j * pass.width + j)] = 1;
    message.back() = -1;  // no zero pivot
  } else if (kind == MessageKind::winners) {
    const Index width = std::min(tournament_columns, pass.width - column);
    RowsMessage<Real> winners(message, width + 1, 2 * width, pass.width);
    winners.set_number(0, -1);  // no zero pivot
    for (Index j = 0; j < width; ++j) {
      winners.set_number(1 + j, pivots_of(pass)[static_cast<std::size_t>(column + j)].value);
    }
  }
  return nullptr;
}

// Delivers the rows to send as the rows received; a direct exchange has as many of each.
template <class Real>
std::unique_ptr<Transfer> NoTransport<Real>::start_row_exchange(const PassPlan&, const RowExchangePlan& plan,
                                                                Index columns, Real* buffer, MessagePlace) {
  if (numbers_.empty()) return nullptr;
  if (plan.u_rows.empty()) {
    const auto rows = static_cast<Index>(std::min(plan.rows_to_gather.size(), plan.rows_to_scatter.size()));
    std::copy_n(buffer + plan.gather_first * columns, rows * columns, buffer + plan.scatter_first * columns);
    return nullptr;
  }
  for (const TransferRound& round : plan.rounds) {
    for (const RowTransfer& transfer : round) {
      for (const RowRange& range : transfer.ranges) {
        if (!transfer.receives) continue;
        const Index first = range.first * columns;  // rows of the buffer differ
        fill({buffer + first, static_cast<std::size_t>(range.count * columns)}, first);
      }
    }
  }
  return nullptr;
}

template <class Real>
std::unique_ptr<Transfer> NoTransport<Real>::start_panel_exchange(const PassPlan& pass, const RowExchangePlan& plan,
                                                                  Real* buffer, MessagePlace) {
  for (const RowTransfer& transfer : plan.rounds.front()) {
    if (!transfer.receives) continue;
    for (const RowRange& range : transfer.ranges) fill({buffer + range.first, static_cast<std::size_t>(range.count)});
    if (pass.in_pivot_row) continue;
    write_panel_header(buffer + transfer.ranges.front().first, std::nullopt, pivots_of(pass));
  }
  return nullptr;
}

// If the synthetic pivot is among this rank's rows, its own candidate is the pivot; otherwise a placeholder arrives.
template <class Real>
void NoTransport<Real>::reduce_candidates(const PassPlan& pass, Index column, CandidateMessage<Real>& candidates) {
  if (distribution_.shape.rows == 1) return;
  const Index n = distribution_.n;
  const auto width = static_cast<std::size_t>(pass.width);
  CandidateHeader chosen = candidates.header();
  const GlobalIndex pivot = pivots_of(pass)[static_cast<std::size_t>(column)];
  if (chosen.row < 0 || distribution_.rows.owner(pivot) != position_.row) {
    chosen.row = pivot.value;
    chosen.magnitude = chosen.magnitude > 0 ? static_cast<double>(n) * chosen.magnitude : 1;
    fill({candidates.candidate_row(), width});
    candidates.candidate_row()[column] = static_cast<Real>(chosen.magnitude);
  }
  if (chosen.has_current_row == 0) fill({candidates.current_row(), width});
  candidates.set_header(chosen);
}

// Candidates are numbers of rows alone: only recordings have tournaments here.
template <class Real>
void NoTransport<Real>::receive(const PassPlan& pass, Index column, int from, std::span<Real> message) {
  const auto blocks = tournaments_of_pass(distribution_, pass.pass);
  const TournamentBlock& block = blocks[static_cast<std::size_t>(column / tournament_columns)];
  const std::set<int> senders = process_rows_behind(block, from, position_.row);
  const Index count = candidates_in_message<Real>(static_cast<Index>(message.size()), pass.width);
  RowsMessage<Real> candidates(message, count, count, pass.width);
  GlobalIndex row = distribution_.rows.first(BlockIndex(pass.pass)) + column;
  for (Index i = 0; i < count && row.value < distribution_.n;) {
    if (senders.contains(distribution_.rows.owner(row))) {
      candidates.set_number(i++, row.value);
      ++row;
    } else {  // nor is the rest of its block
      row = GlobalIndex((row.value / distribution_.nb + 1) * distribution_.nb);
    }
  }
}

template void fill_with_placeholders(std::span<float>, Index);
template void fill_with_placeholders(std::span<double>, Index);
template class NoTransport<float>;
template class NoTransport<double>;

}  // namespace glinpack
