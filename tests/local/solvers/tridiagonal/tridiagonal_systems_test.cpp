#include "solvers/tridiagonal/tridiagonal_systems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "openblas/host_solvers.hpp"

namespace glinpack::solvers {
namespace {

/// Systems with known solutions: 2 x_0 + x_1 = 4, x_0 + 3 x_1 = 7, and 4 x_0 = 8, 5 x_1 = 5.
TridiagonalSystems<double> two_systems() {
  TridiagonalSystems<double> systems(2, 2);
  systems.lower = {0, 1, 0, 0};
  systems.diagonal = {2, 3, 4, 5};
  systems.upper = {1, 0, 0, 0};
  systems.right = {4, 7, 8, 5};
  return systems;
}

TEST(TridiagonalSystems, RandomSystemsAreDiagonallyDominant) {
  const auto systems = random_tridiagonal_systems<double>(5, 9, 1);
  bool negative = false, positive = false;
  for (std::size_t k = 0; k < systems.right.size(); ++k) {
    EXPECT_GE(std::abs(systems.diagonal[k]), std::abs(systems.lower[k]) + std::abs(systems.upper[k]) + 0.5);
    EXPECT_LE(std::abs(systems.right[k]), 0.5);
    EXPECT_TRUE(k % 9 != 0 || systems.lower[k] == 0);
    EXPECT_TRUE(k % 9 != 8 || systems.upper[k] == 0);
    negative = negative || systems.diagonal[k] < 0;
    positive = positive || systems.diagonal[k] > 0;
  }
  EXPECT_TRUE(negative && positive);
}

TEST(TridiagonalSystems, RandomSystemsDependOnlyOnTheSeed) {
  const auto once = random_tridiagonal_systems<float>(3, 4, 1), again = random_tridiagonal_systems<float>(3, 4, 1),
             other = random_tridiagonal_systems<float>(3, 4, 2);
  EXPECT_EQ(once.diagonal, again.diagonal);
  EXPECT_NE(once.diagonal, other.diagonal);
}

TEST(TridiagonalSystems, ResidualIsTheLargestOfAllSystems) {
  const auto systems = two_systems();
  const double epsilon = std::numeric_limits<double>::epsilon() / 2;
  EXPECT_EQ(largest_tridiagonal_residual<double>(systems, std::vector<double>{1, 2, 2, 1}), 0);
  // 5 x_1 - 5 = 5; || A || = 5, || x || = 2, || b || = 8
  EXPECT_DOUBLE_EQ(largest_tridiagonal_residual<double>(systems, std::vector<double>{1, 2, 2, 2}), 5 / (18 * epsilon));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(largest_tridiagonal_residual<double>(systems, std::vector<double>{1, nan, 2, 1})));
  EXPECT_TRUE(std::isinf(largest_tridiagonal_residual<double>(systems, std::vector<double>{1, 2, 2, 1 / 0.0})));
}

TEST(TridiagonalSystems, LapackSolvesThem) {
  auto systems = two_systems();
  EXPECT_EQ(solve_tridiagonal_on_host(systems, 1), std::nullopt);
  const std::vector<double> expected{1, 2, 2, 1};
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_DOUBLE_EQ(systems.right[k], expected[k]);
  const auto many = random_tridiagonal_systems<float>(300, 50, 5);
  auto solved = many;
  EXPECT_EQ(solve_tridiagonal_on_host(solved, 3), std::nullopt);
  EXPECT_LT(largest_tridiagonal_residual<float>(many, solved.right), 16);
}

TEST(TridiagonalSystems, LapackReportsTheSingularSystem) {
  auto systems = two_systems();
  systems.diagonal[3] = 0;
  EXPECT_EQ(solve_tridiagonal_on_host(systems, 2), (ZeroPivot{1, 1}));
}

}  // namespace
}  // namespace glinpack::solvers
