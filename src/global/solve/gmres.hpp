// Flexible GMRES (Saad and Schultz, GMRES, SIAM J. Sci. Stat. Comput. 7, 1986; Saad, A flexible inner-outer
// preconditioned GMRES algorithm, SIAM J. Sci. Comput. 14, 1993), for vectors distributed over ranks. It stores the
// preconditioned basis vectors, so the preconditioner may be linear to a few digits only: the residual is always that
// of the correction (Arioli and Duff, Using FGMRES to obtain backward stability in mixed precision, ETNA 33, 2009).
#pragma once

#include <span>
#include <vector>

#include "base/matrix_view.hpp"

namespace glinpack {

/// One rank's part of the system A x = b and its preconditioner M. Residuals and corrections may have different
/// distributions; each span is the rank's part. Calls are collective over the ranks.
class GmresSystem {
 public:
  virtual ~GmresSystem() = default;
  /// z ~ M^-1 v; v has 2-norm 1.
  virtual void precondition(std::span<const double> v, std::span<double> z) = 0;
  /// w = A z.
  virtual void multiply(std::span<const double> z, std::span<double> w) = 0;
  /// products[i] = (v_i, w) over all ranks, where v_i, of w's extent, begins at basis + i * w.size(). The same to the
  /// last bit on every rank.
  virtual void dot(const double* basis, std::span<const double> w, std::span<double> products) = 0;
  /// Called after every step with the x of that step, and the recurrence's b - A x. Returns true if no further step is
  /// needed, and the same on every rank.
  virtual bool enough(std::span<const double> residual, std::span<const double> x) = 0;
};

class Gmres {
 public:
  /// Allocates for `most_steps` steps; `rows` and `columns`: this rank's part of a residual and of a correction.
  Gmres(Index rows, Index columns, int most_steps);

  /// One cycle. Adds to x the correction of the Krylov space that minimises ||r - A d||_2, where r is the residual b -
  /// A x. Ends if enough() returns true, after most_steps, or if a step adds nothing or is not finite. Returns the
  /// number of steps in x, each of which enough() has seen.
  int run(GmresSystem& system, std::span<const double> r, std::span<double> x, int most_steps);

 private:
  std::span<double> v(int j) { return {v_.data() + static_cast<std::size_t>(j) * rows_, rows_}; }
  std::span<double> z(int j) { return {z_.data() + static_cast<std::size_t>(j) * columns_, columns_}; }
  double& h(int i, int j) { return h_[static_cast<std::size_t>(i + j * (most_steps_ + 1))]; }

  double norm(GmresSystem& system, std::span<const double> w);
  double orthogonalize(GmresSystem& system, int step);
  double rotate(int step);
  void add_correction(int steps);

  std::size_t rows_;
  std::size_t columns_;
  int most_steps_;
  std::vector<double> v_;        // rows x (most_steps + 1): orthonormal basis
  std::vector<double> z_;        // columns x most_steps: M^-1 v
  std::vector<double> h_;        // (most_steps + 1) x most_steps, column-major: Hessenberg, then its triangle R
  std::vector<double> cosines_;  // of the rotations that make R of it
  std::vector<double> sines_;
  std::vector<double> g_;         // the rotated right-hand side
  std::vector<double> residual_;  // rows
  std::vector<double> x_;         // columns
};

}  // namespace glinpack
