// The host solvers that serve as baselines, and the residuals of solutions and factors.
#include "openblas/host_solvers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/row_interchanges.hpp"
#include "solvers/accuracy.hpp"
#include "tests/local/linear_systems.hpp"

namespace glinpack {
namespace {

using test::Values;
using test::view;

TEST(HostSolvers, SolveAndInvert) {
  // by hand: 2 x + y = 5, x + 3 y = 10; det 5
  Values<double> a(2, 2), right(1, 2);
  a.elements = {2, 1, 1, 3};
  right.elements = {5, 10};
  Values<double> inverse = a;
  EXPECT_EQ(solve_on_host<double>(view(a), {right.elements.data(), 2, 1, 2}), 0);
  EXPECT_NEAR(right(0, 0), 1, tolerance<double>(2));
  EXPECT_NEAR(right(0, 1), 3, tolerance<double>(2));
  EXPECT_EQ(invert_on_host<double>(view(inverse)), 0);
  const double expected[] = {0.6, -0.2, -0.2, 0.4};
  for (std::size_t e = 0; e < 4; ++e) EXPECT_NEAR(inverse.elements[e], expected[e], tolerance<double>(2));
}

TEST(HostSolvers, SolvesWithAAndNotWithItsTranspose) {
  Values<float> a = test::random_values<float>(7, 7, 1), b = test::random_values<float>(7, 2, 2), x(7, 2);
  Values<float> factors = a, columns = test::transposed(b);
  ASSERT_EQ(solve_on_host<float>(view(factors), {columns.elements.data(), 7, 2, 7}), 0);
  x = test::transposed(columns);
  EXPECT_LE(scaled_residual<float>(view(a), view(x), view(b)), 1);
}

TEST(HostSolvers, FactorsAndRowOrderReproduceTheMatrix) {
  constexpr Index n = 9;
  const Values<float> a = test::random_values<float>(n, n, 3);
  Values<float> factors = test::transposed(a);  // row-major A^T is column-major A
  std::vector<Index> pivots(n);
  ASSERT_EQ(factorize_on_host<float>({factors.elements.data(), n, n, n}, pivots), 0);
  const std::vector<Index> order = row_order_of(pivots);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end())) << "the test needs interchanged rows";
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      float sum = i <= j ? factors(j, i) : 0;
      for (Index k = 0; k < std::min(i, j + 1); ++k) sum += factors(k, i) * factors(j, k);
      EXPECT_NEAR(sum, a(order[static_cast<std::size_t>(i)], j), tolerance<float>(n)) << i << ", " << j;
    }
  }
}

TEST(HostSolvers, SingularMatricesAreReported) {
  Values<float> a(3, 3), right(1, 3);
  a.elements = {1, 0, 2, 0, 0, 0, 3, 0, 5};
  Values<float> again = a, third = a;
  EXPECT_GT(solve_on_host<float>(view(a), {right.elements.data(), 3, 1, 3}), 0);
  std::vector<Index> pivots(3);
  EXPECT_GT(invert_on_host<float>(view(again)), 0);
  EXPECT_GT(factorize_on_host<float>(view(third).transposed(), pivots), 0);
}

TEST(HostSolvers, TheInverseOfAMatrixWithANanIsNan) {
  Values<double> a(2, 2);
  a.elements = {1, std::numeric_limits<double>::quiet_NaN(), 2, 3};
  EXPECT_EQ(invert_on_host<double>(view(a)), 0);
  EXPECT_TRUE(std::isnan(a.elements[0]));
  std::vector<Index> pivots(1);
  EXPECT_THROW(invert_factors_on_host<double>(view(a).transposed(), pivots), std::invalid_argument);
}

