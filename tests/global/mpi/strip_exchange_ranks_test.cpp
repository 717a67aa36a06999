// Conjugate gradients for the elliptic test problem, one strip per rank.

#include <cmath>
#include <stdexcept>
#include <tuple>

#include "base/precision.hpp"
#include "mpi/communication.hpp"
#include "mpi/strip_exchange.hpp"
#include "solvers/poisson/poisson_cg.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using test::world_rank;
using test::world_size;

template <class Real>
struct Solved {
  CgOutcome outcome;
  std::vector<Real> u;  // this rank's rows, or all rows
  StripExchangeTimes times;
};

template <class Real>
Solved<Real> solve(const PoissonExtents& extents, PoissonNeighbours<Real>& neighbours, CgLimits limits, int threads) {
  if (limits.max_iterations == 0) limits.max_iterations = poisson_max_iterations(extents.n);
  const auto strip = make_host_poisson_strip<Real>(extents, threads);
  Solved<Real> solved;
  solved.u.resize(static_cast<std::size_t>(extents.rows * extents.n));
  strip->begin(PoissonProblem(extents.n), limits);
  solved.outcome = conjugate_gradients(*strip, neighbours, limits);
  strip->store(solved.u);
  return solved;
}

template <class Real>
Solved<Real> solve_over_ranks(Index n, CgLimits limits = {}, int threads = 1) {
  StripExchange<Real> neighbours(MPI_COMM_WORLD, n);
  Solved<Real> solved = solve(strip_of_rank(n, world_rank(), world_size()), neighbours, limits, threads);
  solved.times = neighbours.times();
  return solved;
}

template <class Real>
Solved<Real> solve_alone(Index n, CgLimits limits = {}) {
  PoissonNeighbours<Real> none;
  return solve({.n = n, .first_row = 0, .rows = n}, none, limits, 1);
}

template <class Real>
void expect_rows_of(const std::vector<Real>& whole, const std::vector<Real>& rows, Index n) {
  const PoissonExtents mine = strip_of_rank(n, world_rank(), world_size());
  ASSERT_EQ(static_cast<Index>(rows.size()), mine.rows * n);
  for (std::size_t e = 0; e < rows.size(); ++e) {
    ASSERT_NEAR(rows[e], whole[static_cast<std::size_t>(mine.first_row * n) + e], tolerance<Real>(n * n))
        << "n " << n << ", element " << e;
  }
}

TEST(StripsOfRanks, CoverTheSquareEvenly) {
  for (const int ranks : {1, 2, 3, 7}) {
    for (const Index n : {7, 8, 33}) {
      Index next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const PoissonExtents strip = strip_of_rank(n, rank, ranks);
        EXPECT_EQ(strip.n, n);
        EXPECT_EQ(strip.first_row, next);
        EXPECT_TRUE(strip.rows == n / ranks || strip.rows == n / ranks + 1);
        next += strip.rows;
      }
      EXPECT_EQ(next, n);
    }
  }
  EXPECT_THROW(strip_of_rank(2, 0, 3), std::invalid_argument);
}

TEST(StripsOfRanks, TakeAsManyIterationsAsThePaper) {
  for (const auto& [n, iterations, error] :
       {std::tuple<Index, Index, double>{32, 48, 3.0128e-3}, {64, 96, 7.7811e-4}}) {
    const Solved<double> solved = solve_over_ranks<double>(n);
    EXPECT_TRUE(solved.outcome.converged);
    EXPECT_EQ(solved.outcome.iterations, iterations);
    double largest =
        PoissonProblem(n).largest_error<double>(solved.u, strip_of_rank(n, world_rank(), world_size()).first_row);
    all_reduce(MPI_COMM_WORLD, &largest, 1, MPI_DOUBLE, MPI_MAX);
    EXPECT_NEAR(largest, error, 0.5e-4 * std::pow(10, std::floor(std::log10(error))));
  }
}

