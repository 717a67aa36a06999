#include <algorithm>
#include <cmath>

#include "global/panel.hpp"
#include "global/stand_ins.hpp"

namespace glinpack {

namespace {

// Columns are eliminated one by one up to this width; above it the work is in BLAS-3.
constexpr Index narrow_width = 16;

// The panel's top block, L11 \ U11, is built up row by row on every rank of the process column, so that each can
// eliminate its own rows without another message.
template <class Real>
class PartialPivotingPanel {
 public:
  PartialPivotingPanel(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel)
      : context_(context),
        plan_(plan),
        panel_(panel),
        a_(panel.view()),
        first_row_(context.distribution.rows.first(BlockIndex(plan.pass))),
        top_elements_(static_cast<std::size_t>(plan.width * plan.width)),
        top_{top_elements_.data(), plan.width, plan.width, plan.width},
        reduction_(plan.width) {
    if (context.messages.left_out()) drawn_ = drawn_pivots(context.distribution, Pivoting::partial, plan.pass);
  }

  void run() {
    factor(0, plan_.width);
    if (panel_.zero_pivot || !(plan_.in_pivot_row || panel_.above() > 0)) return;
    const ColumnMajorView<Real> diagonal = panel_.diagonal_block();
    for (Index j = 0; j < plan_.width; ++j) std::copy_n(top_.column(j), plan_.width, diagonal.column(j));
  }

 private:
  // The first of this rank's rows that is still to be eliminated when `done` rows of the top block are.
  Index live(Index done) const { return plan_.in_pivot_row ? done : 0; }
  // Row i of the panel, all columns.
  void copy_row(Index i, Real* to) const {
    for (Index j = 0; j < plan_.width; ++j) to[j] = a_(i, j);
  }
  void set_row(ColumnMajorView<Real> a, Index i, const Real* from) const {
    for (Index j = 0; j < plan_.width; ++j) a(i, j) = from[j];
  }

  // Columns [first, first + width), all of the panel's rows; recursive, right-looking.
  void factor(Index first, Index width) {
    if (width <= narrow_width) {
      for (Index j = first; j < first + width && !panel_.zero_pivot; ++j) column(j, first + width);
      return;
    }
    const Index left = (width / 2 + narrow_width - 1) / narrow_width * narrow_width;
    const Index right = width - left;
    factor(first, left);
    if (panel_.zero_pivot) return;
    {
      const Index rows = a_.rows - live(first + left);
      const double flops = static_cast<double>(left * right) * static_cast<double>(left + 2 * rows);
      const auto scope = context_.timeline.scope(Lane::cpu, Phase::panel, 0, flops);
      // U12 <- L11^-1 A12, then A22 <- A22 - L21 U12
      const auto u12 = top_.block(first, first + left, left, right);
      context_.arithmetic.normalize(top_.block(first, first, left, left), u12);
      context_.arithmetic.reduce(a_.block(live(first + left), first, rows, left), u12,
                                 a_.block(live(first + left), first + left, rows, right));
    }
    factor(first + left, right);
  }

  // Finds the pivot of column j, exchanges its row with row j, and eliminates in columns up to `end`.
  void column(Index j, Index end) {
    offer_candidate(j);
    if (context_.messages.left_out()) {
      choose_alone(j);
    } else {
      context_.messages.candidates(reduction_);
    }
    const CandidateHeader chosen = reduction_.header();
    panel_.pivots[static_cast<std::size_t>(j)] = GlobalIndex(chosen.row);
    if (chosen.magnitude == 0) {
      panel_.zero_pivot = first_row_ + j;
      return;
    }
    const Index rows = a_.rows - live(j + 1);
    const double flops = static_cast<double>(rows) * static_cast<double>(1 + 2 * (end - j - 1));
    const auto scope = context_.timeline.scope(Lane::cpu, Phase::panel, 0, flops);
    exchange_rows(j, GlobalIndex(chosen.row));
    const std::span<Real> l(a_.column(j) + live(j + 1), static_cast<std::size_t>(rows));
    const Real* u = j + 1 < plan_.width ? &top_(j, j + 1) : nullptr;
    context_.arithmetic.eliminate_column(top_(j, j), l, u, top_.leading_dimension,
                                         a_.block(live(j + 1), j + 1, rows, end - j - 1));
  }

  void offer_candidate(Index j) {
    const auto scope = context_.timeline.scope(Lane::cpu, Phase::panel);
    const std::span<const Real> below(a_.column(j) + live(j), static_cast<std::size_t>(a_.rows - live(j)));
    const Index largest = context_.arithmetic.index_of_largest(below);
    CandidateHeader mine;
    if (largest >= 0) {
      const Index i = live(j) + largest;
      mine.magnitude = std::fabs(static_cast<double>(a_(i, j)));
      mine.row = context_.distribution.rows.global(plan_.panel_row + i, context_.position.row).value;
      copy_row(i, reduction_.candidate_row());
    }
    if (plan_.in_pivot_row) {
      mine.has_current_row = 1;
      copy_row(j, reduction_.current_row());
    }
    reduction_.set_header(mine);
  }

  // Without messages: where the drawn pivot is among this rank's rows, its own candidate is the pivot. Elsewhere a
  // stand-in comes, so large on the diagonal that the multipliers are small, whatever this rank's rows are.
  void choose_alone(Index j) {
    const Index n = context_.distribution.n;
    const auto width = static_cast<std::size_t>(plan_.width);
    CandidateHeader chosen = reduction_.header();
    const GlobalIndex drawn = drawn_[static_cast<std::size_t>(j)];
    if (chosen.row < 0 || context_.distribution.rows.owner(drawn) != context_.position.row) {
      chosen.row = drawn.value;
      chosen.magnitude = chosen.magnitude > 0 ? static_cast<double>(n) * chosen.magnitude : 1;
      fill_with_stand_ins(std::span(reduction_.candidate_row(), width), n);
      reduction_.candidate_row()[j] = static_cast<Real>(chosen.magnitude);
    }
    if (chosen.has_current_row == 0) fill_with_stand_ins(std::span(reduction_.current_row(), width), n);
    reduction_.set_header(chosen);
  }

  void exchange_rows(Index j, GlobalIndex pivot) {
    set_row(top_, j, reduction_.candidate_row());
    if (plan_.in_pivot_row) set_row(a_, j, reduction_.candidate_row());
    const bool here = context_.distribution.rows.owner(pivot) == context_.position.row;
    if (here && pivot != first_row_ + j) {
      set_row(a_, context_.distribution.rows.local(pivot) - plan_.panel_row, reduction_.current_row());
    }
  }

  const PanelContext<Real>& context_;
  const PassPlan& plan_;
  Panel<Real>& panel_;
  ColumnMajorView<Real> a_;
  GlobalIndex first_row_;
  std::vector<Real> top_elements_;
  ColumnMajorView<Real> top_;
  CandidateReduction<Real> reduction_;
  std::vector<GlobalIndex> drawn_;  // only where messages are left out
};

}  // namespace

template <class Real>
void factorize_panel_partial(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel) {
  // one process row: all candidates are here, and no row travels
  if (context.distribution.shape.rows == 1) {
    factorize_panel_local(context, plan, panel);
  } else {
    PartialPivotingPanel<Real>(context, plan, panel).run();
  }
}

template void factorize_panel_partial(const PanelContext<float>&, const PassPlan&, Panel<float>&);
template void factorize_panel_partial(const PanelContext<double>&, const PassPlan&, Panel<double>&);

}  // namespace glinpack
