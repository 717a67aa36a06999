// Geometric multigrid for the elliptic test problem, as a preconditioner: the common parts of host and device. A
// V-cycle (Brandt, "Multi-level adaptive solutions to boundary-value problems", 1977) from z = 0:
//   z <- p(A) r                  smoothing before
//   r of the next grid <- P^T (r - A z)
//   z <- z + P e                 e: the V-cycle of the next grid; of the last, which has one point, r / 4
//   z <- z + p(A) (r - A z)      smoothing after
// A is the 5-point stencil of poisson_problem.hpp on every grid, and p(A) two sweeps of Richardson's iteration.
//
// z = B r has a symmetric positive definite B, which conjugate gradients need: both smoothings are the same polynomial
// of A, |1 - lambda p(lambda)| < 1 on the spectrum of A, and restriction is the transpose of interpolation.
#pragma once

#include <stdexcept>
#include <vector>

#include "base/matrix_view.hpp"

namespace glinpack {

/// Points a side of the grids, the finest first: n, n / 2 rounded down, ..., 1. n at least 1. A grid of m points has
/// m + 1 intervals, of which the next one has half as many, rounded up. All grids share the corners of the square and,
/// for even n, no other points.
inline std::vector<Index> multigrid_grids(Index n) {
  if (n < 1) throw std::invalid_argument("a square without interior points has no grids");
  std::vector<Index> grids;
  for (; n > 0; n /= 2) grids.push_back(n);
  return grids;
}

/// p(A) = (of_residual - of_product A) / divisor: Chebyshev's two steps for eigenvalues from 2 to 8, the upper three
/// quarters of A's, which the next grid cannot have (Adams, Brezina, Hu and Tuminaro, "Parallel multigrid smoothing:
/// polynomial versus Gauss-Seidel", 2003). Their lengths are 1 / (5 +- 3 / sqrt(2)), 1 - lambda p(lambda) being
/// Chebyshev's polynomial of that interval; they leave 0.22 of such a part at most.
struct MultigridSmoother {
  Index of_residual = 20;
  Index of_product = 2;
  Index divisor = 41;
};

/// A point of a grid between two of the next coarser one, in one direction: points left and left + 1, whose shares are
/// 1 - of_right and of_right. -1 and the number of coarse points are the boundary, with value 0.
struct CoarsePlace {
  Index left = 0;
  double of_right = 0;
};

/// Bilinear interpolation is linear in either direction: point i of `fine` points a side among `coarse` ones.
inline CoarsePlace coarse_place(Index i, Index fine, Index coarse) {
  const Index scaled = (i + 1) * (coarse + 1);
  return {.left = scaled / (fine + 1) - 1,
          .of_right = static_cast<double>(scaled % (fine + 1)) / static_cast<double>(fine + 1)};
}

/// The most points of a grid in one direction that are interpolated from a point of the next grid: those between its
/// two neighbours, which are at most four intervals apart.
inline constexpr Index max_fine_points = 4;

/// The first of them, from coarse point `i` - 1 on; it may be -1, the boundary.
inline Index first_fine_point(Index i, Index fine, Index coarse) { return i * (fine + 1) / (coarse + 1); }

/// Vectors of n^2 elements that a V-cycle reads and writes at least, kernel by kernel: smoothing before takes 2, the
/// restriction 2 and one of the next grid, the interpolation the same, smoothing after 3.
inline double multigrid_vectors(Index n) {
  const std::vector<Index> grids = multigrid_grids(n);
  const auto points = [](Index side) { return static_cast<double>(side) * static_cast<double>(side); };
  double elements = 2 * points(grids.back());  // r / 4
  for (std::size_t grid = 0; grid + 1 < grids.size(); ++grid) {
    elements += (2 + 2 + 2 + 3) * points(grids[grid]) + 2 * points(grids[grid + 1]);
  }
  return elements / points(n);
}

}  // namespace glinpack
