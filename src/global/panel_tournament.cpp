#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "global/panel.hpp"
#include "global/panel_rows.hpp"
#include "global/row_moves.hpp"
#include "global/stand_ins.hpp"
#include "global/tournament_tree.hpp"
#include "local/row_interchanges.hpp"

namespace glinpack {

namespace {

double lu_flops(Index rows, Index columns) {
  const auto m = static_cast<double>(rows);
  const auto n = static_cast<double>(columns);
  const double k = std::min(m, n);
  return 2 * (m * n * k - (m + n) * k * k / 2 + k * k * k / 3);
}

// Numbers, as 64-bit integers, then matrices of `width` columns: how candidates and winners travel.
template <class Real>
class RowsMessage {
 public:
  RowsMessage(Index numbers, Index rows, Index width)
      : rows_(rows),
        width_(width),
        header_(numbers * static_cast<Index>(sizeof(std::int64_t) / sizeof(Real))),
        elements_(static_cast<std::size_t>(header_ + rows * width)) {}

  void set_number(Index i, Index value) {
    const std::int64_t number = value;
    std::memcpy(elements_.data() + i * number_elements, &number, sizeof number);
  }
  Index number(Index i) const {
    std::int64_t number = 0;
    std::memcpy(&number, elements_.data() + i * number_elements, sizeof number);
    return number;
  }
  ColumnMajorView<Real> rows() { return {elements_.data() + header_, rows_, width_, rows_}; }
  Real* data() { return elements_.data(); }
  Index size() const { return static_cast<Index>(elements_.size()); }

 private:
  static constexpr Index number_elements = sizeof(std::int64_t) / sizeof(Real);

  Index rows_;
  Index width_;
  Index header_;
  std::vector<Real> elements_;
};

// Of a panel in host memory.
template <class Real>
class HostPanelRows final : public PanelRows<Real> {
 public:
  using typename PanelRows<Real>::Choice;
  using typename PanelRows<Real>::Winners;

  HostPanelRows(const PanelContext<Real>& context, ColumnMajorView<Real> a) : context_(context), a_(a) {}

  Choice choose(const TournamentBlock& block, Index first, Index count, ColumnMajorView<Real> factors) override {
    const auto scope = context_.timeline.scope(Lane::cpu, Phase::panel, 0, lu_flops(count, block.width));
    Choice choice{std::vector<Index>(static_cast<std::size_t>(std::min(count, block.width))), {}};
    choice.zero =
        context_.arithmetic.choose_rows(a_.block(first, block.first, count, block.width), choice.rows, factors);
    for (Index& row : choice.rows) row += first;
    return choice;
  }
  void read(std::span<const Index> rows, ColumnMajorView<Real> to) override {
    for (Index j = 0; j < a_.columns; ++j) {
      for (Index i = 0; i < to.rows; ++i) to(i, j) = a_(rows[static_cast<std::size_t>(i)], j);
    }
  }
  void write(ColumnMajorView<const Real> from, std::span<const Index> rows) override {
    for (Index j = 0; j < a_.columns; ++j) {
      for (Index i = 0; i < from.rows; ++i) a_(rows[static_cast<std::size_t>(i)], j) = from(i, j);
    }
  }
  void eliminate(const TournamentBlock& block, Index first, Index count, const Winners& winners) override {
    const auto w = static_cast<double>(block.width), right = static_cast<double>(winners.u12.columns);
    const auto scope =
        context_.timeline.scope(Lane::cpu, Phase::panel, 0, static_cast<double>(count) * w * (w + 2 * right));
    const ColumnMajorView<Real> l21 = a_.block(first, block.first, count, block.width);
    context_.arithmetic.eliminate(winners.l11_u11, l21);
    context_.arithmetic.reduce(l21, winners.u12,
                               a_.block(first, block.first + block.width, count, winners.u12.columns));
  }

 private:
  const PanelContext<Real>& context_;
  ColumnMajorView<Real> a_;
};

template <class Real>
class TournamentPivotingPanel {
 public:
  TournamentPivotingPanel(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel,
                          PanelRows<Real>& rows)
      : context_(context),
        plan_(plan),
        panel_(panel),
        rows_(rows),
        first_row_(context.distribution.rows.first(BlockIndex(plan.pass))) {
    if (context.messages.left_out()) drawn_ = drawn_pivots(context.distribution, Pivoting::tournament, plan.pass);
  }

