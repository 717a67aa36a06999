// The elliptic test problem: its right-hand side, exact solution and bound.
#include "solvers/poisson/poisson_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "solvers/poisson/poisson_multigrid.hpp"
#include "tests/local/poisson_strips.hpp"

namespace glinpack {
namespace {

TEST(PoissonProblem, OnePointIsTheMiddle) {
  const PoissonProblem problem(1);
  EXPECT_DOUBLE_EQ(problem.spacing(), 0.5);
  EXPECT_DOUBLE_EQ(problem.exact(0, 0), 1);
  // f(1/2, 1/2) = 4 pi^2, times h^2
  EXPECT_DOUBLE_EQ(problem.right(0, 0), std::numbers::pi * std::numbers::pi);
}

TEST(PoissonProblem, RightHandSideIsTheLaplacianOfTheSolution) {
  // the discretisation error of the differences: h^2 / 12 (8 pi^4 + 8 pi^4), times h^2
  for (const Index n : {5, 32, 100}) {
    const PoissonProblem problem(n);
    const double h = problem.spacing(), missed = 4 * std::pow(std::numbers::pi, 4) / 3 * std::pow(h, 4);
    const auto u = [&](Index i, Index j) { return i < 0 || j < 0 || i >= n || j >= n ? 0.0 : problem.exact(i, j); };
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        const double differences = 4 * u(i, j) - u(i - 1, j) - u(i + 1, j) - u(i, j - 1) - u(i, j + 1);
        EXPECT_NEAR(differences, problem.right(i, j), missed + 1e-14) << n << ": " << i << ", " << j;
      }
    }
  }
}

TEST(PoissonProblem, ValuesBeyondTheBoundaryAreZero) {
  const PoissonProblem problem(4);
  for (Index j = 0; j < 4; ++j) {
    EXPECT_EQ(problem.right(-1, j), 0);
    EXPECT_EQ(problem.right(4, j), 0);
  }
}

TEST(PoissonProblem, TheErrorIsTheLargestDifference) {
  const PoissonProblem problem(3);
  std::vector<double> u;
  for (Index i = 1; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) u.push_back(problem.exact(i, j));
  }
  // a compiler may fuse the product of exact() with the difference, which then is that of rounding the product
  EXPECT_LE(problem.largest_error<double>(u, 1), std::ranges::max(u) * 0x1p-53);
  u[4] -= 0.25;
  EXPECT_DOUBLE_EQ(problem.largest_error<double>(u, 1), 0.25);
  u[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(problem.largest_error<double>(u, 1), std::numeric_limits<double>::infinity());
}

TEST(PoissonProblem, TheResidualIsComputedFromTheSolution) {
  EXPECT_EQ(test::relative_residual<double>(1, {0}), 1);
  EXPECT_NEAR(test::relative_residual<double>(1, {PoissonProblem(1).right(0, 0) / 4}), 0, 1e-15);
  // 2 x 2: all points are equal, 2 u = b. An error d at one point makes r -4 d there and d at its two neighbours.
  const PoissonProblem four(2);
  const double b = four.right(0, 0), d = 0.125;
  const double expected = std::sqrt((16 + 1 + 1) * d * d / (4 * b * b));
  EXPECT_NEAR(test::relative_residual<double>(2, {b / 2 + d, b / 2, b / 2, b / 2}), expected, 1e-14);
}

TEST(PoissonMultigrid, GridsAreHalvedDownToOnePoint) {
  EXPECT_EQ(multigrid_grids(1), std::vector<Index>{1});
  EXPECT_EQ(multigrid_grids(7), (std::vector<Index>{7, 3, 1}));
  EXPECT_EQ(multigrid_grids(32), (std::vector<Index>{32, 16, 8, 4, 2, 1}));
  EXPECT_THROW(multigrid_grids(0), std::invalid_argument);
}

TEST(PoissonMultigrid, InterpolationIsExactForLinearFunctions) {
  for (const Index fine : {2, 3, 7, 32, 33, 1000}) {
    const Index coarse = fine / 2;
    for (Index i = 0; i < fine; ++i) {
      const CoarsePlace place = coarse_place(i, fine, coarse);
      ASSERT_GE(place.left, -1);
      ASSERT_LT(place.left, coarse + 1);
      const double x = static_cast<double>(i + 1) / static_cast<double>(fine + 1);
      const double left = static_cast<double>(place.left + 1), of_right = place.of_right;
      EXPECT_NEAR(((1 - of_right) * left + of_right * (left + 1)) / static_cast<double>(coarse + 1), x, 1e-15);
    }
  }
}

TEST(PoissonMultigrid, EveryFinePointBelongsToItsCoarsePoints) {
  for (Index fine = 2; fine < 200; ++fine) {
    const Index coarse = fine / 2;
    for (Index i = 0; i < fine; ++i) {
      const CoarsePlace place = coarse_place(i, fine, coarse);
      for (const Index point : {place.left, place.left + 1}) {
        if (point < 0 || point >= coarse || (point > place.left && place.of_right == 0)) continue;
        const Index first = first_fine_point(point, fine, coarse);
        EXPECT_GE(i, first) << fine;
        EXPECT_LT(i, first + max_fine_points) << fine;
      }
    }
  }
}

TEST(PoissonMultigrid, AVCycleNeedsAFewVectors) {
  EXPECT_DOUBLE_EQ(multigrid_vectors(1), 2);
  EXPECT_DOUBLE_EQ(multigrid_vectors(3), 9 + 4.0 / 9);  // 2 and 2 x 1 of 9 points
  EXPECT_NEAR(multigrid_vectors(8191), 9 * 4.0 / 3 + 2.0 / 3, 0.01);
}

TEST(PoissonProblem, RejectsAnEmptyGrid) { EXPECT_THROW(PoissonProblem(0), std::invalid_argument); }

}  // namespace
}  // namespace glinpack
