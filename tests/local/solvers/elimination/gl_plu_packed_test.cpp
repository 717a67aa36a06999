// Compares every variant of PLU factorisation on a device with LAPACK.
#include <gmock/gmock.h>

#include <algorithm>

#include "solvers/elimination/elimination.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/gl_objects.hpp"
#include "tests/local/linear_systems.hpp"

namespace glinpack::solvers {
namespace {

using test::singular_step;
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

TEST_F(GlPluPacked, TheStepsSolveSeveralSystems) {
  for (const EliminationVariant variant : all_elimination_variants) {
    Values<float> a(9, 9), b = test::random_values<float>(9, 2, 2), x(9, 2);
    DenseSystem<float> system{.a = view(a), .b = view(b), .x = view(x)};
    const Steps steps = plu_packed.make(device_, system, {.variant = variant});
    EXPECT_EQ(singular_step([&] { steps.run(); }), 0);
    for (const unsigned seed : {4U, 5U}) {
      test::copy_elements(test::random_values<float>(9, 9, seed), a);
      steps.run();
      test::expect_solution(a, x, b);
    }
  }
}

TEST_F(GlPluPacked, ReportsTheStepOfSingularAndNearlySingularMatrices) {
  for (const EliminationVariant variant : all_elimination_variants) {
    SCOPED_TRACE(name_of(variant));
    const Index block = block_size(variant);
    const auto step_of = [&](Values<float> a) {
      DenseSystem<float> system{.a = view(a)};
      return singular_step([&] { plu_packed.make(device_, system, {.variant = variant}).run(); });
    };
    Values<float> column = test::random_values<float>(12, 12, 5), row = test::random_values<float>(14, 14, 6),
                  near = test::random_values<float>(8, 8, 5);
    for (Index i = 0; i < 12; ++i) column(i, 6) = 0;
    for (Index j = 0; j < 14; ++j) row(9, j) = 2 * row(2, j);
    for (Index j = 0; j < 8; ++j) near(7, j) = near(3, j) * (1 + 1e-7F * static_cast<float>(j));
    EXPECT_EQ(step_of(column), 6 / block);
    EXPECT_EQ(step_of(row), 14 / block - 1);
    EXPECT_EQ(step_of(near), 8 / block - 1);
  }
}

TEST_F(GlPluPacked, RejectsNonFiniteNumbersAndFullPivoting) {
  Values<float> a = test::identity(4);
  DenseSystem<float> system{.a = view(a)};
  EXPECT_THROW(plu_packed.make(device_, system, {.pivoting = EliminationPivoting::full}), std::invalid_argument);
  a(2, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(plu_packed.make(device_, system, {}).run(), std::invalid_argument);
}

TEST_F(GlPluPacked, SolversLeaveNoGlObjectsNorDoFailedOnes) {
  device_.staging(1 << 12);
  const Index side = device_.description().texture_side;
  const int before = test::count_gl_objects(*device_.context());
  for (const EliminationVariant variant : all_elimination_variants) {
    const EliminationSettings settings{.variant = variant};
    {
      Values<float> zeros(6, 6), b(6, 1), x(6, 1);
      DenseSystem<float> system{.a = view(zeros), .b = view(b), .x = view(x)};
      const Steps steps = plu_packed.make(device_, system, settings);
      EXPECT_GT(test::count_gl_objects(*device_.context()), before);
      EXPECT_THROW(steps.run(), SingularMatrixError);
    }
    const Index columns = side * block_size(variant) + 1;
    EXPECT_THAT(plu_packed.obstacle(device_.description(), 2, columns, settings),
                testing::HasSubstr(std::to_string(side)));
    Values<float> a(2, 2), wide(2, columns);
    DenseSystem<float> system{.a = view(a), .b = view(wide), .x = view(wide)};
    EXPECT_THROW(plu_packed.make(device_, system, settings), std::runtime_error);
    EXPECT_EQ(test::count_gl_objects(*device_.context()), before);
  }
}

}  // namespace
}  // namespace glinpack::solvers
