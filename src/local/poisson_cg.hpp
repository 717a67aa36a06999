// Conjugate gradients for the elliptic test problem, the same for one process and for many.
#pragma once

#include "local/poisson_strip.hpp"

namespace glinpack {

/// What is beyond a strip. One process has all of the square, and nothing to do here.
template <class Real>
class PoissonNeighbours {
 public:
  virtual ~PoissonNeighbours() = default;
  /// Makes the strip's sum the total of all strips (PoissonStrip::own_sum, set_sum).
  virtual void add_up(PoissonStrip<Real>&, PoissonSum) {}
  /// Updates all rows of the strip. Its ghost rows are those of the neighbours after this and add_up() of the residual.
  virtual void update(PoissonStrip<Real>& strip, Index iteration) {
    strip.update(iteration, {0, strip.extents().rows});
  }
};

struct CgOutcome {
  bool converged = false;
  Index iterations = 0;
  double relative_residual = 0;  // ||r|| / ||b||, of the recursion
};

/// Hestenes and Stiefel's method as the paper has it (Algorithm 1), from u = 0, on a strip after begin() with the same
/// limits, preconditioned as the strip is. What is left is in the strip. Returns when it is done. Reads back only r .
/// r: of many iterations at a time, the strips stopping by themselves at the iteration that is within the tolerance;
/// after each where multigrid makes iterations few and long.
template <class Real>
CgOutcome conjugate_gradients(PoissonStrip<Real>& strip, PoissonNeighbours<Real>& neighbours, const CgLimits& limits);

/// Iterations after which to give up: many times more than are needed. The error bound of conjugate gradients,
/// 2 ((sqrt(kappa) - 1) / (sqrt(kappa) + 1))^k with kappa < (2 (n + 1) / pi)^2, makes a relative residual of 1e-6 of
/// at most 0.32 (n + 1) ln(2e6 sqrt(kappa)) iterations: below 10 n for all n that memory holds.
Index poisson_most_iterations(Index n);

}  // namespace glinpack
