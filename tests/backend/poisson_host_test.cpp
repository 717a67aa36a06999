// Conjugate gradients for the elliptic test problem on the host, against the paper and against themselves in strips.
#include <stdexcept>

#include "local/host/host_poisson_strip.hpp"
#include "tests/backend/poisson_strips.hpp"

namespace glinpack {
namespace {

using namespace test;

template <class Real>
std::unique_ptr<PoissonStrip<Real>> whole(Index n, int threads = 1) {
  return make_host_poisson_strip<Real>({.n = n, .first_row = 0, .rows = n}, threads);
}

TEST(PoissonHost, TableOneComesOutAsPrinted) {
  for (const PoissonRow& row : poisson_rows) {
    const auto strip = whole<double>(row.n);
    const PoissonSolution<double> solution = solve_poisson(*strip);
    EXPECT_TRUE(solution.outcome.converged);
    EXPECT_EQ(solution.outcome.iterations, row.iterations) << row.n;
    EXPECT_LE(solution.outcome.relative_residual, 1e-6);
    EXPECT_NEAR(PoissonProblem(row.n).largest_error<double>(solution.u), row.error, row.half_digit) << row.n;
  }
}

TEST(PoissonHost, OneAndTwoPointsAreSolvedByHand) {
  // 4 u = b; and by symmetry all four points of a 2 x 2 grid are equal: 2 u = b
  for (const Index n : {1, 2}) {
    const auto strip = whole<double>(n);
    const PoissonSolution<double> solution = solve_poisson(*strip);
    EXPECT_EQ(solution.outcome.iterations, 1);
    const double b = PoissonProblem(n).right(0, 0);
    for (const double u : solution.u) EXPECT_NEAR(u, n == 1 ? b / 4 : b / 2, tolerance<double>(4) * b);
  }
}

TEST(PoissonHost, ThreadsChangeNothing) {
  for (const Index n : {1, 3, 33}) {
    const auto one = whole<float>(n), four = whole<float>(n, 4);
    EXPECT_EQ(solve_poisson(*one).u, solve_poisson(*four).u) << n;
  }
}

TEST(PoissonHost, SolvesAgainWithTheSameResult) {
  const auto strip = whole<double>(17, 2);
  EXPECT_EQ(solve_poisson(*strip).u, solve_poisson(*strip).u);
}

TEST(PoissonHost, StripsInStepAreTheWholeSquare) {
  constexpr Index n = 19;
  const auto make = [](const PoissonExtents& extents) { return make_host_poisson_strip<double>(extents, 2); };
  const CgLimits limits{.most_iterations = 20};
  const std::vector<double> expected = iterate(make_strips<double>(n, {n}, make), limits);
  for (const std::vector<Index>& rows : {std::vector<Index>{9, 10}, {1, 2, 16}, {17, 1, 1}}) {
    expect_near(iterate(make_strips<double>(n, rows, make), limits), expected, scalar_products<double>(n));
  }
}

TEST(PoissonHost, WhatIsWithinTheToleranceStays) {
  const auto strip = whole<double>(16);
  const PoissonSolution<double> solution = solve_poisson(*strip);
  PoissonStrips<double> strips;
  strips.push_back(whole<double>(16));
  const Index further = solution.outcome.iterations + 5;
  EXPECT_EQ(iterate(strips, {.most_iterations = further}), solution.u);
}

TEST(PoissonHost, SaysWhenItDoesNotConverge) {
  const auto strip = whole<double>(32);
  const CgOutcome outcome = solve_poisson(*strip, {.most_iterations = 40}).outcome;
  EXPECT_FALSE(outcome.converged);
  EXPECT_EQ(outcome.iterations, 40);
  EXPECT_GT(outcome.relative_residual, 1e-6);
}

TEST(PoissonHost, NeedsPoints) {
  EXPECT_THROW(make_host_poisson_strip<double>({.n = 4, .first_row = 0, .rows = 0}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace glinpack