TEST(StripsOfRanks, MatchTheIterationsOfOneProcess) {
  for (const Index n :
       {Index{world_size()}, Index{2 * world_size() + 1}, Index{33}}) {  // strips of one row, of two and three
    for (const Index iterations : {1, 2, 20}) {
      const CgLimits limits{.max_iterations = iterations};
      expect_rows_of(solve_alone<double>(n, limits).u, solve_over_ranks<double>(n, limits).u, n);
      expect_rows_of(solve_alone<float>(n, limits).u, solve_over_ranks<float>(n, limits).u, n);
    }
    const Solved<double> alone = solve_alone<double>(n), distributed = solve_over_ranks<double>(n);
    EXPECT_EQ(distributed.outcome.iterations, alone.outcome.iterations) << n;
    expect_rows_of(alone.u, distributed.u, n);
  }
}

TEST(StripsOfRanks, AreBitwiseReproducibleWithAnyNumberOfThreads) {
  const std::vector<double> first = solve_over_ranks<double>(33).u;
  EXPECT_EQ(solve_over_ranks<double>(33).u, first);
  EXPECT_EQ(solve_over_ranks<double>(33, {}, 3).u, first);
}

TEST(StripsOfRanks, ExposedExchangeTimeIsAtMostTheExchangeTime) {
  const Solved<double> solved = solve_over_ranks<double>(32);
  EXPECT_GE(solved.times.exposed, 0);
  EXPECT_LE(solved.times.exposed, solved.times.exchange);
  EXPECT_GT(solved.times.sums, 0);
}

TEST(StripsOfRanks, SendEdgesToTheNeighboursAndStripsToTheRoot) {
  constexpr Index n = 7;
  if (n < world_size()) return;
  const PoissonExtents mine = strip_of_rank(n, world_rank(), world_size());
  std::vector<float> rows;
  for (Index i = 0; i < mine.rows; ++i) rows.insert(rows.end(), n, static_cast<float>(mine.first_row + i));
  StripExchange<float> neighbours(MPI_COMM_WORLD, n);
  const std::span<const float> all(rows);
  const GhostRows<float> ghosts = neighbours.exchange({all.first(n), all.last(n)});
  EXPECT_EQ(ghosts.above.empty(), world_rank() == 0);
  EXPECT_EQ(ghosts.below.empty(), world_rank() + 1 == world_size());
  for (const float row : ghosts.above) EXPECT_EQ(row, static_cast<float>(mine.first_row - 1));
  for (const float row : ghosts.below) EXPECT_EQ(row, static_cast<float>(mine.first_row + mine.rows));
  const std::vector<float> whole = gather_strips<float>(MPI_COMM_WORLD, n, rows);
  ASSERT_EQ(static_cast<Index>(whole.size()), world_rank() == 0 ? n * n : 0);
  for (std::size_t e = 0; e < whole.size(); ++e) EXPECT_EQ(whole[e], static_cast<float>(e / n));
}

TEST(StripsOfRanks, ResidualsOfStripsSumToTheResidualOfTheSquare) {
  constexpr Index n = 33;
  const CgLimits limits{.max_iterations = 9};
  const std::vector<double> u = solve_alone<double>(n, limits).u;
  const PoissonExtents mine = strip_of_rank(n, world_rank(), world_size());
  const auto row = [&](Index i) {
    return i < 0 || i >= n ? std::span<const double>()
                           : std::span<const double>(u).subspan(static_cast<std::size_t>(i * n), n);
  };
  const auto squares = PoissonProblem(n).residual_squares(
      std::span<const double>(u).subspan(static_cast<std::size_t>(mine.first_row * n),
                                         static_cast<std::size_t>(mine.rows * n)),
      mine.first_row, row(mine.first_row - 1), row(mine.first_row + mine.rows));
  const double residual = sum_over_ranks(MPI_COMM_WORLD, squares.residual),
               right = sum_over_ranks(MPI_COMM_WORLD, squares.right);
  const auto alone = PoissonProblem(n).residual_squares<double>(u, 0, {}, {});
  EXPECT_NEAR(std::sqrt(residual / right), std::sqrt(alone.residual / alone.right), tolerance<double>(n * n));
}

}  // namespace
}  // namespace glinpack
