// Factors and solution on every grid: LAPACK's pivots, and backward errors.
#include <lapacke.h>

#include <set>

#include "base/hpl_generator.hpp"
#include "matrix/matrix_source.hpp"
#include "mpi/scatter_matrix.hpp"
#include "run/run.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using namespace test;

constexpr Size sizes[] = {{1, 1},  {1, 8},   {2, 1},   {5, 8},   {29, 1},  {30, 3},
                          {35, 4}, {64, 16}, {65, 16}, {97, 40}, {130, 33}};

// The pivots of LAPACK's getrf in double precision: the reference for both precisions.
template <class Real>
std::vector<lapack_int> lapack_pivots(const MatrixSource& source, Index order) {
  const auto n = static_cast<lapack_int>(order);
  std::vector<double> lu = original_matrix<Real>(source, order);
  std::vector<lapack_int> pivots(static_cast<std::size_t>(n));
  LAPACKE_dgetrf(LAPACK_ROW_MAJOR, n, n, lu.data(), n, pivots.data());
  return pivots;
}

template <class Real>
void expect_lapack_factors(const std::string& backend, const ProcessGrid& grid, Size size) {
  const auto source = make_hpl_source(size.n);
  const auto factors = factorize_and_gather<Real>(parameters_of(size, Pivoting::partial), grid, backend, *source);
  if (!grid.is_root()) return;
  SCOPED_TRACE(testing::Message() << backend << ", " << grid.shape().rows << "x" << grid.shape().columns
                                  << ", N = " << size.n << ", nb = " << size.nb << ", " << sizeof(Real) * 8 << " bits");
  const auto expected = lapack_pivots<Real>(*source, size.n);
  for (Index j = 0; j < size.n; ++j) {
    ASSERT_EQ(factors.pivots[static_cast<std::size_t>(j)], expected[static_cast<std::size_t>(j)] - 1) << "column " << j;
  }
  const auto system = original_system<Real>(*source, size.n);
  const auto backward = factorization_error(factors, system);
  EXPECT_LE(backward.error, tolerance<Real>(size.n) * backward.largest_a);
  EXPECT_LE(solution_error(factors, system), tolerance<Real>(size.n));
}

template <class Real>
void expect_error_bound(const std::string& backend, const ProcessGrid& grid, Size size, Pivoting pivoting) {
  const auto source = make_hpl_source(size.n);
  const RunParameters parameters = parameters_of(size, pivoting);
  const auto factors = factorize_and_gather<Real>(parameters, grid, backend, *source);
  if (!grid.is_root()) return;
  SCOPED_TRACE(testing::Message() << backend << ", " << grid.shape().rows << "x" << grid.shape().columns
                                  << ", N = " << size.n << ", nb = " << size.nb << ", " << sizeof(Real) * 8 << " bits");
  const BlockCyclic rows(size.n, size.nb, grid.shape().rows);
  for (Index i = 0; i < size.n; ++i) {
    const Index pivot = factors.pivots[static_cast<std::size_t>(i)];
    ASSERT_GE(pivot, i);
    if (pivoting == Pivoting::local) {
      EXPECT_EQ(rows.owner(GlobalIndex(pivot)), rows.owner(GlobalIndex(i))) << "row interchanged between process rows";
    }
  }
  const auto backward = factorization_error(factors, original_system<Real>(*source, size.n));
  EXPECT_LE(backward.error, tolerance<Real>(size.n) * backward.l_times_u);
}

class EveryBackend : public testing::TestWithParam<std::string> {};

TEST_P(EveryBackend, PartialPivotingHasLapacksPivotsAndSmallBackwardErrors) {
  on_every_grid([&](const ProcessGrid& grid) {
    for (const Size size : sizes) {
      if (has_double_precision(GetParam())) expect_lapack_factors<double>(GetParam(), grid, size);
      // for larger n, single-precision roundoff may change the choice between nearly equal pivots
      if (size.n <= 65) expect_lapack_factors<float>(GetParam(), grid, size);
    }
  });
}

TEST_P(EveryBackend, LocalPivotingMeetsTheErrorBoundAndMovesNoRowBetweenProcesses) {
  on_every_grid([&](const ProcessGrid& grid) {
    for (const Size size : sizes) {
      if (has_double_precision(GetParam())) expect_error_bound<double>(GetParam(), grid, size, Pivoting::local);
      expect_error_bound<float>(GetParam(), grid, size, Pivoting::local);
    }
  });
}

