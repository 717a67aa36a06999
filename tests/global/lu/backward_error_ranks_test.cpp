// LAPACK's ratios of a factorisation and of a solution (TESTING/LIN/dget01.f, dget02.f), on gathered factors.

#include "matrix/matrix_source.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

/// TESTING/dtest.in: a ratio below it passes.
constexpr double threshold = 30;

struct Ratios {
  double factors = 0;   // ||P A - L U||_1 / (n ||A||_1 eps)
  double solution = 0;  // ||b - A x||_1 / (||A||_1 ||x||_1 eps)
};

double norm_one(const std::vector<double>& a, Index n) {
  double norm = 0;
  for (Index j = 0; j < n; ++j) {
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += std::fabs(a[static_cast<std::size_t>(i * n + j)]);
    norm = std::max(norm, sum);
  }
  return norm;
}

double sum_of_magnitudes(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += std::fabs(value);
  return sum;
}

/// P A - L U.
template <class Real>
std::vector<double> error_of_factors(const test::GatheredFactors<Real>& factors, std::vector<double> a) {
  const Index n = factors.n;
  for (Index j = 0; j < n; ++j) {
    const Index pivot = factors.pivots[static_cast<std::size_t>(j)];
    if (pivot != j) std::swap_ranges(a.begin() + j * n, a.begin() + (j + 1) * n, a.begin() + pivot * n);
  }
  for (Index i = 0; i < n; ++i) {
    double* const row = a.data() + i * n;
    for (Index k = 0; k <= i; ++k) {
      const double l = k == i ? 1 : factors.lu[static_cast<std::size_t>(i * n + k)];
      const double* const u = factors.lu.data() + k * n;
      for (Index j = k; j < n; ++j) row[j] -= l * u[j];
    }
  }
  return a;
}

template <class Real>
Ratios ratios_of(const test::GatheredFactors<Real>& factors, const MatrixSource& source) {
  const Index n = factors.n;
  const double epsilon = epsilon_of(precision_of<Real>);
  const std::vector<double> a = test::original_matrix<Real>(source, n);
  std::vector<double> augmented(static_cast<std::size_t>(n * (n + 1)));
  source.fill(Distribution(n, n, {1, 1}), {0, 0}, LocalIndex(0), {augmented.data(), n, n + 1, n + 1});
  std::vector<double> residual;
  for (Index i = 0; i < n; ++i) {
    double value = static_cast<double>(static_cast<Real>(augmented[static_cast<std::size_t>(i * (n + 1) + n)]));
    for (Index j = 0; j < n; ++j)
      value -= a[static_cast<std::size_t>(i * n + j)] * factors.x[static_cast<std::size_t>(j)];
    residual.push_back(value);
  }
  const double norm = norm_one(a, n);
  return {norm_one(error_of_factors(factors, a), n) / (static_cast<double>(n) * norm * epsilon),
          sum_of_magnitudes(residual) / (norm * sum_of_magnitudes(factors.x) * epsilon)};
}

template <class Real>
void expect_small_ratios(MatrixKind kind, Pivoting pivoting, const ProcessGrid& grid) {
  constexpr Index n = 100;
  const auto source = make_source(kind, n, 100);
  const auto factors =
      test::factorize_and_gather<Real>(test::parameters_of({n, 16}, pivoting), grid, "openblas", *source);
  if (!grid.is_root()) return;
  SCOPED_TRACE(testing::Message() << name_of(kind) << ", " << name_of(pivoting) << ", " << name_of(precision_of<Real>));
  if (kind == MatrixKind::singular) {
    EXPECT_EQ(factors.zero_pivot, n / 2);
    return;
  }
  ASSERT_FALSE(factors.zero_pivot);
  const Ratios ratios = ratios_of(factors, *source);
  if (kind == MatrixKind::wilkinson) {  // growth of 2^30
    EXPECT_GT(ratios.factors, threshold);
    EXPECT_GT(ratios.solution, threshold);
  } else {
    EXPECT_LT(ratios.factors, threshold);
    EXPECT_LT(ratios.solution, threshold);
  }
}

TEST(BackwardError, IsSmallForEveryKindOfMatrixButWilkinsons) {
  test::on_every_grid([](const ProcessGrid& grid) {
    for (const MatrixKind kind : matrix_formulas) {
      for (const Pivoting pivoting : {Pivoting::partial, Pivoting::tournament}) {
        expect_small_ratios<double>(kind, pivoting, grid);
        expect_small_ratios<float>(kind, pivoting, grid);
      }
    }
  });
}

}  // namespace
}  // namespace glinpack
