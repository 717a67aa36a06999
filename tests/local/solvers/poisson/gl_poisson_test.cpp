// Compares conjugate gradients for the elliptic test problem on a device with the paper and with the host.

#include "solvers/poisson/poisson_cg.hpp"
#include "solvers/poisson/poisson_device_strip.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/gl_objects.hpp"
#include "tests/local/poisson_strips.hpp"

namespace glinpack::solvers {
namespace {

using namespace test;
using testing::HasSubstr;

class GlPoisson : public testing::Test {
 protected:
  template <class Real>
  std::unique_ptr<PoissonStrip<Real>> whole(Index n, PoissonMemory memory = PoissonMemory::global,
                                            PoissonPreconditioner preconditioner = PoissonPreconditioner::none) {
    return make_poisson_strip<Real>(device_, {.n = n, .first_row = 0, .rows = n}, memory, preconditioner);
  }

  /// A function that makes strips.
  auto in(PoissonMemory memory) {
    return [this, memory](const PoissonExtents& extents, PoissonPreconditioner preconditioner) {
      return make_poisson_strip<double>(device_, extents, memory, preconditioner);
    };
  }

  Device device_{any_gl_device(), {}, true};
};

TEST_F(GlPoisson, ReproducesTable1OfThePaper) {
  for (const PoissonRow& row : poisson_rows) {
    check_table_1(row, in(PoissonMemory::global));
    if (row.n <= 64) check_table_1(row, in(PoissonMemory::shared));  // slow on software GL
  }
}

template <class Real, class MakeTested>
void expect_iterations_of_the_host(Index n, const MakeTested& make,
                                   PoissonPreconditioner preconditioner = PoissonPreconditioner::none) {
  const CgLimits limits{.max_iterations = 3};
  const auto expected = make_host_poisson_strip<Real>({.n = n, .first_row = 0, .rows = n}, 1, preconditioner);
  const auto computed = make();
  expect_near(solve_poisson(*computed, limits).u, solve_poisson(*expected, limits).u, scalar_products<Real>(n));
}

TEST_F(GlPoisson, IterationsEqualTheHosts) {
  for (const PoissonMemory memory : all_poisson_memories) {
    for (const Index n : {1, 2, 3, 4, 5, 17, 65}) {
      SCOPED_TRACE(std::string(name_of(memory)) + " " + std::to_string(n));
      expect_iterations_of_the_host<float>(n, [&] { return whole<float>(n, memory); });
      if (!has_double_precision(memory)) continue;
      expect_iterations_of_the_host<double>(n, [&] { return whole<double>(n, memory); });
    }
  }
}

TEST_F(GlPoisson, PreconditionedIterationsEqualTheHosts) {
  constexpr auto multigrid = PoissonPreconditioner::multigrid;
  for (const PoissonMemory memory : {PoissonMemory::global, PoissonMemory::shared}) {
    for (const Index n : {1, 2, 3, 5, 18, 65}) {
      SCOPED_TRACE(std::string(name_of(memory)) + " " + std::to_string(n));
      expect_iterations_of_the_host<float>(
          n, [&] { return whole<float>(n, memory, multigrid); }, multigrid);
      expect_iterations_of_the_host<double>(
          n, [&] { return whole<double>(n, memory, multigrid); }, multigrid);
    }
  }
}

TEST_F(GlPoisson, MultigridIterationsDoNotGrowWithTheGrid) {
  check_multigrid({31, 64, 150}, in(PoissonMemory::global));
}

TEST_F(GlPoisson, SinglePrecisionConvergesWithinTheErrorBound) {
  constexpr Index n = 32;
  for (const PoissonMemory memory : all_poisson_memories) {
    const auto strip = whole<float>(n, memory);
    const PoissonSolution<float> solution = solve_poisson(*strip);
    EXPECT_TRUE(solution.outcome.converged) << name_of(memory);
    const double rounding = epsilon_of(Precision::single) * (n + 1) * (n + 1);
    EXPECT_LE(PoissonProblem(n).largest_error<float>(solution.u), poisson_discretisation_bound(n) + rounding)
        << name_of(memory);
  }
}

TEST_F(GlPoisson, StripsGiveTheSolutionOfTheSquare) {
  for (const PoissonMemory memory : {PoissonMemory::global, PoissonMemory::texture1d, PoissonMemory::shared}) {
    SCOPED_TRACE(name_of(memory));
    check_strips<float>(19, {{9, 10}, {1, 2, 16}, {17, 1, 1}}, [&](const PoissonExtents& extents) {
      return make_poisson_strip<float>(device_, extents, memory);
    });
    if (!has_double_precision(memory)) continue;
    check_strips<double>(70, {{33, 37}}, [&](const PoissonExtents& extents) {  // more rows than a tile
      return make_poisson_strip<double>(device_, extents, memory);
    });
  }
}

TEST_F(GlPoisson, IteratingBeyondTheToleranceChangesNothing) {
  const auto strip = whole<double>(16);
  const PoissonSolution<double> solution = solve_poisson(*strip);
  PoissonStrips<double> strips;
  strips.push_back(whole<double>(16));
  // the strip driver uses own_sum() and set_sum(), which sum in another order
  expect_near(iterate(strips, {.max_iterations = solution.outcome.iterations + 5}), solution.u,
              scalar_products<double>(16));
}

TEST_F(GlPoisson, ReportsWhenItDoesNotConverge) { check_no_convergence(in(PoissonMemory::global)); }

TEST_F(GlPoisson, ErrorsNameTheLimitAndTheRemedy) {
  DeviceDescription device;
  device.renderer = "Card";
  device.free_memory = device.storage_block = 1 << 20;
  device.texture_side = 300;
  const auto whole_of = [](Index n) { return PoissonExtents{.n = n, .first_row = 0, .rows = n}; };
  EXPECT_EQ(poisson_obstacle<double>(device, whole_of(64), PoissonMemory::global), "");
  EXPECT_EQ(poisson_obstacle<float>(device, whole_of(64), PoissonMemory::texture2d), "");
  EXPECT_THAT(poisson_obstacle<double>(device, whole_of(400), PoissonMemory::shared),
              testing::AllOf(HasSubstr("storage block of Card"), HasSubstr("smaller N"), HasSubstr("single")));
  EXPECT_THAT(poisson_obstacle<float>(device, whole_of(400), PoissonMemory::global),
              testing::AllOf(HasSubstr("Card has"), HasSubstr("free")));
  EXPECT_THAT(poisson_obstacle<float>(device, whole_of(301), PoissonMemory::texture2d),
              testing::AllOf(HasSubstr("300 texels a side"), HasSubstr("--memory global")));
  EXPECT_THAT(poisson_obstacle<float>(device, whole_of(12000), PoissonMemory::texture1d), HasSubstr("texel buffer"));
  for (const PoissonMemory memory : {PoissonMemory::texture1d, PoissonMemory::texture2d}) {
    EXPECT_THAT(poisson_obstacle<double>(device, whole_of(8), memory), HasSubstr("--precision single"));
  }
  EXPECT_THAT(poisson_obstacle<float>(device, {.n = 8, .first_row = 0, .rows = 4}, PoissonMemory::texture2d),
              HasSubstr("whole squares"));
  EXPECT_THROW(make_poisson_strip<double>(device_, whole_of(8), PoissonMemory::texture2d), std::runtime_error);
  constexpr auto multigrid = PoissonPreconditioner::multigrid;
  EXPECT_THAT(poisson_obstacle<float>(device, whole_of(8), PoissonMemory::texture1d, multigrid),
              testing::AllOf(HasSubstr("storage buffers"), HasSubstr("--preconditioner none")));
  device.free_memory = Index{6} << 14;  // six vectors of 64 x 64 in single; multigrid takes seven
  EXPECT_EQ(poisson_obstacle<float>(device, whole_of(60), PoissonMemory::global), "");
  EXPECT_THAT(poisson_obstacle<float>(device, whole_of(60), PoissonMemory::global, multigrid), HasSubstr("7 vectors"));
  EXPECT_THROW(
      make_poisson_strip<float>(device_, {.n = 8, .first_row = 0, .rows = 4}, PoissonMemory::global, multigrid),
      std::invalid_argument);
}

TEST_F(GlPoisson, LeavesNoGlObjects) {
  const auto solve = [&] {
    for (const PoissonMemory memory : all_poisson_memories) {
      const auto strip = whole<float>(20, memory);
      (void)solve_poisson(*strip);
    }
    const auto strip = whole<float>(20, PoissonMemory::global, PoissonPreconditioner::multigrid);
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