  void run() {
    for (const TournamentBlock& block : tournaments_of_pass(context_.distribution, plan_.pass)) {
      factor(block);
      if (panel_.zero_pivot) return;
    }
  }

 private:
  // Candidates: whole rows of the panel, as they are before the block is eliminated, numbered globally.
  using Rows = RowsMessage<Real>;

  // The first of this rank's rows that is still to be eliminated when `done` rows of the top block are.
  Index live(Index done) const { return plan_.in_pivot_row ? done : 0; }
  Index rows_from(Index done) const { return plan_.panel_rows - live(done); }
  auto panel_scope(double flops) const { return context_.timeline.scope(Lane::cpu, Phase::panel, 0, flops); }

  void factor(const TournamentBlock& block) {
    choose_own(block);
    Rows candidates = own_;
    for (const TournamentMatch& match : block.matches) {
      if (match.from == context_.position.row) {
        context_.messages.tournament_match(match, candidates.data(), candidates.size());
      } else if (match.to == context_.position.row) {
        Rows others(match.rows, match.rows, plan_.width);
        context_.messages.tournament_match(match, others.data(), others.size());
        if (context_.messages.left_out()) fill_with_stand_ins(all_of(others.rows()), context_.distribution.n);
        const auto scope = panel_scope(lu_flops(candidates.rows().rows + match.rows, block.width));
        candidates = winners_of(block, candidates, others);
      }
    }
    Rows outcome(block.width + 1, 2 * block.width, plan_.width);
    if (context_.messages.left_out()) {
      decide_alone(block, outcome);
    } else {
      if (plan_.in_pivot_row) decide(block, candidates, outcome);
      context_.messages.winners_column(plan_, outcome.data(), outcome.size());
    }
    apply(block, outcome);
  }

  static std::span<Real> all_of(ColumnMajorView<Real> a) {
    return {a.data, static_cast<std::size_t>(a.rows * a.columns)};
  }

  // L \ U of the last choice's rows.
  ColumnMajorView<Real> factors_of(const TournamentBlock& block) {
    factors_.resize(static_cast<std::size_t>(block.width * block.width));
    return {factors_.data(), block.width, block.width, block.width};
  }

  // Candidates, and on the pivot's process row what stands where the winners go.
  void choose_own(const TournamentBlock& block) {
    auto choice = rows_.choose(block, live(block.first), rows_from(block.first), factors_of(block));
    zero_ = choice.zero;
    const auto count = static_cast<Index>(choice.rows.size());
    own_ = Rows(count, count, plan_.width);
    for (Index i = 0; i < count; ++i) {
      const Index row = choice.rows[static_cast<std::size_t>(i)];
      own_.set_number(i, context_.distribution.rows.global(plan_.panel_row + row, context_.position.row).value);
    }
    for (Index i = 0; i < block.width && plan_.in_pivot_row; ++i) choice.rows.push_back(block.first + i);
    const auto all = static_cast<Index>(choice.rows.size());
    read_.resize(static_cast<std::size_t>(all * plan_.width));
    const ColumnMajorView<Real> found{read_.data(), all, plan_.width, all};
    rows_.read(choice.rows, found);
    for (Index j = 0; j < plan_.width; ++j) std::copy_n(found.column(j), count, own_.rows().column(j));
    on_top_ = found.block(count, 0, all - count, plan_.width);
  }

  Rows winners_of(const TournamentBlock& block, Rows& ours, Rows& theirs) {
    const Index our_rows = ours.rows().rows;
    const Index all = our_rows + theirs.rows().rows;
    std::vector<Real> met(static_cast<std::size_t>(all * block.width));
    const ColumnMajorView<Real> both{met.data(), all, block.width, all};
    for (Index j = 0; j < block.width; ++j) {
      std::copy_n(ours.rows().column(block.first + j), our_rows, both.column(j));
      std::copy_n(theirs.rows().column(block.first + j), all - our_rows, both.column(j) + our_rows);
    }
    std::vector<Index> chosen(static_cast<std::size_t>(std::min(all, block.width)));
    zero_ = context_.arithmetic.choose_rows(both, chosen, factors_of(block));
    const auto count = static_cast<Index>(chosen.size());
    Rows winners(count, count, plan_.width);
    for (Index i = 0; i < count; ++i) {
      const Index at = chosen[static_cast<std::size_t>(i)];
      Rows& from = at < our_rows ? ours : theirs;
      const Index row = at < our_rows ? at : at - our_rows;
      winners.set_number(i, from.number(row));
      for (Index j = 0; j < plan_.width; ++j) winners.rows()(i, j) = from.rows()(row, j);
    }
    return winners;
  }

