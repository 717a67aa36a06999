#include "lu/panel/tournament.hpp"

#include <algorithm>

#include "base/row_interchanges.hpp"

namespace glinpack {

namespace {

// A RowsMessage that owns its memory.
template <class Real>
class OwnedRows {
 public:
  OwnedRows(Index numbers, Index rows, Index width)
      : elements_(static_cast<std::size_t>(RowsMessage<Real>::elements(numbers, rows, width))),
        numbers_(numbers),
        count_(rows),
        width_(width) {}

  RowsMessage<Real> view() { return {elements_, numbers_, count_, width_}; }
  std::span<Real> message() { return elements_; }
  Index count() const { return count_; }
  void set_number(Index i, Index value) { view().set_number(i, value); }
  Index number(Index i) { return view().number(i); }
  ColumnMajorView<Real> rows() { return view().rows(); }

 private:
  std::vector<Real> elements_;
  Index numbers_;
  Index count_;
  Index width_;
};

// The rows of a panel in host memory.
template <class Real>
class HostPanelRows final : public PanelRows<Real> {
 public:
  using typename PanelRows<Real>::Choice;
  using typename PanelRows<Real>::Winners;

  HostPanelRows(const RankContext<Real>& context, ColumnMajorView<Real> a) : context_(context), a_(a) {}

  Choice choose(const TournamentBlock& block, Index first, Index count, ColumnMajorView<Real> factors) override {
    const auto scope = context_.timeline().scope(Lane::cpu, Phase::panel, 0, lu_flops(count, block.width));
    Choice choice{std::vector<Index>(static_cast<std::size_t>(std::min(count, block.width))), {}};
    choice.zero =
        context_.backend.panel().choose_rows(a_.block(first, block.first, count, block.width), choice.rows, factors);
    for (Index& row : choice.rows) row += first;
    return choice;
  }
  void read(std::span<const Index> rows, ColumnMajorView<Real> to) override {
    context_.backend.panel().read_rows(a_, rows, to);
  }
  void write(ColumnMajorView<const Real> from, std::span<const Index> rows) override {
    context_.backend.panel().write_rows(from, rows, a_);
  }
  void solve_l21_and_update(const TournamentBlock& block, Index first, Index count, const Winners& winners) override {
    const auto w = static_cast<double>(block.width), right = static_cast<double>(winners.u12.columns);
    const auto scope =
        context_.timeline().scope(Lane::cpu, Phase::panel, 0, static_cast<double>(count) * w * (w + 2 * right));
    const ColumnMajorView<Real> l21 = a_.block(first, block.first, count, block.width);
    context_.backend.panel().solve_l21(winners.l11_u11, l21);
    context_.backend.panel().update(l21, winners.u12,
                                    a_.block(first, block.first + block.width, count, winners.u12.columns));
  }

 private:
  const RankContext<Real>& context_;
  ColumnMajorView<Real> a_;
};

template <class Real>
class TournamentPivotingPanel {
 public:
  TournamentPivotingPanel(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel,
                          PanelRows<Real>& rows)
      : context_(context),
        pass_(pass),
        panel_(panel),
        rows_(rows),
        first_row_(context.distribution.rows.first(BlockIndex(pass.pass))) {}

  void run() {
    for (const TournamentBlock& block : tournaments_of_pass(context_.distribution, pass_.pass)) {
      factorize_block(block);
      if (panel_.zero_pivot) return;
    }
  }

 private:
  // Candidates: whole rows of the panel, as they are before the block is eliminated, numbered globally.
  using Rows = OwnedRows<Real>;

  // The first local row to eliminate after `done` rows of the top block.
  Index first_active(Index done) const { return pass_.in_pivot_row ? done : 0; }
  Index rows_from(Index done) const { return pass_.panel_rows - first_active(done); }
  auto panel_scope(double flops) const { return context_.timeline().scope(Lane::cpu, Phase::panel, 0, flops); }

  void factorize_block(const TournamentBlock& block) {
    choose_own(block);
    Rows candidates = own_;
    for (const TournamentStep& step : block.steps) {
      if (step.from == context_.position().row) {
        context_.transport.send(pass_, block.first, step.to, candidates.message());
      } else if (step.to == context_.position().row) {
        Rows others(step.rows, step.rows, pass_.width);
        context_.transport.receive(pass_, block.first, step.from, others.message());
        const auto scope = panel_scope(lu_flops(candidates.count() + step.rows, block.width));
        candidates = choose_winners(block, candidates, others);
      }
    }
    Rows outcome(block.width + 1, 2 * block.width, pass_.width);
    if (pass_.in_pivot_row) write_outcome(block, candidates, outcome);  // the root of the tree
    context_.transport.broadcast(MessageKind::winners, pass_, outcome.message(), block.first);
    apply_outcome(block, outcome);
  }