// Additional sizes: panels with several reduction trees, and process rows with few rows or none.
TEST_P(EveryBackend, TournamentPivotingMeetsTheErrorBoundAndSolves) {
  on_every_grid([&](const ProcessGrid& grid) {
    std::vector<Size> all(std::begin(sizes), std::end(sizes));
    all.insert(all.end(), {{150, 70}, {160, 130}, {140, 139}, {90, 200}});
    for (const Size size : all) {
      if (has_double_precision(GetParam())) expect_error_bound<double>(GetParam(), grid, size, Pivoting::tournament);
      expect_error_bound<float>(GetParam(), grid, size, Pivoting::tournament);
    }
    RunParameters parameters = parameters_of({170, 80}, Pivoting::tournament);
    auto& [timeline, backend] = test::cached_backend<float>(GetParam());
    const RunResult result = run(parameters, grid, *backend, *make_hpl_source(parameters.n));
    EXPECT_TRUE(result.passed) << result.failure;
    EXPECT_LT(result.growth, 40);
  });
}

// The white paper varies its subsize from 8 to the local matrix (table 1). With larger blocks, some ranks are empty.
TEST_P(EveryBackend, LocalPivotingAcceptsBlocksFrom8ToLargerThanTheLocalMatrix) {
  on_every_grid([&](const ProcessGrid& grid) {
    const Index n = 96;
    for (const Index nb : std::set<Index>{8, n / grid.shape().rows, n / grid.shape().columns, 50, 2 * n}) {
      expect_error_bound<float>(GetParam(), grid, {n, nb}, Pivoting::local);
    }
  });
}

TEST_P(EveryBackend, EveryRankRecordsEveryPassInItsRoleAndThePivotRankFactorisesTheLastBlock) {
  on_every_grid([&](const ProcessGrid& grid) {
    for (const Size size : {Size{64, 16}, Size{65, 16}, Size{48, 24}}) {
      SCOPED_TRACE(testing::Message() << "N = " << size.n);
      auto& [timeline, backend] = test::cached_backend<float>(GetParam());
      const auto source = make_hpl_source(size.n);
      const RunResult result = run(parameters_of(size, Pivoting::local), grid, *backend, *source);
      const Index passes = (size.n + size.nb - 1) / size.nb;
      for (const RankRecord& rank : result.ranks) {
        const GridPosition at{rank.row, rank.column};
        std::set<Index> recorded;
        bool factorises_last = false;
        for (const Interval& interval : rank.intervals) {
          if (interval.pass < 0) continue;
          recorded.insert(interval.pass);
          EXPECT_EQ(interval.role, role_in_pass(grid.shape(), interval.pass, at));
          factorises_last |= interval.pass == passes - 1 && interval.phase == Phase::panel;
        }
        EXPECT_EQ(recorded.size(), static_cast<std::size_t>(passes)) << rank.row << "," << rank.column;
        EXPECT_EQ(factorises_last, at == pivot_position(grid.shape(), passes - 1));
      }
    }
  });
}

template <class Real>
void expect_singular_column_reported(const std::string& backend) {
  const Index n = 23;
  on_every_grid([&](const ProcessGrid& grid) {
    for (const Index zero : {0, 7, 22}) {
      for (const Pivoting pivoting : {Pivoting::partial, Pivoting::local, Pivoting::tournament}) {
        std::vector<double> dense(static_cast<std::size_t>(n * n));
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j < n; ++j) {
            dense[static_cast<std::size_t>(i * n + j)] = j == zero ? 0 : i == j ? 4 : hpl_element(n, i, j);
          }
        }
        const Distribution distribution(n, 4, grid.shape());
        const auto source = scatter_matrix(grid, distribution, grid.is_root() ? &dense : nullptr);
        const auto factors = factorize_and_gather<Real>(parameters_of({n, 4}, pivoting), grid, backend, *source);
        EXPECT_EQ(factors.zero_pivot, zero);
      }
    }
  });
}

TEST_P(EveryBackend, ReportsTheFirstColumnWithoutAPivotOfASingularMatrix) {
  expect_singular_column_reported<float>(GetParam());
  if (has_double_precision(GetParam())) expect_singular_column_reported<double>(GetParam());
}

