#include "solvers/poisson/poisson_cg.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace glinpack {
namespace {

constexpr Index iterations_between_checks = 32;

/// The index of the first square that is within the tolerance or NaN; the number of squares if there is none.
std::size_t first_end(const std::vector<double>& squares, double limit) {
  const auto ends = [&](double square) { return !(square > limit) || !std::isfinite(square); };
  return static_cast<std::size_t>(std::find_if(squares.begin(), squares.end(), ends) - squares.begin());
}

/// The whole square by multigrid.
template <class Real>
CgOutcome conjugate_gradients_by_multigrid(PoissonStrip<Real>& strip, const CgLimits& limits) {
  const double first_square = strip.own_sum(PoissonSum::residual);
  const double limit = limits.tolerance * limits.tolerance * first_square;
  CgOutcome outcome;
  for (double square = first_square;; square = strip.own_sum(PoissonSum::residual)) {
    outcome.relative_residual = first_square > 0 ? std::sqrt(square / first_square) : 0;
    outcome.converged = square <= limit;  // false for NaN
    if (outcome.converged || !std::isfinite(square) || outcome.iterations == limits.max_iterations) return outcome;
    strip.precondition();
    strip.advance_direction(outcome.iterations);
    strip.update(outcome.iterations, {0, strip.extents().rows});
    ++outcome.iterations;
  }
}

}  // namespace

template <class Real>
CgOutcome conjugate_gradients(PoissonStrip<Real>& strip, PoissonNeighbours<Real>& neighbours, const CgLimits& limits) {
  if (strip.preconditioner() == PoissonPreconditioner::multigrid) {
    return conjugate_gradients_by_multigrid(strip, limits);
  }
  neighbours.add_up(strip, PoissonSum::residual);
  double first_square = 0;
  CgOutcome outcome;
  for (Index done = 0, known = 0;;) {
    const Index stop = std::min(done + iterations_between_checks, limits.max_iterations);
    for (; done < stop; ++done) {
      strip.advance_direction(done);  // p <- r + beta p
      neighbours.add_up(strip, PoissonSum::curvature);
      neighbours.update(strip, done);  // u <- u + alpha p, r <- r - alpha A p
      neighbours.add_up(strip, PoissonSum::residual);
    }
    const bool last = done == limits.max_iterations;
    if (last) strip.advance_direction(done);  // notes the residual of the last iteration
    const std::vector<double> squares = strip.residual_squares(known, done - known + (last ? 1 : 0));
    if (known == 0) first_square = squares.front();
    const std::size_t end = first_end(squares, limits.tolerance * limits.tolerance * first_square);
    if (end < squares.size() || last) {
      const std::size_t reported = std::min(end, squares.size() - 1);
      outcome.iterations = known + static_cast<Index>(reported);
      outcome.converged = end < squares.size() && std::isfinite(squares[end]);
      outcome.relative_residual = first_square > 0 ? std::sqrt(squares[reported] / first_square) : 0;
      return outcome;
    }
    known = done;
  }
}

template CgOutcome conjugate_gradients(PoissonStrip<float>&, PoissonNeighbours<float>&, const CgLimits&);
template CgOutcome conjugate_gradients(PoissonStrip<double>&, PoissonNeighbours<double>&, const CgLimits&);

void check_poisson_strip(const PoissonExtents& extents, PoissonPreconditioner preconditioner) {
  if (extents.n < 1 || extents.rows < 1) throw std::invalid_argument("a strip without points has nothing to solve");
  if (preconditioner == PoissonPreconditioner::multigrid && extents.rows != extents.n) {
    throw std::invalid_argument("multigrid needs the whole square, not a strip of it");
  }
}

Index poisson_max_iterations(Index n) { return 10 * n + 10; }

}  // namespace glinpack
