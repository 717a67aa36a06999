// Compares OpenBLAS's panel arithmetic in host memory with the reference's.

#include <limits>
#include <memory>

#include "base/precision.hpp"
#include "openblas/openblas_backend.hpp"
#include "reference/reference_backend.hpp"
#include "tests/local/panel_checks.hpp"

namespace glinpack::test {
namespace {

struct PrecisionNames {
  template <class Real>
  static std::string GetName(int) {
    return std::string(name_of(precision_of<Real>));
  }
};
using Precisions = ::testing::Types<float, double>;

template <class Real>
class PanelArithmeticTest : public ::testing::Test {
 protected:
  PanelArithmetic<Real>& tested() { return *tested_; }
  PanelArithmetic<Real>& reference() { return *reference_; }
  Random& random() { return random_; }

  ColumnMajorMatrix<Real> matrix(Index rows, Index columns) { return {rows, columns, random_}; }
  ColumnMajorMatrix<Real> triangle(Index k) {
    ColumnMajorMatrix<Real> result(k, k, random_);
    if (k > 0) make_well_conditioned(result.view().data, k, result.leading_dimension, random_);
    return result;
  }

  /// Expects the view within `relative` of the largest element, and the frame around it exactly.
  static void expect_same(const ColumnMajorMatrix<Real>& actual, const ColumnMajorMatrix<Real>& wanted,
                          double relative = 0) {
    const double allowed = relative * std::max(1.0, largest_magnitude(wanted.elements));
    for (std::size_t at = 0; at < wanted.elements.size(); ++at) {
      const Index i = (static_cast<Index>(at) - 1) % wanted.leading_dimension;
      const Index j = (static_cast<Index>(at) - 1) / wanted.leading_dimension;
      const bool inside = at > 0 && i < wanted.rows && j < wanted.columns;
      const double difference =
          std::abs(static_cast<double>(actual.elements[at]) - static_cast<double>(wanted.elements[at]));
      ASSERT_TRUE(difference <= (inside ? allowed : 0.0))
          << (inside ? "element (" : "frame at (") << i << ", " << j << ") is " << actual.elements[at]
          << " and should be " << wanted.elements[at];
    }
  }

