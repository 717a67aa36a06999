// The measures of LU errors: factors of one backend, residuals and solutions in more than double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "openblas/host_solvers.hpp"
#include "solvers/lu_study/factorize_on_backend.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/factorization_error.hpp"
#include "tests/local/gl_matrices.hpp"

namespace glinpack::test {
namespace {

template <class Real>
void expect_factors(const std::string& backend_name) {
  BackendOptions options;
  if (computes_on_device(backend_name)) options.device = any_gl_device();
  Timeline timeline;
  const auto backend = make_backend<Real>(backend_name, options, timeline);
  Random random(3);
  for (const Index n : {1, 5, 16, 33, 50}) {
    SCOPED_TRACE(backend_name + " " + std::to_string(n));
    ColumnMajorMatrix<Real> a(n, n, random), factors = a;
    Values<Real> rows(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) rows(i, j) = a.view()(i, j);
    }
    const auto matrix = on_device(*backend, rows);
    std::vector<Index> pivots(static_cast<std::size_t>(n));
    ASSERT_EQ(factorize_on_backend(*backend, *matrix, 16, std::span<Index>(pivots)), std::nullopt);
    rows = from_device(*backend, *matrix);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) factors.view()(i, j) = rows(i, j);
    }
    const auto [error, scale] = factorization_error(a, factors, pivots);
    EXPECT_LE(error, tolerance<Real>(n) * scale);
    // LAPACK can solve with these factors
    std::vector<Real> x(static_cast<std::size_t>(n), 1);
    substitute_on_host<Real>(factors.view(), pivots, {x.data(), n, 1, n});
    Values<Real> a_rows(n, n), solution(n, 1), ones(n, 1);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) a_rows(i, j) = a.view()(i, j);
      solution(i, 0) = x[static_cast<std::size_t>(i)];
      ones(i, 0) = 1;
    }
    const auto view = [](const Values<Real>& v) {
      return RowMajorView<const Real>{v.elements.data(), v.rows, v.columns, v.columns};
    };
    EXPECT_LE(scaled_residual<Real>(view(a_rows), view(solution), view(ones)), 16);
  }
}

TEST(BlockedLu, FactorsOfHostBackendsReproduceTheMatrix) {
  expect_factors<float>("openblas");
  expect_factors<double>("reference");
}
TEST(GlBlockedLu, FactorsOfTheDeviceReproduceTheMatrix) {
  expect_factors<float>("gl-compute");
  expect_factors<double>("gl-compute");
}

TEST(BlockedLu, ReportsTheFirstColumnWithoutAPivotAndRejectsNonSquareMatrices) {
  Timeline timeline;
  const auto backend = make_backend<double>("reference", {}, timeline);
  Values<double> singular = random_values<double>(9, 9, 1);
  for (Index i = 0; i < 9; ++i) singular(i, 6) = 0;
  std::vector<Index> pivots(9);
  const auto matrix = on_device(*backend, singular);
  EXPECT_EQ(factorize_on_backend(*backend, *matrix, 4, std::span<Index>(pivots)), 6);
  const auto wide = backend->allocate(3, 4);
  EXPECT_THROW(factorize_on_backend(*backend, *wide, 4, std::span<Index>(pivots)), std::invalid_argument);
}

TEST(AccurateSolution, ResidualsAreComputedInTwiceDoublePrecision) {
  // 1 - (1 + 2^-40) (1 - 2^-40) = 2^-80, which a sum in double precision loses completely
  const double a[] = {1 + std::ldexp(1, -40)}, x[] = {1 - std::ldexp(1, -40)}, b[] = {1};
  EXPECT_EQ(accurate_residual({a, 1, 1, 1}, x, {}, b)[0], std::ldexp(1, -80));
  const double low[] = {std::ldexp(1, -80)};
  EXPECT_EQ(accurate_residual({a, 1, 1, 1}, x, low, b)[0], -std::ldexp(1, -120));
  EXPECT_THROW(accurate_residual({a, 1, 1, 1}, x, {}, {}), std::invalid_argument);
}

TEST(AccurateSolution, SolvesAnIllConditionedSystemToFullAccuracy) {
  // A Pascal matrix: its elements, and the solution for this b, are whole numbers; condition above 10^12
  constexpr Index n = 12;
  Values<double> a(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) a(i, j) = i == 0 || j == 0 ? 1 : a(i - 1, j) + a(i, j - 1);
  }
  std::vector<double> expected, b(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) expected.push_back(i % 2 == 0 ? 1 : -1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) b[static_cast<std::size_t>(i)] += a(i, j) * expected[static_cast<std::size_t>(j)];
  }
  EXPECT_EQ(accurate_solution({a.elements.data(), n, n, n}, b), expected);
}

TEST(AccurateSolution, IsEmptyIfTheMatrixIsSingular) {
  const double a[] = {1, 2, 2, 4}, b[] = {1, 1};
  EXPECT_TRUE(accurate_solution({a, 2, 2, 2}, b).empty());
  EXPECT_THROW(accurate_solution({a, 1, 2, 2}, b), std::invalid_argument);
}

}  // namespace
}  // namespace glinpack::test
