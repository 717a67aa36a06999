// The measures of LU errors: residuals and solutions in more than double precision.
#include <gtest/gtest.h>

#include <cmath>

#include "solvers/accuracy.hpp"
#include "tests/local/device_values.hpp"

namespace glinpack::test {
namespace {

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
