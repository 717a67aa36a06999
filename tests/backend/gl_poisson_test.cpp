// Conjugate gradients for the elliptic test problem on a device, against the paper and the host.
#include <gmock/gmock.h>

#include "local/host/host_poisson_strip.hpp"
#include "local/solvers/poisson_device_strip.hpp"
#include "tests/backend/backend_harness.hpp"
#include "tests/backend/gl_objects.hpp"
#include "tests/backend/poisson_strips.hpp"

namespace glinpack::solvers {
namespace {

using namespace test;
using testing::HasSubstr;

class GlPoisson : public testing::Test {
 protected:
  template <class Real>
  std::unique_ptr<PoissonStrip<Real>> whole(Index n, PoissonMemory memory = PoissonMemory::global) {
    return make_poisson_strip<Real>(device_, {.n = n, .first_row = 0, .rows = n}, memory);
  }

  Device device_{any_gl_device(), {}, true};
};

TEST_F(GlPoisson, TableOneComesOutAsPrinted) {
  for (const PoissonRow& row : poisson_rows) {
    const auto strip = whole<double>(row.n);
    const PoissonSolution<double> solution = solve_poisson(*strip);
    EXPECT_TRUE(solution.outcome.converged);
    EXPECT_EQ(solution.outcome.iterations, row.iterations) << row.n;
    EXPECT_LE(solution.outcome.relative_residual, 1e-6);
    EXPECT_NEAR(PoissonProblem(row.n).largest_error<double>(solution.u), row.error, row.half_digit) << row.n;
  }
}

TEST_F(GlPoisson, AnIterationIsTheHosts) {
  for (const Index n : {1, 2, 3, 4, 5, 15, 16, 17, 64}) {
    const auto expected = make_host_poisson_strip<double>({.n = n, .first_row = 0, .rows = n}, 1);
    const auto computed = whole<double>(n);
    const CgLimits limits{.most_iterations = 3};
    expect_near(solve_poisson(*computed, limits).u, solve_poisson(*expected, limits).u, tolerance<double>(8));
    const auto expected_single = make_host_poisson_strip<float>({.n = n, .first_row = 0, .rows = n}, 1);
    const auto computed_single = whole<float>(n);
    expect_near(solve_poisson(*computed_single, limits).u, solve_poisson(*expected_single, limits).u,
                tolerance<float>(8));
  }
}

TEST_F(GlPoisson, StripsInStepAreTheWholeSquare) {
  constexpr Index n = 19;
  const auto make = [&](const PoissonExtents& extents) {
    return make_poisson_strip<double>(device_, extents, PoissonMemory::global);
  };
  const auto make_host = [](const PoissonExtents& extents) { return make_host_poisson_strip<double>(extents, 1); };
  const CgLimits limits{.most_iterations = 20};
  const std::vector<double> expected = iterate(make_strips<double>(n, {n}, make_host), limits);
  for (const std::vector<Index>& rows : {std::vector<Index>{9, 10}, {1, 2, 16}, {17, 1, 1}}) {
    expect_near(iterate(make_strips<double>(n, rows, make), limits), expected, tolerance<double>(n));
  }
}

TEST_F(GlPoisson, WhatIsWithinTheToleranceStays) {
  const auto strip = whole<double>(16);
  const PoissonSolution<double> solution = solve_poisson(*strip);
  PoissonStrips<double> strips;
  strips.push_back(whole<double>(16));
  // in step with own_sum() and set_sum(), whose order of adding differs
  expect_near(iterate(strips, {.most_iterations = solution.outcome.iterations + 5}), solution.u, tolerance<double>(16));
}

TEST_F(GlPoisson, SaysWhenItDoesNotConverge) {
  const auto strip = whole<double>(32);
  const CgOutcome outcome = solve_poisson(*strip, {.most_iterations = 40}).outcome;
  EXPECT_FALSE(outcome.converged);
  EXPECT_EQ(outcome.iterations, 40);
}

TEST_F(GlPoisson, ObstaclesNameLimitAndRemedy) {
  gl::DeviceDescription device;
  device.renderer = "Card";
  device.free_memory = device.storage_block = 1 << 20;
  EXPECT_EQ(poisson_obstacle<double>(device, {.n = 64, .first_row = 0, .rows = 64}, PoissonMemory::global), "");
  EXPECT_THAT(poisson_obstacle<double>(device, {.n = 400, .first_row = 0, .rows = 400}, PoissonMemory::global),
              testing::AllOf(HasSubstr("storage block of Card"), HasSubstr("smaller N"), HasSubstr("single")));
  EXPECT_THAT(poisson_obstacle<float>(device, {.n = 400, .first_row = 0, .rows = 400}, PoissonMemory::global),
              testing::AllOf(HasSubstr("Card has"), HasSubstr("free")));
}

TEST_F(GlPoisson, LeavesNoObjectsBehind) {
  const auto solve = [&] {
    const auto strip = whole<float>(20);
    (void)solve_poisson(*strip);
    device_.release_staging();
  };
  solve();
  const int before = count_gl_objects(*device_.context());
  solve();
  EXPECT_EQ(count_gl_objects(*device_.context()), before);
}

}  // namespace
}  // namespace glinpack::solvers
