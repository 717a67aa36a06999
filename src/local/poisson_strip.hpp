// A horizontal strip of the unit square, where conjugate gradients for the elliptic test problem are computed: the
// vectors u, r and p of the strip's points, with the operations that an iteration is made of (poisson_cg.hpp has the
// iteration). The whole square is the strip of all rows, whose ghost rows are the boundary.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "local/poisson_problem.hpp"

namespace glinpack {

/// Rows first_row ... first_row + rows - 1 of an n x n grid; at least one.
struct PoissonExtents {
  Index n = 0;
  Index first_row = 0;
  Index rows = 0;
};

/// Rows begin ... end - 1 of a strip, counted from its first.
struct StripRows {
  Index begin = 0;
  Index end = 0;
};

/// When to stop: ||r|| <= tolerance ||b||, or after so many iterations.
struct CgLimits {
  double tolerance = 1e-6;
  Index most_iterations = 0;
};

/// What r is multiplied by to become z, in whose direction p is turned: the inverse of a matrix near A.
/// none: z = r. jacobi: of A's diagonal, z = r / 4, which leaves the iterations what they are. multigrid: a V-cycle
/// (poisson_multigrid.hpp), for a strip that is the whole square.
enum class PoissonPreconditioner : std::uint8_t { none, jacobi, multigrid };

inline constexpr std::array all_poisson_preconditioners{PoissonPreconditioner::none, PoissonPreconditioner::jacobi,
                                                        PoissonPreconditioner::multigrid};
std::string_view name_of(PoissonPreconditioner preconditioner);  // "none", ...

/// Throws std::invalid_argument where there are no points, or where multigrid has less than the square.
void check_poisson_strip(const PoissonExtents& extents, PoissonPreconditioner preconditioner);

/// What r is scaled by where z is a multiple of it.
constexpr double scale_of(PoissonPreconditioner preconditioner) {
  return preconditioner == PoissonPreconditioner::jacobi ? 0.25 : 1.0;
}

/// p . A p and r . r.
enum class PoissonSum { curvature, residual };

/// The first and last row of a strip, n elements each.
template <class Real>
struct PoissonEdges {
  std::span<const Real> first;
  std::span<const Real> last;
};

/// Above and below the strip's rows there is a ghost row of r and of p each: the neighbour's, or 0 on the boundary.
/// That of r is written by who knows the neighbour (write_ghost_rows); that of p follows from it, so that one row in
/// each direction is exchanged an iteration. Operations may return before they are done; what is read back is waited
/// for.
///
/// Once ||r|| is within the tolerance, advance_direction() and update() change nothing any more: iterations may be
/// begun ahead of the host knowing.
template <class Real>
class PoissonStrip {
 public:
  virtual ~PoissonStrip() = default;

  virtual const PoissonExtents& extents() const = 0;
  virtual PoissonPreconditioner preconditioner() const = 0;
  /// Whether operations are done behind the host's back, so that it should give out all of them before it waits.
  virtual bool returns_early() const = 0;

  /// u = p = 0, r = b with its ghost rows, and the sum r . r of the strip's rows.
  virtual void begin(const PoissonProblem& problem, const CgLimits& limits) = 0;

  /// z and r . z by multigrid. Before every advance_direction().
  virtual void precondition() = 0;
  /// p <- z + beta p in all rows and ghost rows, beta = r . z / (r . z of the iteration before), 0 in iteration 0; and
  /// the sum p . A p of the strip's rows. `iteration` counts from 0.
  virtual void advance_direction(Index iteration) = 0;
  /// u <- u + alpha p and r <- r - alpha A p in these rows, alpha = r . z / p . A p; and r . r, summed over all updates
  /// since advance_direction(). Every row once an iteration, in any order.
  virtual void update(Index iteration, StripRows rows) = 0;

  /// The sums above are those of the strip. Where there are other strips, the total must be set before it is needed,
  /// the same for all of them: p . A p after advance_direction(), r . r after begin() and after the last update().
  virtual double own_sum(PoissonSum sum) = 0;
  virtual void set_sum(PoissonSum sum, double total) = 0;

  /// r . r before iterations first ... first + count - 1, for each of which advance_direction() was called. Waits.
  virtual std::vector<double> residual_squares(Index first, Index count) = 0;

  /// r in the first and last row as they were updated last: begin_reading_edges() before further updates are begun,
  /// edges() waits. The spans hold until the next begin_reading_edges().
  virtual void begin_reading_edges() = 0;
  virtual PoissonEdges<Real> edges() = 0;
  /// r in the ghost rows, n elements each; empty: stays as it is. Before the next advance_direction().
  virtual void write_ghost_rows(std::span<const Real> above, std::span<const Real> below) = 0;

  /// u, rows x n elements.
  virtual void store(std::span<Real> u) = 0;
};

}  // namespace glinpack
