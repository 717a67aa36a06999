// A transport that sends nothing: placeholders arrive in place of messages. `glinpack plu --compute-only`.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "base/memory_count.hpp"
#include "lu/panel/panel.hpp"
#include "lu/panel/tournament.hpp"
#include "lu/parameters.hpp"
#include "transport/transport.hpp"

namespace glinpack {

/// Pivots of a pass like those of a random matrix: for column j of the panel a row drawn from the rows j ... that may
/// be its pivot, all remaining ones (partial, tournament) or those of the pivot's process row (local), each as likely.
/// The same on every rank and in every run.
std::vector<GlobalIndex> synthetic_pivots(const Distribution& distribution, Pivoting pivoting, Index pass);

/// Rows that the synthetic pivots of all passes take from one process row to another.
Index rows_exchanged(const Distribution& distribution, Pivoting pivoting);

/// Numbers of either sign, 1/(4n) ... 1/(2n) in magnitude. As L or U of a matrix of order n they let no element grow
/// more than e-fold over all passes: a pass multiplies by at most 1 + nb/n.
template <class Real>
void fill_with_placeholders(std::span<Real> values, Index n) {
  const auto bound = static_cast<Real>(0.5 / static_cast<double>(n));
  std::minstd_rand generator;  // its 31 bits are plenty: the lowest one gives the sign
  constexpr auto range = static_cast<Real>(std::minstd_rand::max());
  for (Real& value : values) {
    const auto bits = generator();
    const Real magnitude = bound * (Real{1} + static_cast<Real>(bits) / range) / 2;
    value = bits % 2 == 0 ? magnitude : -magnitude;
  }
}

/// Placeholders have the extents and the magnitudes of real messages: synthetic pivots, small numbers for L and U, and
/// sent rows for received rows. A pivot row of another rank has a large diagonal element, so that multipliers are
/// small. A tournament's winners depend on rows that messages bring: only a backend that computes nothing has one here.
template <class Real>
class NoTransport : public Transport<Real> {
 public:
  /// Numbers for messages of up to `largest` elements are made here, before the run is timed; 0: placeholders are
  /// pivots and row numbers alone, for a backend that computes nothing. `column_shares_memory`: as the ranks of this
  /// process column would by messages.
  NoTransport(const Distribution& distribution, GridPosition position, Pivoting pivoting, std::size_t largest,
              bool column_shares_memory = false)
      : distribution_(distribution),
        position_(position),
        pivoting_(pivoting),
        numbers_(counted_vector<Real>(static_cast<Index>(largest))),
        column_shares_memory_(column_shares_memory) {
    fill_with_placeholders(std::span(numbers_), distribution.n);
  }

  std::unique_ptr<Transfer> start_broadcast(MessageKind kind, const PassPlan& pass, std::span<Real> message,
                                            Index column, MessagePlace) override {
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
  // With pivots, a direct exchange of rows delivers the rows to send as the rows received: it has as many of each.
  std::unique_ptr<Transfer> start_exchange(MessageKind kind, const PassPlan& pass, const RowExchangePlan& plan,
                                           Index columns, Real* buffer, MessagePlace) override {
    const bool of_panel = kind == MessageKind::panel;
    if (!of_panel && plan.u_rows.empty() && !numbers_.empty()) {
      const auto rows = static_cast<Index>(std::min(plan.rows_to_gather.size(), plan.rows_to_scatter.size()));
      std::copy_n(buffer + plan.gather_first * columns, rows * columns, buffer + plan.scatter_first * columns);
      return nullptr;
    }
    for (const TransferRound& round : plan.rounds) {
      for (const RowTransfer& transfer : round) {
        if (!transfer.receives) continue;
        for (const RowRange& range : transfer.ranges) {
          const Index first = range.first * columns;  // numbers the values, so that rows of the buffer differ
          fill({buffer + first, static_cast<std::size_t>(range.count * columns)}, of_panel ? 0 : first);
        }
        if (!of_panel || pass.in_pivot_row) continue;
        write_panel_header(buffer + transfer.ranges.front().first, std::nullopt, pivots_of(pass));
      }
    }
    return nullptr;
  }
  bool column_shares_memory() const override { return column_shares_memory_; }
  // If the synthetic pivot is among this rank's rows, its own candidate is the pivot; otherwise a placeholder arrives.
  void reduce_candidates(const PassPlan& pass, Index column, CandidateMessage<Real>& candidates) override {
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
  void send(const PassPlan&, Index, int, std::span<const Real>) override {}
  // Candidates are numbers of rows alone: only recordings have tournaments here.
  void receive(const PassPlan& pass, Index column, int from, std::span<Real> message) override {
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

 private:
  const std::vector<GlobalIndex>& pivots_of(const PassPlan& pass) {
    if (pivots_pass_ != pass.pass) pivots_ = synthetic_pivots(distribution_, pivoting_, pass.pass);
    pivots_pass_ = pass.pass;
    return pivots_;
  }
  void fill(std::span<Real> message, Index first = 0) {
    if (numbers_.empty()) return;
    const std::size_t end = static_cast<std::size_t>(first) + message.size();
    if (numbers_.size() < end) {
      numbers_.resize(end);
      fill_with_placeholders(std::span(numbers_), distribution_.n);
    }
    std::copy_n(numbers_.begin() + first, message.size(), message.begin());
  }

  const Distribution& distribution_;
  GridPosition position_;
  Pivoting pivoting_;
  Index pivots_pass_ = -1;
  std::vector<GlobalIndex> pivots_;  // of that pass
  std::vector<Real> numbers_;        // copied into messages
  bool column_shares_memory_;
};

}  // namespace glinpack