  // L \ U of the last choice's rows.
  ColumnMajorView<Real> factors_of(const TournamentBlock& block) {
    factors_.resize(static_cast<std::size_t>(block.width * block.width));
    return {factors_.data(), block.width, block.width, block.width};
  }

  // Chooses the local candidates; the pivot's process row also saves the rows that the winners displace.
  void choose_own(const TournamentBlock& block) {
    auto choice = rows_.choose(block, first_active(block.first), rows_from(block.first), factors_of(block));
    zero_ = choice.zero;
    const auto count = static_cast<Index>(choice.rows.size());
    own_ = Rows(count, count, pass_.width);
    for (Index i = 0; i < count; ++i) {
      const Index row = choice.rows[static_cast<std::size_t>(i)];
      own_.set_number(i, context_.distribution.rows.global(pass_.panel_row + row, context_.position().row).value);
    }
    for (Index i = 0; i < block.width && pass_.in_pivot_row; ++i) choice.rows.push_back(block.first + i);
    const auto all = static_cast<Index>(choice.rows.size());
    read_.resize(static_cast<std::size_t>(all * pass_.width));
    const ColumnMajorView<Real> found{read_.data(), all, pass_.width, all};
    rows_.read(choice.rows, found);
    for (Index j = 0; j < pass_.width; ++j) std::copy_n(found.column(j), count, own_.rows().column(j));
    displaced_ = found.block(count, 0, all - count, pass_.width);
  }

  Rows choose_winners(const TournamentBlock& block, Rows& ours, Rows& theirs) {
    const Index our_rows = ours.count();
    const Index all = our_rows + theirs.count();
    std::vector<Real> stacked(static_cast<std::size_t>(all * block.width));
    const ColumnMajorView<Real> both{stacked.data(), all, block.width, all};
    for (Index j = 0; j < block.width; ++j) {
      std::copy_n(ours.rows().column(block.first + j), our_rows, both.column(j));
      std::copy_n(theirs.rows().column(block.first + j), all - our_rows, both.column(j) + our_rows);
    }
    std::vector<Index> chosen(static_cast<std::size_t>(std::min(all, block.width)));
    zero_ = context_.backend.panel().choose_rows(both, chosen, factors_of(block));
    const auto count = static_cast<Index>(chosen.size());
    Rows winners(count, count, pass_.width);
    for (Index i = 0; i < count; ++i) {
      const Index at = chosen[static_cast<std::size_t>(i)];
      Rows& from = at < our_rows ? ours : theirs;
      const Index row = at < our_rows ? at : at - our_rows;
      winners.set_number(i, from.number(row));
      for (Index j = 0; j < pass_.width; ++j) winners.rows()(i, j) = from.rows()(row, j);
    }
    return winners;
  }