 private:
  std::unique_ptr<PanelArithmetic<Real>> tested_ = make_openblas_panel_arithmetic<Real>(2);
  std::unique_ptr<PanelArithmetic<Real>> reference_ = make_reference_panel_arithmetic<Real>();
  Random random_{7};
};
TYPED_TEST_SUITE(PanelArithmeticTest, Precisions, PrecisionNames);

TYPED_TEST(PanelArithmeticTest, pivot_factorises_with_the_reference_s_pivots) {
  for (const auto& [rows, columns] :
       {std::pair<Index, Index>{1, 1}, {5, 1}, {7, 7}, {33, 8}, {64, 64}, {100, 31}, {130, 130}, {1000, 96}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns);
    const auto original = this->matrix(rows, columns);
    auto actual = original;
    auto wanted = original;
    std::vector<Index> actual_pivots(static_cast<std::size_t>(columns));
    std::vector<Index> wanted_pivots(static_cast<std::size_t>(columns));
    EXPECT_EQ(this->tested().factorize_partial(actual.view(), actual_pivots), std::nullopt);
    EXPECT_EQ(this->reference().factorize_partial(wanted.view(), wanted_pivots), std::nullopt);
    EXPECT_EQ(actual_pivots, wanted_pivots);
    for (auto* factors : {&actual, &wanted}) {
      const auto [error, scale] = factorization_error(original, *factors, actual_pivots);
      EXPECT_LE(error, tolerance<TypeParam>(columns) * scale);
    }
    // The elements around the panel must be unchanged.
    auto restored = actual;
    for (Index j = 0; j < columns; ++j) {
      auto unchanged = original;
      std::copy_n(unchanged.view().column(j), rows, restored.view().column(j));
    }
    this->expect_same(restored, original);
  }
}

TYPED_TEST(PanelArithmeticTest, pivot_reports_the_first_column_without_a_pivot) {
  for (const Index zero_column : {Index{0}, Index{3}, Index{9}}) {
    auto a = this->matrix(20, 10);
    std::fill_n(a.view().column(zero_column), 20, TypeParam{0});
    auto b = a;
    std::vector<Index> pivots(10);
    EXPECT_EQ(this->tested().factorize_partial(a.view(), pivots), zero_column);
    EXPECT_EQ(this->reference().factorize_partial(b.view(), pivots), zero_column);
  }
}

TYPED_TEST(PanelArithmeticTest, eliminate_divides_by_the_upper_triangle) {
  for (const auto& [rows, k] : {std::pair<Index, Index>{1, 1}, {9, 1}, {1, 9}, {50, 16}, {77, 33}, {200, 130}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << k);
    auto u11 = this->triangle(k);
    auto actual = this->matrix(rows, k);
    auto wanted = actual;
    this->tested().solve_l21(u11.view(), actual.view());
    this->reference().solve_l21(u11.view(), wanted.view());
    this->expect_same(actual, wanted, tolerance<TypeParam>(k));
  }
}

TYPED_TEST(PanelArithmeticTest, solve_unit_lower_solves_with_the_unit_lower_triangle) {
  for (const auto& [k, columns] : {std::pair<Index, Index>{1, 1}, {9, 1}, {1, 9}, {16, 50}, {33, 77}, {130, 65}}) {
    SCOPED_TRACE(testing::Message() << k << " x " << columns);
    auto l11 = this->triangle(k);
    auto actual = this->matrix(k, columns);
    auto wanted = actual;
    this->tested().solve_unit_lower(l11.view(), actual.view());
    this->reference().solve_unit_lower(l11.view(), wanted.view());
    this->expect_same(actual, wanted, tolerance<TypeParam>(k));
  }
}

TYPED_TEST(PanelArithmeticTest, update_subtracts_the_product) {
  struct Extents {
    Index rows, columns, k;
  };
  for (const auto& [rows, columns, k] :
       {Extents{1, 1, 1}, Extents{40, 3, 8}, Extents{65, 17, 130}, Extents{500, 32, 32}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", k = " << k);
    auto l21 = this->matrix(rows, k);
    auto u12 = this->matrix(k, columns);
    auto actual = this->matrix(rows, columns);
    auto wanted = actual;
    this->tested().update(l21.view(), u12.view(), actual.view());
    this->reference().update(l21.view(), u12.view(), wanted.view());
    this->expect_same(actual, wanted, tolerance<TypeParam>(k + 1));
  }
}

TYPED_TEST(PanelArithmeticTest, eliminate_column_scales_and_subtracts_the_outer_product) {
  for (const auto& [rows, columns] : {std::pair<Index, Index>{0, 4}, {1, 0}, {9, 0}, {1, 1}, {33, 7}, {3000, 15}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns);
    constexpr Index u_stride = 3;
    const auto u = random_elements<TypeParam>(columns * u_stride + 1, this->random());
    auto actual_l = random_elements<TypeParam>(rows, this->random());
    auto wanted_l = actual_l;
    auto actual = this->matrix(rows, columns);
    auto wanted = actual;
    const auto pivot = static_cast<TypeParam>(0.75);
    this->tested().eliminate_column(pivot, actual_l, u.data(), u_stride, actual.view());
    this->reference().eliminate_column(pivot, wanted_l, u.data(), u_stride, wanted.view());
    EXPECT_EQ(actual_l, wanted_l);
    this->expect_same(actual, wanted, tolerance<TypeParam>(2));
  }
}

TYPED_TEST(PanelArithmeticTest, eliminate_column_divides_by_pivots_whose_inverse_overflows) {
  const TypeParam pivot = std::numeric_limits<TypeParam>::denorm_min() * 4;
  std::vector<TypeParam> l{pivot, -pivot / 2, 0};
  this->tested().eliminate_column(pivot, l, nullptr, 1, {nullptr, 3, 0, 3});
  EXPECT_EQ(l, (std::vector<TypeParam>{1, -0.5, 0}));
}

TYPED_TEST(PanelArithmeticTest, empty_panels_are_unchanged) {
  auto a = this->matrix(6, 6);
  const auto before = a;
  for (auto* arithmetic : {&this->tested(), &this->reference()}) {
    EXPECT_EQ(arithmetic->factorize_partial(a.view().block(0, 0, 6, 0), {}), std::nullopt);
    EXPECT_EQ(arithmetic->factorize_partial(a.view().block(0, 0, 0, 0), {}), std::nullopt);
    arithmetic->solve_l21(a.view().block(0, 0, 3, 3), a.view().block(3, 0, 0, 3));
    arithmetic->solve_l21(a.view().block(0, 0, 0, 0), a.view().block(3, 0, 3, 0));
    arithmetic->solve_unit_lower(a.view().block(0, 0, 3, 3), a.view().block(0, 3, 3, 0));
    arithmetic->update(a.view().block(0, 0, 3, 0), a.view().block(0, 0, 0, 3), a.view().block(3, 3, 3, 3));
    EXPECT_EQ(arithmetic->find_pivot({}).row, -1);
  }
  this->expect_same(a, before);
}

TYPED_TEST(PanelArithmeticTest, find_pivot_returns_the_first_of_equal_elements) {
  for (const Index count : {1, 2, 7, 16, 31, 1023, 1024, 1025, 3001}) {
    for (const Index at : {Index{0}, count / 3, count / 2, count - 1}) {
      std::vector<TypeParam> column = random_elements<TypeParam>(count, this->random());
      column[static_cast<std::size_t>(at)] = -2;
      column.back() = at == count - 1 ? TypeParam{-2} : TypeParam{2};
      EXPECT_EQ(this->tested().find_pivot(column).row, at) << "of " << count;
      EXPECT_EQ(this->reference().find_pivot(column).row, at) << "of " << count;
    }
  }
  const std::vector<TypeParam> zeros(40, TypeParam{0});
  EXPECT_EQ(this->tested().find_pivot(zeros).row, 0);
}

TYPED_TEST(PanelArithmeticTest, find_pivot_prefers_nan_to_infinity_and_infinity_to_numbers) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  for (const std::size_t count : {5U, 64U, 2500U}) {
    for (std::size_t at = 1; at < count - 1; at += count / 5) {
      std::vector<TypeParam> column = random_elements<TypeParam>(static_cast<Index>(count), this->random());
      column[at] = -infinity;
      EXPECT_EQ(this->tested().find_pivot(column).row, static_cast<Index>(at)) << "of " << count;
      column[at] = nan;
      column.front() = infinity;
      column.back() = nan;
      EXPECT_EQ(this->tested().find_pivot(column).row, static_cast<Index>(at)) << "of " << count;
      EXPECT_EQ(this->reference().find_pivot(column).row, static_cast<Index>(at)) << "of " << count;
    }
  }
}

}  // namespace
}  // namespace glinpack::test