template <class Real>
void expect_same_factors_with_look_ahead(const std::string& backend) {
  on_every_grid([&](const ProcessGrid& grid) {
    for (const Size size : {Size{5, 8}, Size{13, 1}, Size{33, 8}, Size{64, 33}}) {
      for (const Pivoting pivoting : {Pivoting::partial, Pivoting::local, Pivoting::tournament}) {
        SCOPED_TRACE(testing::Message() << backend << ", N = " << size.n << ", nb = " << size.nb << ", "
                                        << name_of(pivoting) << " pivoting");
        const auto source = make_hpl_source(size.n);
        RunParameters parameters = parameters_of(size, pivoting);
        parameters.lookahead = 0;
        const auto expected = factorize_and_gather<Real>(parameters, grid, backend, *source);
        parameters.lookahead = 1;
        const auto factors = factorize_and_gather<Real>(parameters, grid, backend, *source);
        if (!grid.is_root()) continue;
        EXPECT_EQ(factors.pivots, expected.pivots);
        if (backend_record(backend).reproducible) {
          EXPECT_EQ(factors.lu, expected.lu);
          EXPECT_EQ(factors.y, expected.y);
        } else {  // a BLAS may sum in another order if a block ends at another column
          const auto backward = factorization_error(factors, original_system<Real>(*source, size.n));
          EXPECT_LE(backward.error, tolerance<Real>(size.n) * backward.l_times_u);
        }
      }
    }
  });
}

TEST_P(EveryBackend, LookAheadDoesNotChangeTheFactors) {
  expect_same_factors_with_look_ahead<float>(GetParam());
  if (has_double_precision(GetParam())) expect_same_factors_with_look_ahead<double>(GetParam());
}

template <class Real>
void expect_passing_runs(const std::string& backend_name) {
  for (const GridShape shape : grids_of_this_world()) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::column_major);
    if (!grid.active()) continue;
    for (const std::string broadcast : {"1rg", "1rM", "2rg", "2rM", "Lng", "LnM", "ibcast", "ring-pipelined"}) {
      const RunParameters parameters{
          .n = 75, .nb = 8, .pivoting = Pivoting::partial, .broadcast = *broadcast_from_name(broadcast)};
      auto& [timeline, backend] = test::cached_backend<Real>(backend_name);
      const auto source = make_hpl_source(parameters.n);
      RunOptions options;
      options.gather_solution = true;
      const RunResult result = run(parameters, grid, *backend, *source, options);
      EXPECT_TRUE(result.passed) << result.failure;
      EXPECT_LT(result.residual.scaled, 16.0);
      EXPECT_GT(result.residual.scaled, 0.0);
      EXPECT_GE(result.growth, 0.5);
      if (!grid.is_root()) continue;
      EXPECT_EQ(result.ranks.size(), static_cast<std::size_t>(shape.size()));
      EXPECT_EQ(result.solution.size(), 75U);
      for (const RankRecord& rank : result.ranks) EXPECT_FALSE(rank.intervals.empty());
    }
  }
}

TEST_P(EveryBackend, EveryBroadcastPassesTheHplTestAndReportsEveryRank) {
  if (has_double_precision(GetParam())) return expect_passing_runs<double>(GetParam());
  expect_passing_runs<float>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Backends, EveryBackend, testing::ValuesIn(backend_names()), test::backend_identifier);

// The reference backend sums in the same order on every grid.
TEST(Reference, FactorsAreBitwiseIdenticalOnEveryGrid) {
  for (const Size size : {Size{5, 8}, Size{30, 3}, Size{65, 16}, Size{97, 40}}) {
    const auto source = make_hpl_source(size.n);
    const RunParameters parameters = parameters_of(size, Pivoting::partial);
    const ProcessGrid alone(MPI_COMM_WORLD, {1, 1}, RankOrder::row_major);
    GatheredFactors<double> expected;
    if (alone.active()) expected = factorize_and_gather<double>(parameters, alone, "reference", *source);
    on_every_grid([&](const ProcessGrid& grid) {
      const auto factors = factorize_and_gather<double>(parameters, grid, "reference", *source);
      if (!grid.is_root()) return;
      EXPECT_EQ(factors.pivots, expected.pivots);
      EXPECT_EQ(factors.lu, expected.lu) << "N = " << size.n << ", nb = " << size.nb;
      EXPECT_EQ(factors.y, expected.y);
    });
  }
}

}  // namespace
}  // namespace glinpack
