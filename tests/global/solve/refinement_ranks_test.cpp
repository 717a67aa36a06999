// Mixed precision: solves with single-precision factors and refines the solution in double until HPL's test passes.
#include <lapacke.h>

#include <functional>

#include "matrix/matrix_source.hpp"
#include "mpi/mpi_transport.hpp"
#include "run/run.hpp"
#include "solve/refinement.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using test::grids_of_this_world;
using test::on_every_grid;

using Method = Refinement::Method;

RunParameters parameters_of(Index n, Index nb, Pivoting pivoting) {
  return {.n = n, .nb = nb, .pivoting = pivoting, .refine = true};
}

/// [A | b] of another source, each element changed as a function of its indices and value.
class ChangedSource final : public MatrixSource {
 public:
  using Change = std::function<double(Index i, Index j, double value)>;
  ChangedSource(std::unique_ptr<MatrixSource> original, Change change)
      : original_(std::move(original)), change_(std::move(change)) {}

  void fill(const Distribution& distribution, GridPosition at, LocalIndex first,
            RowMajorView<double> to) const override {
    original_->fill(distribution, at, first, to);
    for (Index i = 0; i < to.rows; ++i) {
      const Index row = distribution.rows.global(first + i, at.row).value;
      for (Index j = 0; j < to.columns; ++j) {
        to(i, j) = change_(row, distribution.columns.global(LocalIndex(j), at.column).value, to(i, j));
      }
    }
  }

 private:
  std::unique_ptr<MatrixSource> original_;
  Change change_;
};

/// A = (I - 2 u u^T) S (I - 2 v v^T) of order n with the singular values s and random unit vectors u, v (LAPACK's latms
/// with one reflection a side); b random.
std::unique_ptr<MatrixSource> with_singular_values(std::vector<double> s) {
  const auto n = static_cast<Index>(s.size());
  std::vector<double> u(s.size());
  std::vector<double> v(s.size());
  double u_square = 0;
  double v_square = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    u[i] = static_cast<double>(splitmix64(1, i) >> 11U) * 0x1p-52 - 1;
    v[i] = static_cast<double>(splitmix64(2, i) >> 11U) * 0x1p-52 - 1;
    u_square += u[i] * u[i];
    v_square += v[i] * v[i];
  }
  double sum = 0;  // u^T S v
  for (std::size_t i = 0; i < s.size(); ++i) {
    u[i] /= std::sqrt(u_square);
    v[i] /= std::sqrt(v_square);
  }
  for (std::size_t i = 0; i < s.size(); ++i) sum += u[i] * s[i] * v[i];
  return std::make_unique<ChangedSource>(make_source(MatrixKind::uniform, n, 3), [=](Index i, Index j, double value) {
    if (j == n) return value;
    const auto row = static_cast<std::size_t>(i);
    const auto column = static_cast<std::size_t>(j);
    return (i == j ? s[row] : 0.0) - 2 * u[row] * u[column] * s[column] - 2 * s[row] * v[row] * v[column] +
           4 * u[row] * v[column] * sum;
  });
}

/// Values from 1 down to 1/condition, evenly spaced in their logarithms.
std::vector<double> graded(Index n, double condition) {
  std::vector<double> s;
  for (Index i = 0; i < n; ++i) {
    s.push_back(std::pow(condition, -static_cast<double>(i) / static_cast<double>(std::max<Index>(1, n - 1))));
  }
  return s;
}

RunResult refined(const std::string& backend_name, const ProcessGrid& grid, const RunParameters& parameters,
                  const MatrixSource& source) {
  auto& [timeline, backend] = test::cached_backend<float>(backend_name);
  RunOptions options;
  options.gather_solution = true;
  return run(parameters, grid, *backend, source, options);
}

double largest(const std::vector<double>& a) {
  double result = 0;
  for (const double value : a) result = std::max(result, std::fabs(value));
  return result;
}

// LAPACK's solution of the system in double precision.
std::vector<double> lapacks_solution(const MatrixSource& source, Index n) {
  std::vector<double> augmented(static_cast<std::size_t>(n * (n + 1)));
  source.fill(Distribution(n, n, {1, 1}), {0, 0}, LocalIndex(0), {augmented.data(), n, n + 1, n + 1});
  std::vector<double> a = test::original_matrix<double>(source, n);
  std::vector<double> x;
  for (Index i = 0; i < n; ++i) x.push_back(augmented[static_cast<std::size_t>(i * (n + 1) + n)]);
  std::vector<lapack_int> pivots(static_cast<std::size_t>(n));
  const auto order = static_cast<lapack_int>(n);
  LAPACKE_dgesv(LAPACK_ROW_MAJOR, order, 1, a.data(), order, pivots.data(), x.data(), 1);
  return x;
}