  // On the root, whose last choice has the winners of all ranks.
  void write_outcome(const TournamentBlock& block, Rows& winners, Rows& outcome) {
    outcome.set_number(0, zero_.value_or(-1));
    std::vector<Index> chosen;
    for (Index i = 0; i < block.width; ++i) chosen.push_back(winners.number(i));
    const auto pivots = bring_to_top((first_row_ + block.first).value, chosen).pivots;
    for (Index i = 0; i < block.width; ++i) outcome.set_number(1 + i, pivots[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < pass_.width; ++j) {
      std::copy_n(winners.rows().column(j), block.width, outcome.rows().column(j));
      std::copy_n(displaced_.column(j), block.width, outcome.rows().column(j) + block.width);
    }
    for (Index j = 0; j < block.width; ++j) {
      std::copy_n(factors_.data() + j * block.width, block.width, outcome.rows().column(block.first + j));
    }
  }

  // Stores L11 \ U11, U12 and the displaced rows; then computes L21 and updates the columns to its right.
  void apply_outcome(const TournamentBlock& block, Rows& outcome) {
    const GlobalIndex top = first_row_ + block.first;
    const Index end = block.first + block.width;
    for (Index i = 0; i < block.width; ++i) {
      panel_.pivots[static_cast<std::size_t>(block.first + i)] = GlobalIndex(outcome.number(1 + i));
    }
    if (outcome.number(0) >= 0) {
      panel_.zero_pivot = top + outcome.number(0);
      return;
    }
    const auto w = static_cast<double>(block.width), right = static_cast<double>(pass_.width - end);
    const ColumnMajorView<Real> winners = outcome.rows().block(0, 0, block.width, pass_.width);
    const ColumnMajorView<Real> l11_u11 = winners.block(0, block.first, block.width, block.width);
    const ColumnMajorView<Real> u12 = winners.block(0, end, block.width, pass_.width - end);
    {
      const auto scope = panel_scope(w * (w - 1) * right);
      context_.backend.panel().solve_unit_lower(l11_u11, u12);
    }
    for (Index j = 0; j < pass_.width && panel_.l11_rows() > 0; ++j) {
      std::copy_n(winners.column(j), block.width, panel_.diagonal_block().column(j) + block.first);
    }
    write_rows(block, outcome);
    rows_.solve_l21_and_update(block, first_active(end), rows_from(end), {l11_u11, u12});
  }

  // Writes the winners on the pivot's process row, and the displaced rows on the ranks that had the winners.
  void write_rows(const TournamentBlock& block, Rows& outcome) {
    const GlobalIndex top = first_row_ + block.first;
    const auto pivots = std::span<const GlobalIndex>(panel_.pivots)
                            .subspan(static_cast<std::size_t>(block.first), static_cast<std::size_t>(block.width));
    std::vector<Index> from, to;
    for (Index i = 0; i < block.width && pass_.in_pivot_row; ++i) {
      from.push_back(i);
      to.push_back(block.first + i);
    }
    for (const GlobalRowMove& move : net_row_moves(top, pivots)) {
      const bool to_top = move.to < top + block.width;
      if (to_top || context_.distribution.rows.owner(move.to) != context_.position().row) continue;
      from.push_back(block.width + (move.from - top));
      to.push_back(context_.distribution.rows.local(move.to) - pass_.panel_row);
    }
    const auto count = static_cast<Index>(from.size());
    written_.resize(static_cast<std::size_t>(count * pass_.width));
    const ColumnMajorView<Real> arriving{written_.data(), count, pass_.width, count};
    for (Index j = 0; j < pass_.width; ++j) {
      for (Index i = 0; i < count; ++i) arriving(i, j) = outcome.rows()(from[static_cast<std::size_t>(i)], j);
    }
    rows_.write(arriving, to);
  }

  const RankContext<Real>& context_;
  const PassPlan& pass_;
  Panel<Real>& panel_;
  PanelRows<Real>& rows_;
  GlobalIndex first_row_;
  Rows own_{0, 0, 0};
  ColumnMajorView<Real> displaced_;  // in read_
  std::vector<Real> read_, written_;
  std::vector<Real> factors_;
  std::optional<Index> zero_;  // of the last choice
};

}  // namespace

std::vector<TournamentStep> tournament_steps(std::span<const Index> rows_of, int root, Index width) {
  const auto processes = static_cast<int>(rows_of.size());
  // places count from the root
  const auto process_at = [&](int place) { return (root + place) % processes; };
  std::vector<Index> candidates;
  for (int place = 0; place < processes; ++place) {
    candidates.push_back(std::min(width, rows_of[static_cast<std::size_t>(process_at(place))]));
  }
  std::vector<TournamentStep> steps;
  for (int stride = 1; stride < processes; stride *= 2) {
    for (int place = 0; place + stride < processes; place += 2 * stride) {
      const Index rows = candidates[static_cast<std::size_t>(place + stride)];
      if (rows == 0) continue;
      Index& receiver = candidates[static_cast<std::size_t>(place)];
      receiver = std::min(width, receiver + rows);
      steps.push_back({process_at(place + stride), process_at(place), rows});
    }
  }
  return steps;
}

std::vector<TournamentBlock> tournaments_of_pass(const Distribution& distribution, Index pass) {
  const GridPosition pivot = pivot_position(distribution.shape, pass);
  std::vector<Index> rows_of;
  for (int p = 0; p < distribution.shape.rows; ++p) {
    rows_of.push_back(plan_pass(distribution, pass, {p, pivot.column}).panel_rows);
  }
  const Index panel_width = distribution.pass_width(pass);
  std::vector<TournamentBlock> blocks;
  for (Index first = 0; first < panel_width; first += tournament_columns) {
    const Index width = std::min(tournament_columns, panel_width - first);
    blocks.push_back({first, width, tournament_steps(rows_of, pivot.row, width)});
    rows_of[static_cast<std::size_t>(pivot.row)] -= width;
  }
  return blocks;
}

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

template <class Real>
void factorize_panel_tournament(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel,
                                PanelRows<Real>& rows) {
  TournamentPivotingPanel<Real>(context, pass, panel, rows).run();
}

template <class Real>
void factorize_panel_tournament(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel) {
  if (context.distribution.shape.rows > 1) {
    HostPanelRows<Real> rows(context, panel.view());
    return factorize_panel_tournament(context, pass, panel, rows);
  }
  // one process row: all candidates are local, and no row is exchanged
  const auto zero = factorize_own_rows(context, pass, panel, &PanelArithmetic<Real>::factorize_tournament);
  if (zero) panel.zero_pivot = context.distribution.rows.first(BlockIndex(pass.pass)) + *zero;
}

template void factorize_panel_tournament(const RankContext<float>&, const PassPlan&, Panel<float>&);
template void factorize_panel_tournament(const RankContext<double>&, const PassPlan&, Panel<double>&);
template void factorize_panel_tournament(const RankContext<float>&, const PassPlan&, Panel<float>&, PanelRows<float>&);
template void factorize_panel_tournament(const RankContext<double>&, const PassPlan&, Panel<double>&,
                                         PanelRows<double>&);

}  // namespace glinpack
