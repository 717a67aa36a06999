// Flexible GMRES (Saad and Schultz, GMRES, SIAM J. Sci. Stat. Comput. 7, 1986; Saad, A flexible inner-outer
// preconditioned GMRES algorithm, SIAM J. Sci. Comput. 14, 1993), for vectors that lie spread over ranks. It keeps what
// the preconditioner made of each basis vector, so that the preconditioner need not be linear to more than a few
// digits: the residual is that of the correction in any case (Arioli and Duff, Using FGMRES to obtain backward
// stability in mixed precision, ETNA 33, 2009).
#pragma once

#include <span>
#include <vector>

#include "local/matrix_view.hpp"

namespace glinpack {

/// The system A x = b and its preconditioner M, as one rank sees them. Residuals and corrections may be spread over
/// ranks in different ways; each span is the rank's part. Calls are collective where there are several ranks.
class GmresSystem {
 public:
  virtual ~GmresSystem() = default;
  /// z = M^-1 v, about; v of 2-norm 1.
  virtual void precondition(std::span<const double> v, std::span<double> z) = 0;
  /// w = A z.
  virtual void multiply(std::span<const double> z, std::span<double> w) = 0;
  /// products[i] = (v_i, w) over all ranks, where v_i, of w's extent, begins at basis + i * w.size(). The same to the
  /// last bit on every rank.
  virtual void dot(const double* basis, std::span<const double> w, std::span<double> products) = 0;
  /// Told after every step the x that it would end with, and what the recurrence has for b - A x; true: no further step
  /// is needed. The same on every rank.
  virtual bool enough(std::span<const double> residual, std::span<const double> x) = 0;
};

class Gmres {
 public:
  /// Allocates for so many steps; `rows` and `columns`: this rank's part of a residual and of a correction.
  Gmres(Index rows, Index columns, int most_steps);

  /// One cycle: adds to x the correction of the Krylov space that makes ||r - A d||_2 least, where r is the residual
  /// b - A x. Ends when the system has enough, after most_steps, or when a step has nothing to add or is not finite.
  /// Returns the steps that were told to the system and are in x.
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
