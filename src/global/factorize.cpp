// The global algorithm (white paper, section 3.1; HPL_pdgesv0.c), right-looking, and the same with look-ahead.
#include "global/factorize.hpp"

#include "global/communication.hpp"
#include "global/stop_request.hpp"

namespace glinpack {

namespace {

/// Share of the factorisation's 2/3 n^3 that is done when `done` of n columns are.
double share_done(Index done, Index n) {
  const double left = 1.0 - static_cast<double>(done) / static_cast<double>(n);
  return 1.0 - left * left * left;
}

class Driver {
 public:
  Driver(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid, bool in_background,
         Timeline& timeline, FactorizationSteps& steps, const ProgressObserver& progress)
      : in_background_(in_background),
        pieces_(steps.takes_pieces() ? parameters.row_swap.pieces : 1),
        distribution_(distribution),
        position_(grid.position()),
        stop_(grid.all(), distribution.passes(), parameters.parts != RunParts::compute),
        timeline_(timeline),
        steps_(steps),
        progress_(progress) {}

  Factorization run() {
    for (Index k = 0; k < distribution_.passes(); ++k) {
      const PassPlan plan = entered(k);
      if (ends_before(k)) break;
      start_panel(plan);
      if (!take_panel(plan)) break;
      update_from(0, plan);
      report(plan);
    }
    return finished();
  }

  // While pass k reduces, panel k + 1 is factorised and on its way.
  Factorization run_ahead() {
    PassPlan plan = entered(0);
    start_panel(plan);
    for (Index k = 0; k < distribution_.passes(); ++k) {
      plan = entered(k);
      if (ends_before(k) || !take_panel(plan)) break;
      if (k + 1 < distribution_.passes()) {
        update_ahead(plan, plan_pass(distribution_, k + 1, position_));
      } else {
        update_from(0, plan);
      }
      report(plan);
    }
    return finished();
  }

 private:
  PassPlan entered(Index k) {
    PassPlan plan = plan_pass(distribution_, k, position_);
    timeline_.enter_pass(k, plan.role);
    return plan;
  }

  // A signal may ask for an end. Without messages, ranks leave the passes one by one (zero pivots), and cannot agree.
  bool ends_before(Index k) {
    if (!stop_.ends_before(k)) return false;
    steps_.abandon();
    result_.ended_before = k;
    return true;
  }

  //   [ L11 ]         [ A11 ]
  // P [ L21 ] U11  =  [ A21 ]      pivot and eliminate; P, L11, L21 to every process column
  void start_panel(const PassPlan& plan) {
    if (plan.in_pivot_column) {
      steps_.fetch_panel(plan);
      steps_.factorize_panel(plan);
    }
    steps_.start_broadcast(plan);
  }

  // P, L11, L21 here, and the first piece of the trailing columns updated but for its reduction. False where the panel
  // has a zero pivot.
  bool take_panel(const PassPlan& plan) {
    steps_.finish_broadcast(plan);
    result_.pivots.insert(result_.pivots.end(), steps_.pivots().begin(), steps_.pivots().end());
    result_.zero_pivot = steps_.zero_pivot();
    if (result_.zero_pivot) return false;
    const ColumnRange piece = first_piece(plan.trailing_columns, distribution_.nb, pieces_);
    steps_.start_swap(plan, piece);
    steps_.finish_swap_and_normalize(plan, piece);
    return true;
  }

  // [ A12 ]        [ A12 ]
  // [ A22 ]  <-  P [ A22 ]         the right-hand side is the last column of A12, A22
  //   U12    <-  L11^-1 A12        normalize, before or after its rows came to every process row
  //   A22    <-  A22 - L21 U12     from some trailing column of the first piece on
  // Piece by piece: rows of the next one change places while one is reduced.
  void update_from(Index first, const PassPlan& plan) {
    timeline_.enter_pass(plan.pass, plan.role);
    ColumnRange piece = first_piece(plan.trailing_columns, distribution_.nb, pieces_);
    ColumnRange reduced{first, piece.count - first};
    for (;;) {
      const ColumnRange next = piece_after(piece, plan.trailing_columns);
      if (next.count > 0) steps_.start_swap(plan, next);
      steps_.reduce(plan, reduced);
      if (next.count == 0) return;
      steps_.finish_swap_and_normalize(plan, next);
      piece = reduced = next;
    }
  }

  // The same, first in the columns of the next panel, where these are here. The host factorises that panel while the
  // rest is reduced, or before, where it is the host that reduces; its broadcast goes on meanwhile.
  void update_ahead(const PassPlan& plan, const PassPlan& next) {
    const Index ahead = next.in_pivot_column ? next.width : 0;
    if (ahead > 0) {
      steps_.reduce(plan, {0, ahead});
      timeline_.enter_pass(next.pass, next.role);
      steps_.fetch_panel(next);
    }
    if (in_background_) update_from(ahead, plan);
    timeline_.enter_pass(next.pass, next.role);
    if (ahead > 0) steps_.factorize_panel(next);
    steps_.start_broadcast(next);
    if (!in_background_) update_from(ahead, plan);
  }

  void report(const PassPlan& plan) const {
    if (progress_) progress_(share_done(plan.pass * distribution_.nb + plan.width, distribution_.n));
  }

  Factorization finished() {
    stop_.finish();
    timeline_.leave_passes();
    return std::move(result_);
  }

  bool in_background_;
  Index pieces_;  // of the trailing columns
  const Distribution& distribution_;
  GridPosition position_;
  StopAgreement stop_;
  Timeline& timeline_;
  FactorizationSteps& steps_;
  const ProgressObserver& progress_;
  Factorization result_;
};

}  // namespace

Factorization factorize(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid,
                        Timeline& timeline, FactorizationSteps& steps, const ProgressObserver& progress) {
  steps.agree();
  // the same order on all ranks, for there are messages in what is updated: one may have a GPU, another software
  const bool in_background = all_agree(grid.all(), steps.reduces_in_background());
  Driver driver(parameters, distribution, grid, in_background, timeline, steps, progress);
  return parameters.lookahead > 0 && steps.can_look_ahead() ? driver.run_ahead() : driver.run();
}

}  // namespace glinpack
