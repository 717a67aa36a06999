#include "lu/panel/panel.hpp"

namespace glinpack {

namespace {

// Panels up to this width are eliminated column by column, wider ones recursively by BLAS-3.
constexpr Index narrow_width = 16;

// Every rank of the process column builds the panel's top block, L11 \ U11, row by row. It then eliminates its own rows
// without further messages.
template <class Real>
class PartialPivotingPanel {
 public:
  PartialPivotingPanel(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel)
      : context_(context),
        pass_(pass),
        panel_(panel),
        a_(panel.view()),
        first_row_(context.distribution.rows.first(BlockIndex(pass.pass))),
        top_elements_(static_cast<std::size_t>(pass.width * pass.width)),
        top_{top_elements_.data(), pass.width, pass.width, pass.width},
        candidates_(pass.width) {}

  void run() {
    factorize(0, pass_.width);
    if (panel_.zero_pivot || !(pass_.in_pivot_row || panel_.l11_rows() > 0)) return;
    context_.backend.panel().write_rows(top_, top_rows(pass_.width), panel_.diagonal_block());
  }

 private:
  // The first local row to eliminate after `done` rows of the top block.
  Index first_active(Index done) const { return pass_.in_pivot_row ? done : 0; }
  // Row i of the panel, all columns, to or from contiguous elements.
  void read_row(Index i, Real* to) const {
    context_.backend.panel().read_rows(a_, std::span(&i, 1), {to, 1, pass_.width, 1});
  }
  void write_row(const Real* from, ColumnMajorView<Real> a, Index i) const {
    context_.backend.panel().write_rows({from, 1, pass_.width, 1}, std::span(&i, 1), a);
  }

  // Columns [first, first + width), all of the panel's rows; recursive, right-looking.
  void factorize(Index first, Index width) {
    if (width <= narrow_width) {
      for (Index j = first; j < first + width && !panel_.zero_pivot; ++j) factorize_column(j, first + width);
      return;
    }
    const Index left = (width / 2 + narrow_width - 1) / narrow_width * narrow_width;
    const Index right = width - left;
    factorize(first, left);
    if (panel_.zero_pivot) return;
    {
      const Index rows = a_.rows - first_active(first + left);
      const double flops = static_cast<double>(left * right) * static_cast<double>(left + 2 * rows);
      const auto scope = context_.timeline.scope(Lane::cpu, Phase::panel, 0, flops);
      // U12 <- L11^-1 A12, then A22 <- A22 - L21 U12
      const auto u12 = top_.block(first, first + left, left, right);
      context_.backend.panel().solve_unit_lower(top_.block(first, first, left, left), u12);
      context_.backend.panel().update(a_.block(first_active(first + left), first, rows, left), u12,
                                      a_.block(first_active(first + left), first + left, rows, right));
    }
    factorize(first + left, right);
  }

  // Finds the pivot of column j, exchanges its row with row j, and eliminates in columns up to `end`.
  void factorize_column(Index j, Index end) {
    find_local_candidate(j);
    context_.transport.reduce_candidates(pass_, j, candidates_);
    const CandidateHeader chosen = candidates_.header();
    panel_.pivots[static_cast<std::size_t>(j)] = GlobalIndex(chosen.row);
    if (chosen.magnitude == 0) {
      panel_.zero_pivot = first_row_ + j;
      return;
    }
    const Index rows = a_.rows - first_active(j + 1);
    const double flops = static_cast<double>(rows) * static_cast<double>(1 + 2 * (end - j - 1));
    const auto scope = context_.timeline.scope(Lane::cpu, Phase::panel, 0, flops);
    store_exchanged_rows(j, GlobalIndex(chosen.row));
    const std::span<Real> l(a_.column(j) + first_active(j + 1), static_cast<std::size_t>(rows));
    const Real* u = j + 1 < pass_.width ? &top_(j, j + 1) : nullptr;
    context_.backend.panel().eliminate_column(top_(j, j), l, u, top_.leading_dimension,
                                              a_.block(first_active(j + 1), j + 1, rows, end - j - 1));
  }

  void find_local_candidate(Index j) {
    const auto scope = context_.timeline.scope(Lane::cpu, Phase::panel);
    const std::span<const Real> below(a_.column(j) + first_active(j),
                                      static_cast<std::size_t>(a_.rows - first_active(j)));
    const PivotCandidate largest = context_.backend.panel().find_pivot(below);
    CandidateHeader mine;
    if (largest.row >= 0) {
      const Index i = first_active(j) + largest.row;
      mine.magnitude = largest.magnitude;
      mine.row = context_.distribution.rows.global(pass_.panel_row + i, context_.position().row).value;
      read_row(i, candidates_.candidate_row());
    }
    if (pass_.in_pivot_row) {
      mine.has_current_row = 1;
      read_row(j, candidates_.current_row());
    }
    candidates_.set_header(mine);
  }

  // The all-reduce has brought both rows to every rank.
  void store_exchanged_rows(Index j, GlobalIndex pivot) {
    write_row(candidates_.candidate_row(), top_, j);
    if (pass_.in_pivot_row) write_row(candidates_.candidate_row(), a_, j);
    const bool here = context_.distribution.rows.owner(pivot) == context_.position().row;
    if (here && pivot != first_row_ + j) {
      write_row(candidates_.current_row(), a_, context_.distribution.rows.local(pivot) - pass_.panel_row);
    }
  }

  const RankContext<Real>& context_;
  const PassPlan& pass_;
  Panel<Real>& panel_;
  ColumnMajorView<Real> a_;
  GlobalIndex first_row_;
  std::vector<Real> top_elements_;
  ColumnMajorView<Real> top_;
  CandidateMessage<Real> candidates_;
};

}  // namespace

template <class Real>
void factorize_panel_partial(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel) {
  // one process row: partial pivoting is local pivoting
  if (context.distribution.shape.rows == 1) {
    factorize_panel_local(context, pass, panel);
  } else {
    PartialPivotingPanel<Real>(context, pass, panel).run();
  }
}

template void factorize_panel_partial(const RankContext<float>&, const PassPlan&, Panel<float>&);
template void factorize_panel_partial(const RankContext<double>&, const PassPlan&, Panel<double>&);

}  // namespace glinpack
