// Compares conjugate gradients for the elliptic test problem on the host with the paper, and strips with the square.
#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>

#include "solvers/poisson/host_multigrid.hpp"
#include "solvers/poisson/poisson_cg.hpp"
#include "tests/local/poisson_strips.hpp"

namespace glinpack {
namespace {

using namespace test;

template <class Real>
std::unique_ptr<PoissonStrip<Real>> whole(Index n, int threads = 1,
                                          PoissonPreconditioner preconditioner = PoissonPreconditioner::none) {
  return make_host_poisson_strip<Real>({.n = n, .first_row = 0, .rows = n}, threads, preconditioner);
}

std::unique_ptr<PoissonStrip<double>> on_host(const PoissonExtents& extents, PoissonPreconditioner preconditioner) {
  return make_host_poisson_strip<double>(extents, 1, preconditioner);
}

TEST(PoissonHost, ReproducesTable1OfThePaper) {
  for (const PoissonRow& row : poisson_rows) check_table_1(row, on_host);
}

TEST(PoissonHost, SolvesOneAndFourPointsAsByHand) {
  // one point: 4 u = b; by symmetry the four points of a 2 x 2 grid are equal: 2 u = b
  for (const Index n : {1, 2}) {
    const auto strip = whole<double>(n);
    const PoissonSolution<double> solution = solve_poisson(*strip);
    EXPECT_EQ(solution.outcome.iterations, 1);
    const double b = PoissonProblem(n).right(0, 0);
    for (const double u : solution.u) EXPECT_NEAR(u, n == 1 ? b / 4 : b / 2, tolerance<double>(4) * b);
  }
}

TEST(PoissonHost, ThreadCountDoesNotChangeTheResult) {
  for (const Index n : {1, 3, 33}) {
    const auto one = whole<float>(n), four = whole<float>(n, 4);
    EXPECT_EQ(solve_poisson(*one).u, solve_poisson(*four).u) << n;
  }
}

TEST(PoissonHost, IsReproducible) {
  const auto strip = whole<double>(17, 2);
  EXPECT_EQ(solve_poisson(*strip).u, solve_poisson(*strip).u);
}

TEST(PoissonHost, StripsGiveTheSolutionOfTheSquare) {
  check_strips<double>(19, {{9, 10}, {1, 2, 16}, {17, 1, 1}},
                       [](const PoissonExtents& extents) { return make_host_poisson_strip<double>(extents, 2); });
}

TEST(PoissonHost, IteratingBeyondTheToleranceChangesNothing) {
  const auto strip = whole<double>(16);
  const PoissonSolution<double> solution = solve_poisson(*strip);
  PoissonStrips<double> strips;
  strips.push_back(whole<double>(16));
  const Index further = solution.outcome.iterations + 5;
  EXPECT_EQ(iterate(strips, {.max_iterations = further}), solution.u);
}

TEST(PoissonHost, ReportsWhenItDoesNotConverge) { check_no_convergence(on_host); }

TEST(PoissonHost, MultigridIterationsDoNotGrowWithTheGrid) {
  check_multigrid({1, 2, 3, 31, 32, 33, 100, 127, 256}, on_host);
}

TEST(PoissonHost, ThreadCountDoesNotChangeMultigrid) {
  for (const Index n : {2, 33, 100}) {
    const auto one = whole<float>(n, 1, PoissonPreconditioner::multigrid);
    const auto four = whole<float>(n, 4, PoissonPreconditioner::multigrid);
    EXPECT_EQ(solve_poisson(*one).u, solve_poisson(*four).u) << n;
  }
}

/// The points of a grid with a border of zeros.
class Points {
 public:
  explicit Points(Index n, unsigned seed = 0)
      : n_(n), values_(static_cast<std::size_t>((n + 2) * (n + 2))), engine_(seed) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) grid().row(i)[j] = uniform(engine_);
    }
  }
  HostGrid<double> grid() { return {.first = values_.data() + n_ + 3, .stride = n_ + 2}; }
  double dot(const HostGrid<double>& other) {
    double sum = 0;
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j < n_; ++j) sum += grid().row(i)[j] * other.row(i)[j];
    }
    return sum;
  }

 private:
  Index n_;
  std::vector<double> values_;
  std::mt19937 engine_;
};

TEST(PoissonHost, AVCycleIsSymmetricAndPositive) {
  ThreadTeam team(2);
  for (const Index n : {1, 2, 3, 6, 17, 40}) {
    SCOPED_TRACE(n);
    HostMultigrid<double> multigrid(n, team);
    Points r(n, 1), s(n, 2);
    multigrid.apply(r.grid());
    const double s_br = s.dot(multigrid.z()), r_br = r.dot(multigrid.z());
    multigrid.apply(s.grid());
    EXPECT_NEAR(r.dot(multigrid.z()), s_br, tolerance<double>(n * n));
    EXPECT_GT(r_br, 0);
    EXPECT_GT(s.dot(multigrid.z()), 0);
  }
}

TEST(PoissonHost, AVCycleReducesEveryErrorToAQuarter) {
  // ||e - B A e|| <= 0.25 ||e|| for every eigenvector e of A; two smoothings p(A) reduce the upper ones to 0.05
  constexpr Index n = 21;
  ThreadTeam team(1);
  HostMultigrid<double> multigrid(n, team);
  for (Index k = 1; k <= n; ++k) {
    for (Index l = 1; l <= n; l += 4) {
      Points e(n), r(n);
      const auto angle = [&](Index mode, Index i) {
        return std::numbers::pi * static_cast<double>(mode * (i + 1)) / (n + 1);
      };
      const double eigenvalue = 4 - 2 * std::cos(angle(k, 0)) - 2 * std::cos(angle(l, 0));
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
          e.grid().row(i)[j] = std::sin(angle(k, i)) * std::sin(angle(l, j));
          r.grid().row(i)[j] = eigenvalue * e.grid().row(i)[j];
        }
      }
      multigrid.apply(r.grid());
      Points left(n);
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) left.grid().row(i)[j] = e.grid().row(i)[j] - multigrid.z().row(i)[j];
      }
      EXPECT_LE(left.dot(left.grid()), 0.25 * 0.25 * e.dot(e.grid())) << k << " " << l;
    }
  }
}

TEST(PoissonHost, MultigridRejectsStrips) {
  EXPECT_THROW(
      make_host_poisson_strip<double>({.n = 4, .first_row = 0, .rows = 2}, 1, PoissonPreconditioner::multigrid),
      std::invalid_argument);
}

TEST(PoissonHost, RejectsAnEmptyGrid) {
  EXPECT_THROW(make_host_poisson_strip<double>({.n = 4, .first_row = 0, .rows = 0}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace glinpack