class Refining : public testing::TestWithParam<std::string> {};

// Solves for a right-hand side that was not a column of the factorised matrix.
template <class Real>
void expect_solution_with_factors(const std::string& backend_name, const ProcessGrid& grid, Index n, Index nb,
                                  Pivoting pivoting) {
  const RunParameters parameters = parameters_of(n, nb, pivoting);
  const auto source = make_hpl_source(n);
  const auto factors = test::factorize_and_gather<Real>(parameters, grid, backend_name, *source);

  auto& [timeline, backend] = test::cached_backend<Real>(backend_name);
  const Distribution distribution(n, nb, grid.shape());
  const GridPosition at = grid.position();
  const auto a = test::on_device(*backend, test::local_part<Real>(*source, distribution, at));
  MpiTransport<Real> transport(grid, BroadcastKind::ring, timeline);
  const RankContext<Real> context{parameters, distribution, grid, *backend, transport};
  Substitution<Real> substitution(context, *a);
  substitution.reserve_for_any_right_hand_side();
  substitution.set_interchanges(test::factorize(parameters, distribution, grid, *backend, timeline, *a).interchanges);
  const auto right_hand_side = [](Index i) {
    return static_cast<double>(static_cast<Real>(std::sin(3.0 * static_cast<double>(i) + 1)));
  };
  std::vector<Real> r;
  for (Index i = 0; i < a->rows(); ++i) {
    r.push_back(static_cast<Real>(right_hand_side(distribution.rows.global(LocalIndex(i), at.row).value)));
  }
  for (int round = 0; round < 2; ++round) {  // the second run must not depend on the first
    const std::vector<Real> local = substitution.run(r);
    const std::vector<double> x = gather_solution(distribution, grid, std::vector<double>(local.begin(), local.end()));
    if (!grid.is_root()) continue;
    // Higham, Accuracy and Stability, theorem 9.4: |P r - P A x| <= 3 n eps |L| |U| |x|
    const auto original = test::original_matrix<Real>(*source, n);
    const auto element = [n](const std::vector<double>& matrix, Index i, Index j) {
      return matrix[static_cast<std::size_t>(i * n + j)];
    };
    double error = 0;
    double bound = 0;
    for (Index i = 0; i < n; ++i) {
      double left = right_hand_side(i);
      for (Index j = 0; j < n; ++j) left -= element(original, i, j) * x[static_cast<std::size_t>(j)];
      error = std::fabs(left) <= error ? error : std::fabs(left);  // keeps a NaN
      double sum = 0;
      for (Index k = 0; k <= i; ++k) {
        const double l = k == i ? 1 : std::fabs(element(factors.lu, i, k));
        for (Index j = k; j < n; ++j) {
          sum += l * std::fabs(element(factors.lu, k, j) * x[static_cast<std::size_t>(j)]);
        }
      }
      bound = std::max(bound, sum);
    }
    EXPECT_LE(error, 3 * tolerance<Real>(n) * bound)
        << "N = " << n << ", nb = " << nb << ", " << name_of(pivoting) << ", " << sizeof(Real) * 8 << " bits";
  }
}

TEST_P(Refining, SolvesAnyRightHandSideWithoutLaterInterchangesInTheFactors) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const auto& [n, nb] : {std::pair<Index, Index>{1, 1}, {2, 1}, {5, 8}, {30, 3}, {64, 16}, {97, 40}}) {
      for (const Pivoting pivoting : {Pivoting::partial, Pivoting::local, Pivoting::tournament}) {
        expect_solution_with_factors<float>(GetParam(), grid, n, nb, pivoting);
        if (test::has_double_precision(GetParam()))
          expect_solution_with_factors<double>(GetParam(), grid, n, nb, pivoting);
      }
    }
  });
}

