// The elliptic test problem: -Laplace u = f on the open unit square, u = 0 on its boundary (Wang, Gobbert, Olano and
// Griffin, "A GPU memory system comparison for an elliptic test problem", section 3.2).
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/matrix_view.hpp"

namespace glinpack {

/// n x n interior points x = h (i + 1), h = 1 / (n + 1), i = 0 ... n - 1 in either direction; a row is a line of equal
/// x_1. The system is A u = b with
///   (A u)(i, j) = 4 u(i, j) - u(i - 1, j) - u(i + 1, j) - u(i, j - 1) - u(i, j + 1),   b = h^2 f     equations (3),
///   (4) f(x) = -2 pi^2 (cos(2 pi x_1) sin^2(pi x_2) + sin^2(pi x_1) cos(2 pi x_2))                       equation (5)
///   u(x) = sin^2(pi x_1) sin^2(pi x_2)                                                               equation (6)
class PoissonProblem {
 public:
  /// n at least 1.
  explicit PoissonProblem(Index n);
  /// With another right-hand side b, n x n elements, row after row; exact() and largest_error() do not apply.
  PoissonProblem(Index n, std::vector<double> right) : PoissonProblem(n) { given_ = std::move(right); }

  Index n() const { return n_; }
  double spacing() const { return 1.0 / static_cast<double>(n_ + 1); }
  /// b; 0 beyond the first and last row, on the boundary.
  double right(Index row, Index column) const {
    if (row < 0 || row >= n_) return 0;
    if (!given_.empty()) return given_[at(row) * at(n_) + at(column)];
    return right_scale_ * (cosine_[at(row)] * square_[at(column)] + square_[at(row)] * cosine_[at(column)]);
  }
  /// u of equation (6).
  double exact(Index row, Index column) const { return square_[at(row)] * square_[at(column)]; }

  /// The largest |u - u_h| over rows first_row ... of the computed solution, n elements each; infinite if one is not
  /// finite.
  template <class Real>
  double largest_error(std::span<const Real> computed, Index first_row = 0) const;
  /// b - A u of an n x n u.
  std::vector<double> residual(std::span<const double> u) const;
  /// The squares of ||b - A u|| and ||b|| in double precision, over rows first_row ... of a computed u, n elements
  /// each, between two rows of n elements; these are empty on the boundary.
  struct ResidualSquares {
    double residual = 0;
    double right = 0;
  };
  template <class Real>
  ResidualSquares residual_squares(std::span<const Real> u, Index first_row, std::span<const Real> above,
                                   std::span<const Real> below) const;

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  Index n_;
  double right_scale_;          // -2 pi^2 h^2
  std::vector<double> square_;  // sin^2(pi x)
  std::vector<double> cosine_;  // cos(2 pi x)
  std::vector<double> given_;   // b; empty: equation (5)'s
};

/// The bound of |u - u_h| if A u_h = b: pi^4 h^2 / 6. The differences (3) miss the derivatives by
/// h^2 / 12 (max |u_1111| + max |u_2222|) at most, 8 pi^4 each here, and the inverse of the discrete Laplacian is at
/// most 1/8 in the maximum norm (by the discrete maximum principle with x_1 (1 - x_1) / 2).
double poisson_discretisation_bound(Index n);

}  // namespace glinpack
