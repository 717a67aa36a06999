// The global algorithm (white paper, section 3.1; HPL_pdgesv0.c), right-looking without look-ahead.
#include "global/factorize.hpp"

namespace glinpack {

namespace {

/// Share of the factorisation's 2/3 n^3 that is done when `done` of n columns are.
double share_done(Index done, Index n) {
  const double left = 1.0 - static_cast<double>(done) / static_cast<double>(n);
  return 1.0 - left * left * left;
}

}  // namespace

Factorization factorize(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid,
                        Timeline& timeline, FactorizationSteps& steps, const ProgressObserver& progress) {
  Factorization result;
  for (Index k = 0; k < distribution.passes(); ++k) {
    const PassPlan plan = plan_pass(distribution, k, grid.position());
    timeline.enter_pass(k, plan.role);

    //   [ L11 ]         [ A11 ]
    // P [ L21 ] U11  =  [ A21 ]      pivot and eliminate
    if (plan.in_pivot_column) steps.factorize_panel(plan);

    // P, L11, L21 to every process column
    steps.broadcast_panel(plan);
    result.pivots.insert(result.pivots.end(), steps.pivots().begin(), steps.pivots().end());
    result.zero_pivot = steps.zero_pivot();
    if (result.zero_pivot) break;

    // [ A12 ]        [ A12 ]
    // [ A22 ]  <-  P [ A22 ]         the right-hand side is the last column of A12, A22
    if (plan.in_pivot_row || parameters.pivoting == Pivoting::partial) steps.swap_rows(plan);

    // U12  <-  L11^-1 A12            normalize, then U12 to every process row
    steps.normalize_and_broadcast(plan);

    // A22  <-  A22 - L21 U12         reduce
    steps.reduce(plan);

    if (progress) progress(share_done(k * distribution.nb + plan.width, distribution.n));
  }
  timeline.leave_passes();
  return result;
}

}  // namespace glinpack