TEST_P(Refining, ReachesDoublePrecisionFromSinglePrecisionFactors) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const auto& [n, nb] : {std::pair<Index, Index>{1, 1}, {7, 16}, {35, 4}, {97, 40}, {150, 16}}) {
      for (const Pivoting pivoting : {Pivoting::partial, Pivoting::local, Pivoting::tournament}) {
        SCOPED_TRACE(testing::Message() << "N = " << n << ", nb = " << nb << ", " << name_of(pivoting));
        const auto source = make_hpl_source(n);
        const RunResult result = refined(GetParam(), grid, parameters_of(n, nb, pivoting), *source);
        ASSERT_TRUE(result.refinement);
        EXPECT_TRUE(result.refinement->converged) << result.refinement->stopped;
        EXPECT_TRUE(result.passed) << result.failure;
        EXPECT_EQ(result.residual.epsilon, 0x1p-53);
        EXPECT_LT(result.residual.scaled, 16);
        const auto& history = result.refinement->history;
        EXPECT_LT(history.back().scaled_residual, 16);
        EXPECT_EQ(history.front().method, Method::factors);
        if (n >= 35) {
          // eight digits less than double precision
          EXPECT_GT(history.front().scaled_residual, 1e4);
          EXPECT_GE(result.refinement->iterations(), 1);
        }
        EXPECT_LE(result.refinement->iterations(), 6);
        EXPECT_GT(result.refinement->seconds, 0);
        EXPECT_LE(result.refinement->seconds, result.solve_seconds);
        if (!grid.is_root()) continue;
        const std::vector<double> expected = lapacks_solution(*source, n);
        ASSERT_EQ(result.solution.size(), expected.size());
        // HPL's threshold times the condition number of these matrices, about 100 n
        const double bound = 16 * 100 * static_cast<double>(n * n) * 0x1p-53 * largest(expected);
        for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(result.solution[i], expected[i], bound) << i;
      }
    }
  });
}

TEST_P(Refining, RecordsItsTimeOnEveryRank) {
  on_every_grid([](const ProcessGrid& grid) {
    const RunResult result = refined(GetParam(), grid, parameters_of(96, 8, Pivoting::partial), *make_hpl_source(96));
    if (!grid.is_root()) return;
    for (const RankRecord& rank : result.ranks) {
      double seconds = 0;
      for (const Interval& interval : rank.intervals) {
        if (interval.phase == Phase::refinement) seconds += interval.seconds();
        EXPECT_LE(interval.end, result.seconds);
      }
      EXPECT_GT(seconds, 0) << rank.row << "," << rank.column;
    }
  });
}

// The condition number exceeds single precision: corrections by the factors are mostly wrong.
TEST_P(Refining, SwitchesToGmresIfClassicalRefinementStalls) {
  on_every_grid([](const ProcessGrid& grid) {
    const auto source = with_singular_values(graded(60, 1e10));
    const RunResult result = refined(GetParam(), grid, parameters_of(60, 8, Pivoting::partial), *source);
    ASSERT_TRUE(result.refinement);
    EXPECT_TRUE(result.passed) << result.failure;
    EXPECT_GE(result.refinement->iterations_of(Method::classical), 1);
    EXPECT_GE(result.refinement->iterations_of(Method::gmres), 2);
    // without the factors, GMRES would need about one step per row
    EXPECT_LE(result.refinement->iterations(), 30);
    EXPECT_LT(result.residual.scaled, 16);
  });
}

TEST_P(Refining, ReportsWhyItDoesNotConverge) {
  on_every_grid([](const ProcessGrid& grid) {
    std::vector<double> s(120, 1.0);
    const auto source = with_singular_values(s);
    RunParameters parameters = parameters_of(120, 16, Pivoting::partial);
    parameters.threshold = 1e-9;  // below what double precision can reach
    const RunResult result = refined(GetParam(), grid, parameters, *source);
    ASSERT_TRUE(result.refinement);
    EXPECT_FALSE(result.refinement->converged);
    EXPECT_FALSE(result.passed);
    EXPECT_TRUE(result.checked);
    EXPECT_NE(result.failure.find("not converged after"), std::string::npos) << result.failure;
    EXPECT_NE(result.failure.find("stagnates"), std::string::npos) << result.failure;
    EXPECT_GT(result.refinement->iterations_of(Method::gmres), 0);
    EXPECT_LT(result.refinement->iterations(), max_refinements);
    EXPECT_LT(result.residual.scaled, 16) << "the best solution is not kept";
  });
}

