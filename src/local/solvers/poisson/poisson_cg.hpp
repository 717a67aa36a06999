// Conjugate gradients for the elliptic test problem, the same for one process and for many. A process computes on a
// horizontal strip of the unit square: PoissonStrip has the vectors u, r and p of the strip's points, and the
// operations of an iteration. The whole square is the strip of all rows, whose ghost rows are the boundary.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/enumerators.hpp"
#include "solvers/poisson/poisson_problem.hpp"

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

/// The stopping criterion: ||r|| <= tolerance ||b||, or max_iterations.
struct CgLimits {
  double tolerance = 1e-6;
  Index max_iterations = 0;
};

/// The matrix that maps r to z, the approximate inverse of A.
/// none: z = r. multigrid: a V-cycle (poisson_multigrid.hpp), for a strip that is the whole square.
enum class PoissonPreconditioner : std::uint8_t { none, multigrid };

inline constexpr auto all_poisson_preconditioners = values_up_to<PoissonPreconditioner::multigrid>;
constexpr std::string_view name_of(PoissonPreconditioner preconditioner) {
  return text_by_value(preconditioner, "none", "multigrid");
}

/// Throws std::invalid_argument without points, or for multigrid on less than the square.
void check_poisson_strip(const PoissonExtents& extents, PoissonPreconditioner preconditioner);

/// p . A p and r . r.
enum class PoissonSum { curvature, residual };

/// The first and last row of a strip, n elements each.
template <class Real>
struct PoissonEdges {
  std::span<const Real> first;
  std::span<const Real> last;
};

/// Above and below the strip's rows there is a ghost row of r and of p each: the neighbour's, or 0 on the boundary.
/// The caller writes that of r (write_ghost_rows). That of p follows from it, so that an iteration exchanges one row in
/// each direction. Operations may be asynchronous; functions that read back wait.
///
/// Once ||r|| is within the tolerance, advance_direction() and update() change nothing any more: the host may start
/// further iterations before it knows.
template <class Real>
class PoissonStrip {
 public:
  PoissonStrip(const PoissonExtents& extents, PoissonPreconditioner preconditioner)
      : extents_(extents), preconditioner_(preconditioner) {}
  virtual ~PoissonStrip() = default;

  const PoissonExtents& extents() const { return extents_; }
  PoissonPreconditioner preconditioner() const { return preconditioner_; }
  /// Whether operations are asynchronous: the caller should then start all of them before it waits.
  virtual bool returns_early() const = 0;

  /// u = p = 0, r = b with its ghost rows, and the sum r . r of the strip's rows.
  virtual void begin(const PoissonProblem& problem, const CgLimits& limits) = 0;

  /// z and r . z by multigrid. Before every advance_direction().
  virtual void precondition() {}
  /// p <- z + beta p in all rows and ghost rows, beta = r . z / (r . z of the iteration before), 0 in iteration 0; and
  /// the sum p . A p of the strip's rows. `iteration` counts from 0.
  virtual void advance_direction(Index iteration) = 0;
  /// u <- u + alpha p and r <- r - alpha A p in these rows, alpha = r . z / p . A p; and r . r, summed over all updates
  /// since advance_direction(). Every row once an iteration, in any order.
  virtual void update(Index iteration, StripRows rows) = 0;

  /// The sums above are those of the strip. If there are other strips, the total must be set before its use,
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

  /// Seconds to bind p as a texture, which begins each iteration of the paper's kernels; 0 for others. For texture2d
  /// that is a copy on the device: OpenGL has no 2D view of a buffer.
  virtual double binding_seconds() { return 0; }

  /// u, rows x n elements.
  virtual void store(std::span<Real> u) = 0;

 protected:
  const PoissonExtents extents_;

 private:
  const PoissonPreconditioner preconditioner_;
};

/// A strip in host memory, computed by loops: the reference for devices. Each thread computes its own rows. Sums are
/// added row by row, so that results do not depend on the number of threads. Throws std::bad_alloc, and
/// std::invalid_argument for multigrid on less than the square.
template <class Real>
std::unique_ptr<PoissonStrip<Real>> make_host_poisson_strip(
    const PoissonExtents& extents, int threads, PoissonPreconditioner preconditioner = PoissonPreconditioner::none);

/// Communication with the strips of other processes. A single process has the whole square: the default does nothing.
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
/// limits, preconditioned as the strip is. The solution is in the strip. Reads back only r . r: of many iterations at a
/// time, since strips stop by themselves at the tolerance; with multigrid, whose iterations are few and long, after
/// each one.
template <class Real>
CgOutcome conjugate_gradients(PoissonStrip<Real>& strip, PoissonNeighbours<Real>& neighbours, const CgLimits& limits);

/// The iteration limit: many times more than needed. The error bound of conjugate gradients,
/// 2 ((sqrt(kappa) - 1) / (sqrt(kappa) + 1))^k with kappa < (2 (n + 1) / pi)^2, makes a relative residual of 1e-6 of
/// at most 0.32 (n + 1) ln(2e6 sqrt(kappa)) iterations: below 10 n for all n that memory holds.
Index poisson_max_iterations(Index n);

}  // namespace glinpack