TEST(HostSolvers, ScaledResidualEqualsTheHplResidual) {
  // A = 2, x = 3, b = 5: |1| / (eps (2 * 3 + 5) * 1)
  Values<float> a(1, 1), x(1, 1), b(1, 1);
  a(0, 0) = 2, x(0, 0) = 3, b(0, 0) = 5;
  EXPECT_DOUBLE_EQ(scaled_residual<float>(view(a), view(x), view(b)), 1 / (epsilon_of(Precision::single) * 11));
  b(0, 0) = 6;
  EXPECT_EQ(scaled_residual<float>(view(a), view(x), view(b)), 0);
  x(0, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(scaled_residual<float>(view(a), view(x), view(b)), std::numeric_limits<double>::infinity());
  Values<float> wide(1, 2);
  EXPECT_THROW(scaled_residual<float>(view(wide), view(x), view(b)), std::invalid_argument);
}

TEST(HostSolvers, ScaledResidualIsNeverZeroIfTheResidualIsNot) {
  // A = diag(large, small), x = (0, 2^600), b = 0: ||A|| ||x|| exceeds the largest double
  Values<double> a(2, 2), x(2, 1), b(2, 1);
  a(0, 0) = 0x1p600, a(1, 1) = 1, x(1, 0) = 0x1p600;
  EXPECT_EQ(scaled_residual<double>(view(a), view(x), view(b)), 0x1p-600 / (epsilon_of(Precision::double_) * 2));
  a(0, 0) = 0x1p1020, a(1, 1) = 0x1p-300;
  EXPECT_EQ(scaled_residual<double>(view(a), view(x), view(b)), std::numeric_limits<double>::infinity());
}

TEST(HostSolvers, FactorsWithoutPivotingMatchHandComputedOnes) {
  Values<double> a(3, 3);
  a.elements = {2, 1, 1, 4, 5, 3, 2, 7, 10};  // L below: 2, 1, 2; U: 2 1 1, 3 1, 7
  EXPECT_EQ(factorize_without_pivoting<double>(view(a)), std::nullopt);
  const std::vector<double> expected{2, 1, 1, 2, 3, 1, 1, 2, 7};
  EXPECT_EQ(a.elements, expected);
  a.elements = {1, 2, 3, 1, 2, 4, 5, 6, 7};
  EXPECT_EQ(factorize_without_pivoting<double>(view(a)), 1);
  Values<float> wide(1, 2);
  EXPECT_THROW(factorize_without_pivoting<float>(view(wide)), std::invalid_argument);
}

TEST(HostSolvers, ElementwiseResidualScalesWithTheTermsOfEachElement) {
  // A = (1000 1, 0.001 2), L U = (1000 1, 0.001 2 + d): |L| |U| there is 1e-6 + |u|
  Values<float> a(2, 2), factors(2, 2);
  a.elements = {1000, 1, 0.5, 2};
  factors.elements = {1000, 1, 0.0005F, 2.25};
  const double multiplier = double{factors(1, 0)}, unit = epsilon_of(Precision::single) * 2;
  EXPECT_DOUBLE_EQ(elementwise_residual(view(a), view(factors)), (2.25 + multiplier - 2) / (2.25 + multiplier) / unit);
  // the normwise residual does not detect the error
  EXPECT_LT(factors_residual<float>(view(a), view(factors), {}), 0.01 * elementwise_residual(view(a), view(factors)));
  factors(1, 1) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(elementwise_residual(view(a), view(factors)), std::numeric_limits<double>::infinity());
  a.elements = {1, 0, 0, 1};
  factors.elements = {1, 0, 0, 1};
  EXPECT_EQ(elementwise_residual(view(a), view(factors)), 0);
  a(0, 1) = 1;
  EXPECT_EQ(elementwise_residual(view(a), view(factors)), std::numeric_limits<double>::infinity());
  Values<float> wide(1, 2);
  EXPECT_THROW(elementwise_residual(view(wide), view(factors)), std::invalid_argument);
}

TEST(HostSolvers, FactorsOfPlainLoopsMeetTheErrorBound) {
  for (const Index n : {1, 7, 60}) {
    Values<float> a = test::random_values<float>(n, n, 3);
    for (Index i = 0; i < n; ++i) a(i, i) += static_cast<float>(n);
    Values<float> factors = a;
    EXPECT_EQ(factorize_without_pivoting<float>(view(factors)), std::nullopt);
    EXPECT_LE(elementwise_residual(view(a), view(factors)), 1);
    if (n == 1) continue;
    EXPECT_GT(elementwise_residual(view(a), view(a)), 1000);  // A as its own factors
  }
}

TEST(HostSolvers, ResidualOfFactorsIsTheirScaledBackwardError) {
  // rows of A exchanged: P A = (2 1, 1 3), L U = (2 1, 1 3 + 0.5)
  Values<float> a(2, 2), factors(2, 2);
  a.elements = {1, 3, 2, 1};
  factors.elements = {2, 1, 0.5, 3};
  const std::vector<Index> order{1, 0};
  EXPECT_DOUBLE_EQ(factors_residual<float>(view(a), view(factors), order),
                   0.5 / (epsilon_of(Precision::single) * 4 * 2));
  factors.elements = {2, 1, 0.5, 2.5};
  EXPECT_EQ(factors_residual<float>(view(a), view(factors), order), 0);
  a.elements = {2, 1, 1, 3};
  EXPECT_EQ(factors_residual<float>(view(a), view(factors), {}), 0);
  factors(1, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(factors_residual<float>(view(a), view(factors), {}), std::numeric_limits<double>::infinity());
  Values<float> wide(1, 2);
  EXPECT_THROW(factors_residual<float>(view(wide), view(factors), {}), std::invalid_argument);
}

}  // namespace
}  // namespace glinpack