// Scaling by powers of two changes only exponents.
TEST_P(Refining, AcceptsAnyMagnitudeThatSinglePrecisionFactorsCanRepresent) {
  on_every_grid([](const ProcessGrid& grid) {
    constexpr Index n = 40;
    for (const auto& [a_exponent, b_exponent] : {std::pair{0, 300}, {0, -300}, {90, 0}, {-90, 0}, {60, -400}}) {
      SCOPED_TRACE(testing::Message() << "A 2^" << a_exponent << ", b 2^" << b_exponent);
      const ChangedSource source(make_hpl_source(n), [a = a_exponent, b = b_exponent](Index, Index j, double value) {
        return std::scalbn(value, j == n ? b : a);
      });
      const RunResult result = refined(GetParam(), grid, parameters_of(n, 8, Pivoting::partial), source);
      ASSERT_TRUE(result.refinement);
      EXPECT_TRUE(result.passed) << result.failure;
      EXPECT_LE(result.refinement->iterations(), 4);
      EXPECT_EQ(result.refinement->iterations_of(Method::gmres), 0);
    }
  });
}

TEST_P(Refining, StopsAtOnceIfTheFactorsAreNotFinite) {
  on_every_grid([](const ProcessGrid& grid) {
    const ChangedSource source(make_hpl_source(40), [](Index, Index, double value) { return std::scalbn(value, 200); });
    const RunResult result = refined(GetParam(), grid, parameters_of(40, 8, Pivoting::partial), source);
    ASSERT_TRUE(result.refinement);
    EXPECT_FALSE(result.passed);
    EXPECT_FALSE(result.refinement->converged);
    EXPECT_NE(result.failure.find("no finite correction"), std::string::npos) << result.failure;
    EXPECT_LE(result.refinement->iterations(), 1);
  });
}

TEST_P(Refining, ReportsAMatrixThatIsSingularInSinglePrecision) {
  on_every_grid([](const ProcessGrid& grid) {
    // rows 0 and 1 agree in single precision, not in double
    const ChangedSource source(make_source(MatrixKind::dominant, 12, 1), [](Index i, Index j, double value) {
      if (i > 1) return j < 2 ? 0.0 : value;
      return j < 2 ? (i == 1 && j == 1 ? 1 + 1e-12 : 1.0) : 0.5;
    });
    const RunResult result = refined(GetParam(), grid, parameters_of(12, 4, Pivoting::partial), source);
    EXPECT_EQ(result.singular_column, 1);
    EXPECT_FALSE(result.refinement);
    EXPECT_FALSE(result.passed);
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, Refining, testing::ValuesIn(backend_names()), test::backend_identifier);

// Single precision loses half of the singular values; GMRES would need one step for each.
TEST(RefiningByGmres, StopsAfterFiftyIterationsAndKeepsTheBestSolution) {
  on_every_grid([&](const ProcessGrid& grid) {
    std::vector<double> s(80, 1.0);
    for (const double value : graded(80, 1e9)) s.push_back(1e-9 * value);
    const RunResult result =
        refined("openblas", grid, parameters_of(160, 40, Pivoting::partial), *with_singular_values(s));
    ASSERT_TRUE(result.refinement);
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.refinement->iterations(), max_refinements);
    EXPECT_NE(result.failure.find("not converged after 50 iterations"), std::string::npos) << result.failure;
    EXPECT_NE(result.failure.find("no more than 50"), std::string::npos) << result.failure;
    EXPECT_LE(result.residual.scaled, result.refinement->history.front().scaled_residual);
  });
}

// Hilbert's rows in reverse order: well conditioned, but the best pivot rows belong to other processes.
TEST(RefiningByGmres, SolvesASystemThatFailsWithLocalPivotingInDoublePrecision) {
  for (const GridShape shape : grids_of_this_world()) {
    if (shape.rows != 4) continue;
    const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::row_major);
    const auto source = make_formula_source(
        [hilbert = matrix_element(MatrixKind::hilbert, 256, 1)](Index i, Index j) { return hilbert(255 - i, j); }, 256,
        1);
    RunParameters parameters = parameters_of(256, 16, Pivoting::local);
    // rounding of OpenBLAS depends on its kernel: with some, classical refinement suffices; so GMRES only by reference
    const RunResult result = refined("reference", grid, parameters, *source);
    EXPECT_TRUE(result.passed) << result.failure;
    EXPECT_GE(result.refinement->iterations_of(Method::gmres), 1);
    const RunResult by_blas = refined("openblas", grid, parameters, *source);
    EXPECT_TRUE(by_blas.passed) << by_blas.failure;

    parameters.refine = false;
    auto& [timeline, backend] = test::cached_backend<double>("openblas");
    const RunResult in_double = run(parameters, grid, *backend, *source);
    EXPECT_FALSE(in_double.passed);
    EXPECT_FALSE(in_double.refinement);
  }
}

}  // namespace
}  // namespace glinpack
