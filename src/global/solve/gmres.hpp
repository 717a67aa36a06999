// Flexible GMRES (Saad and Schultz, GMRES, SIAM J. Sci. Stat. Comput. 7, 1986; Saad, A flexible inner-outer
// preconditioned GMRES algorithm, SIAM J. Sci. Comput. 14, 1993), for vectors distributed over ranks. It stores the
// preconditioned basis vectors, so the preconditioner may be linear to a few digits only: the residual is always that
// of the correction (Arioli and Duff, Using FGMRES to obtain backward stability in mixed precision, ETNA 33, 2009).
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/matrix_view.hpp"
#include "base/memory_count.hpp"

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
  /// Allocates for `max_steps` steps; `rows` and `columns`: this rank's part of a residual and of a correction.
  Gmres(Index rows, Index columns, int max_steps)
      : rows_(as_size(rows)),
        columns_(as_size(columns)),
        max_steps_(max_steps),
        v_(counted_vector<double>(rows * (max_steps + 1))),
        z_(counted_vector<double>(columns * max_steps)),
        h_(as_size(Index{max_steps + 1} * max_steps)),
        cosines_(as_size(max_steps)),
        sines_(as_size(max_steps)),
        g_(as_size(max_steps + 1)),
        residual_(counted_vector<double>(rows)),
        x_(counted_vector<double>(columns)) {}

  /// One cycle. Adds to x the correction of the Krylov space that minimises ||r - A d||_2, where r is the residual b -
  /// A x. Ends if enough() returns true, after max_steps, or if a step adds nothing or is not finite. Returns the
  /// number of steps in x, each of which enough() has seen.
  int run(GmresSystem& system, std::span<const double> r, std::span<double> x, int max_steps) {
    const double beta = norm(system, r);
    if (!std::isfinite(beta) || beta == 0) return 0;
    std::transform(r.begin(), r.end(), v(0).begin(), [beta](double value) { return value / beta; });
    std::copy(r.begin(), r.end(), residual_.begin());
    g_[0] = beta;
    int steps = 0;
    while (steps < std::min(max_steps, max_steps_)) {
      const int step = steps;
      system.precondition(v(step), z(step));
      system.multiply(z(step), v(step + 1));
      const double left = orthogonalize(system, step);
      h(step + 1, step) = left;
      const double diagonal = rotate(step);
      if (!std::isfinite(diagonal) || diagonal == 0) break;
      ++steps;
      if (left > 0) {
        for (double& element : v(step + 1)) element /= left;
      }

      // r_j = s^2 r_(j-1) + c g_(j+1) v_(j+1)
      const double cosine = cosines_[as_size(step)];
      const double sine = sines_[as_size(step)];
      for (double& element : residual_) element *= sine * sine;
      add(cosine * g_[as_size(step + 1)], v(step + 1), residual_);
      std::copy(x.begin(), x.end(), x_.begin());
      add_correction(steps);
      if (system.enough(residual_, x_) || left == 0) break;
    }
    if (steps > 0) std::copy(x_.begin(), x_.end(), x.begin());
    return steps;
  }

 private:
  static std::size_t as_size(Index value) { return static_cast<std::size_t>(value); }
  // y <- y + factor x
  static void add(double factor, std::span<const double> x, std::span<double> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
  }
  std::span<double> v(int j) { return {v_.data() + static_cast<std::size_t>(j) * rows_, rows_}; }
  std::span<double> z(int j) { return {z_.data() + static_cast<std::size_t>(j) * columns_, columns_}; }
  double& h(int i, int j) { return h_[static_cast<std::size_t>(i + j * (max_steps_ + 1))]; }

  double norm(GmresSystem& system, std::span<const double> w) {
    double square = 0;
    system.dot(w.data(), w, {&square, 1});
    return std::sqrt(square);
  }
  // Computes column `step` of H: orthogonalises A z against the basis, and returns the norm of the remainder, the next
  // basis vector before normalisation. Classical Gram-Schmidt, twice, which is sufficient, with one reduction each
  // (Giraud, Langou, Rozloznik, van den Eshof, Numer. Math. 101, 2005).
  double orthogonalize(GmresSystem& system, int step) {
    const std::span<double> w = v(step + 1);
    std::vector<double> products(as_size(step + 1));
    for (int i = 0; i <= step; ++i) h(i, step) = 0;
    for (int round = 0; round < 2; ++round) {
      system.dot(v_.data(), w, products);
      for (int i = 0; i <= step; ++i) {
        const double product = products[as_size(i)];
        add(-product, v(i), w);
        h(i, step) += product;
      }
    }
    return norm(system, w);
  }
  // Makes column `step` of H one of R, by the rotations so far and the one that takes H(step + 1, step) to zero.
  // Returns the new diagonal element.
  double rotate(int step) {
    for (int i = 0; i < step; ++i) {
      const double upper = h(i, step);
      const double lower = h(i + 1, step);
      h(i, step) = cosines_[as_size(i)] * upper + sines_[as_size(i)] * lower;
      h(i + 1, step) = cosines_[as_size(i)] * lower - sines_[as_size(i)] * upper;
    }
    const double diagonal = std::hypot(h(step, step), h(step + 1, step));
    if (!std::isfinite(diagonal) || diagonal == 0) return diagonal;
    const double cosine = h(step, step) / diagonal;
    const double sine = h(step + 1, step) / diagonal;
    h(step, step) = diagonal;
    h(step + 1, step) = 0;
    cosines_[as_size(step)] = cosine;
    sines_[as_size(step)] = sine;
    g_[as_size(step + 1)] = -sine * g_[as_size(step)];
    g_[as_size(step)] *= cosine;
    return diagonal;
  }
  // x_ <- x_ + Z R^-1 g
  void add_correction(int steps) {
    std::vector<double> y(g_.begin(), g_.begin() + steps);
    for (int j = steps - 1; j >= 0; --j) {
      y[as_size(j)] /= h(j, j);
      for (int i = 0; i < j; ++i) y[as_size(i)] -= h(i, j) * y[as_size(j)];
    }
    for (int j = 0; j < steps; ++j) add(y[as_size(j)], z(j), x_);
  }

  std::size_t rows_;
  std::size_t columns_;
  int max_steps_;
  std::vector<double> v_;        // rows x (max_steps + 1): orthonormal basis
  std::vector<double> z_;        // columns x max_steps: M^-1 v
  std::vector<double> h_;        // (max_steps + 1) x max_steps, column-major: Hessenberg, then its triangle R
  std::vector<double> cosines_;  // of the rotations that make R of it
  std::vector<double> sines_;
  std::vector<double> g_;         // the rotated right-hand side
  std::vector<double> residual_;  // rows
  std::vector<double> x_;         // columns
};

}  // namespace glinpack
