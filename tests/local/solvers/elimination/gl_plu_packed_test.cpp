// Compares every variant of PLU factorisation on a device with LAPACK; see also gl_gauss_jordan_test.cpp.
#include <algorithm>

#include "solvers/elimination/elimination.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/linear_systems.hpp"

namespace glinpack::solvers {
namespace {

using test::Values;
using test::view;

class GlPluPacked : public testing::Test {
 protected:
  /// Expects P A = L U, computed in double precision, to within roundoff of A and of the terms of L U.
  template <class Real>
  static void expect_factors(const Values<Real>& a, const Values<Real>& factors, const std::vector<Index>& order) {
    for (Index i = 0; i < a.rows; ++i) {
      for (Index j = 0; j < a.columns; ++j) {
        double product = 0, terms = 0;
        for (Index k = 0; k <= std::min(i, j); ++k) {
          const double term = (k == i ? 1.0 : double{factors(i, k)}) * double{factors(k, j)};
          product += term;
          terms += std::abs(term);
        }
        const double expected = a(order[static_cast<std::size_t>(i)], j);
        EXPECT_LE(std::abs(product - expected), tolerance<Real>(a.rows) * (terms + std::abs(expected)))
            << "element " << i << ", " << j;
      }
    }
  }

  Device device_{test::any_gl_device(), {}, true};
};

TEST_F(GlPluPacked, EveryVariantFactorisesAndSolvesOddAndEvenSizes) {
  for (const EliminationVariant variant : all_elimination_variants) {
    for (const auto& [n, columns] : {std::pair{1, 1}, {2, 3}, {5, 2}, {16, 1}, {33, 5}, {50, 4}}) {
      SCOPED_TRACE(std::string(name_of(variant)) + ", n " + std::to_string(n));
      Values<float> a = test::random_values<float>(n, n, 7), factors(n, n);
      Values<float> b = test::random_values<float>(n, columns, 2), x(n, columns);
      DenseSystem<float> system{.a = view(a), .b = view(b), .x = view(x), .factors = view(factors)};
      plu_packed.make(device_, system, {.variant = variant}).run();
      expect_factors(a, factors, system.row_order);
      test::expect_solution(a, x, b);
    }
  }
}

TEST_F(GlPluPacked, TheVariantComputeFactorisesInDoublePrecision) {
  for (const auto& [n, columns] : {std::pair{1, 1}, {5, 2}, {33, 5}}) {
    SCOPED_TRACE(n);
    auto a = test::random_values<double>(n, n, 7), b = test::random_values<double>(n, columns, 2);
    Values<double> factors(n, n), x(n, columns);
    DenseSystem<double> system{.a = view(a), .b = view(b), .x = view(x), .factors = view(factors)};
    plu_packed.make(device_, system, {.variant = EliminationVariant::compute, .precision = Precision::double_}).run();
    expect_factors(a, factors, system.row_order);
    test::expect_solution(a, x, b);
  }
}

TEST_F(GlPluPacked, PlainPivotingMatchesLapackPivots) {
  constexpr Index n = 24;
  Values<float> a = test::random_values<float>(n, n, 9), factors(n, n);
  DenseSystem<float> system{.a = view(a), .factors = view(factors)};
  plu_packed.make(device_, system, {.variant = EliminationVariant::plain}).run();
  Values<float> expected = test::transposed(a);  // LAPACK's function returns the transposed factors of the transpose
  ASSERT_EQ(solve_on_host<float>(view(expected), {nullptr, 0, 0, 1}), 0);
  double largest = 0, difference = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      largest = std::max(largest, std::abs(double{expected(j, i)}));
      difference = std::max(difference, std::abs(double{expected(j, i)} - double{factors(i, j)}));
    }
  }
  const double condition = test::solve_exactly(a, test::identity(n)).condition;
  EXPECT_LE(difference, tolerance<float>(n) * condition * largest);
  EXPECT_LE(*std::max_element(factors.elements.begin(), factors.elements.end()), 2 * largest);
}

TEST_F(GlPluPacked, RejectsNonFiniteNumbersAndFullPivoting) {
  Values<float> a = test::identity(4);
  DenseSystem<float> system{.a = view(a)};
  EXPECT_THROW(plu_packed.make(device_, system, {.pivoting = EliminationPivoting::full}), std::invalid_argument);
  a(2, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(plu_packed.make(device_, system, {}).run(), std::invalid_argument);
}

}  // namespace
}  // namespace glinpack::solvers
