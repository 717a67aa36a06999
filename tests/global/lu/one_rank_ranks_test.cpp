// Factors of one process, which sends nothing: in every world each rank makes its own.

#include "lu/factorize.hpp"
#include "openblas/host_solvers.hpp"
#include "tests/global/cached_backend.hpp"
#include "tests/local/device_values.hpp"
#include "tests/local/panel_checks.hpp"

namespace glinpack::test {
namespace {

template <class Real>
void expect_factors(const std::string& backend_name, const RunParameters& parameters) {
  auto& [timeline, backend] = cached_backend<Real>(backend_name);
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
    ASSERT_EQ(factorize_on_one_rank<Real>(*backend, *matrix, parameters, pivots), std::nullopt);
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

TEST(OneRank, FactorsHaveLapacksLayout) {
  expect_factors<float>("openblas", {.nb = 16});
  expect_factors<double>("reference", {.nb = 16});
  expect_factors<double>("openblas", {.nb = 16, .pivoting = Pivoting::tournament, .lookahead = 0});
}
TEST(OneRank, FactorsOfDevicePanelsHaveLapacksLayout) {
  expect_factors<float>("gl-compute", {.nb = 16, .panel = PanelPlace::device});
  expect_factors<double>("vk-compute", {.nb = 16, .panel = PanelPlace::device});
}

TEST(OneRank, ReportsTheFirstColumnWithoutAPivotAndRejectsNonSquareMatrices) {
  auto& [timeline, backend] = cached_backend<double>("openblas");
  const RunParameters parameters{.nb = 4};
  Values<double> singular = random_values<double>(9, 9, 1);
  for (Index i = 0; i < 9; ++i) singular(i, 6) = 0;
  std::vector<Index> pivots(9);
  const auto matrix = on_device(*backend, singular);
  EXPECT_EQ(factorize_on_one_rank<double>(*backend, *matrix, parameters, pivots), 6);
  const auto wide = backend->allocate(3, 4);
  EXPECT_THROW(factorize_on_one_rank<double>(*backend, *wide, parameters, pivots), std::invalid_argument);
}

}  // namespace
}  // namespace glinpack::test