  // On the root, whose last choice was the last of all.
  void decide(const TournamentBlock& block, Rows& winners, Rows& outcome) {
    outcome.set_number(0, zero_.value_or(-1));
    std::vector<Index> chosen;
    for (Index i = 0; i < block.width; ++i) chosen.push_back(winners.number(i));
    const auto pivots = bring_to_top((first_row_ + block.first).value, chosen).pivots;
    for (Index i = 0; i < block.width; ++i) outcome.set_number(1 + i, pivots[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < plan_.width; ++j) {
      std::copy_n(winners.rows().column(j), block.width, outcome.rows().column(j));
      if (plan_.in_pivot_row) std::copy_n(on_top_.column(j), block.width, outcome.rows().column(j) + block.width);
    }
    for (Index j = 0; j < block.width; ++j) {
      std::copy_n(factors_.data() + j * block.width, block.width, outcome.rows().column(block.first + j));
    }
  }

  // Without messages: as many winners are this rank's own as drawn ones are, its best. Stand-ins come for the others,
  // so large on the diagonal that the multipliers are small, whatever this rank's rows are.
  void decide_alone(const TournamentBlock& block, Rows& outcome) {
    const Index n = context_.distribution.n;
    fill_with_stand_ins(all_of(outcome.rows()), n);
    const GlobalIndex top = first_row_ + block.first;
    std::vector<Index> drawn(static_cast<std::size_t>(block.width));
    std::iota(drawn.begin(), drawn.end(), top.value);
    const auto positions =
        std::span<const GlobalIndex>(drawn_).subspan(static_cast<std::size_t>(block.first), drawn.size());
    for (const GlobalRowMove& move : net_row_moves(top, positions)) {
      if (move.to < top + block.width) drawn[static_cast<std::size_t>(move.to - top)] = move.from.value;
    }
    const auto is_here = [&](Index row) {
      return context_.distribution.rows.owner(GlobalIndex(row)) == context_.position.row;
    };
    const auto others = std::stable_partition(drawn.begin(), drawn.end(), is_here);
    const Index own = others - drawn.begin();
    Rows winners(block.width, block.width, plan_.width);
    fill_with_stand_ins(all_of(winners.rows()), n);
    const auto large = static_cast<Real>(static_cast<double>(n) * largest_of_own(block));
    for (Index i = 0; i < block.width; ++i) {
      winners.set_number(i, i < own ? own_.number(i) : drawn[static_cast<std::size_t>(i)]);
      if (i >= own) winners.rows()(i, block.first + i) = large;
      for (Index j = 0; j < plan_.width && i < own; ++j) winners.rows()(i, j) = own_.rows()(i, j);
    }
    Rows none(0, 0, plan_.width);
    winners = winners_of(block, winners, none);
    decide(block, winners, outcome);
  }

  // The largest magnitude among this rank's candidates; 1 where it is 0.
  double largest_of_own(const TournamentBlock& block) {
    double largest = 0;
    for (Index j = 0; j < block.width; ++j) {
      for (Index i = 0; i < own_.rows().rows; ++i) {
        largest = std::max(largest, std::fabs(static_cast<double>(own_.rows()(i, block.first + j))));
      }
    }
    return largest > 0 ? largest : 1;
  }

  // L11 \ U11, the rows of U12 and the displaced rows to their places; L21 and the columns to the right.
  void apply(const TournamentBlock& block, Rows& outcome) {
    const GlobalIndex top = first_row_ + block.first;
    const Index end = block.first + block.width;
    for (Index i = 0; i < block.width; ++i) {
      panel_.pivots[static_cast<std::size_t>(block.first + i)] = GlobalIndex(outcome.number(1 + i));
    }
    if (outcome.number(0) >= 0) {
      panel_.zero_pivot = top + outcome.number(0);
      return;
    }
    const auto w = static_cast<double>(block.width), right = static_cast<double>(plan_.width - end);
    const ColumnMajorView<Real> winners = outcome.rows().block(0, 0, block.width, plan_.width);
    const ColumnMajorView<Real> l11_u11 = winners.block(0, block.first, block.width, block.width);
    const ColumnMajorView<Real> u12 = winners.block(0, end, block.width, plan_.width - end);
    {
      const auto scope = panel_scope(w * (w - 1) * right);
      context_.arithmetic.normalize(l11_u11, u12);
    }
    for (Index j = 0; j < plan_.width && panel_.above() > 0; ++j) {
      std::copy_n(winners.column(j), block.width, panel_.diagonal_block().column(j) + block.first);
    }
    place(block, outcome);
    rows_.eliminate(block, live(end), rows_from(end), {l11_u11, u12});
  }

  // Winners on the pivot's process row, displaced rows wherever winners came from.
  void place(const TournamentBlock& block, Rows& outcome) {
    const GlobalIndex top = first_row_ + block.first;
    const auto pivots = std::span<const GlobalIndex>(panel_.pivots)
                            .subspan(static_cast<std::size_t>(block.first), static_cast<std::size_t>(block.width));
    std::vector<Index> from, to;
    for (Index i = 0; i < block.width && plan_.in_pivot_row; ++i) {
      from.push_back(i);
      to.push_back(block.first + i);
    }
    for (const GlobalRowMove& move : net_row_moves(top, pivots)) {
      const bool to_top = move.to < top + block.width;
      if (to_top || context_.distribution.rows.owner(move.to) != context_.position.row) continue;
      from.push_back(block.width + (move.from - top));
      to.push_back(context_.distribution.rows.local(move.to) - plan_.panel_row);
    }
    const auto count = static_cast<Index>(from.size());
    written_.resize(static_cast<std::size_t>(count * plan_.width));
    const ColumnMajorView<Real> arriving{written_.data(), count, plan_.width, count};
    for (Index j = 0; j < plan_.width; ++j) {
      for (Index i = 0; i < count; ++i) arriving(i, j) = outcome.rows()(from[static_cast<std::size_t>(i)], j);
    }
    rows_.write(arriving, to);
  }

  const PanelContext<Real>& context_;
  const PassPlan& plan_;
  Panel<Real>& panel_;
  PanelRows<Real>& rows_;
  GlobalIndex first_row_;
  Rows own_{0, 0, 0};
  ColumnMajorView<Real> on_top_;  // in read_
  std::vector<Real> read_, written_;
  std::vector<Real> factors_;
  std::optional<Index> zero_;       // of the last choice
  std::vector<GlobalIndex> drawn_;  // only where messages are left out
};

}  // namespace

template <class Real>
void factorize_panel_tournament(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel,
                                PanelRows<Real>& rows) {
  TournamentPivotingPanel<Real>(context, plan, panel, rows).run();
}

template <class Real>
void factorize_panel_tournament(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel) {
  if (context.distribution.shape.rows > 1) {
    HostPanelRows<Real> rows(context, panel.view());
    return factorize_panel_tournament(context, plan, panel, rows);
  }
  // one process row: all candidates are here, and no row travels
  const auto zero = factorize_own_rows(context, plan, panel, &PanelArithmetic<Real>::pivot_by_tournament);
  if (zero) panel.zero_pivot = context.distribution.rows.first(BlockIndex(plan.pass)) + *zero;
}

template void factorize_panel_tournament(const PanelContext<float>&, const PassPlan&, Panel<float>&);
template void factorize_panel_tournament(const PanelContext<double>&, const PassPlan&, Panel<double>&);
template void factorize_panel_tournament(const PanelContext<float>&, const PassPlan&, Panel<float>&, PanelRows<float>&);
template void factorize_panel_tournament(const PanelContext<double>&, const PassPlan&, Panel<double>&,
                                         PanelRows<double>&);

}  // namespace glinpack
