// Products of numbers rounded to halves, on devices with and without matrices of halves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/memory_count.hpp"
#include "products/packed_products.hpp"
#include "tests/local/compute_cases.hpp"
#include "tests/local/device_values.hpp"

namespace glinpack {
namespace {

using namespace test;

template <class Case>
class HalfProductsTest : public testing::Test {
 protected:
  static Backend<float>& backend() {
    static const auto instance = make_backend();
    return *instance;
  }
  static std::unique_ptr<Backend<float>> make_backend(const ComputeLimits& limits = {.stripe_width = 64},
                                                      const std::string& products = "half") {
    static Timeline timeline;
    const BackendOptions options{.debug = true, .values = {{"products", products}}};
    return Case::make(options, timeline, limits);
  }
};
using HalfCases = testing::Types<GlCase<float>, VkCase<float>>;
TYPED_TEST_SUITE(HalfProductsTest, HalfCases, ComputeCaseNames);

/// The largest error of C - L U, in units of what rounding to halves and sums in single precision allow; elements
/// around C have not changed.
double largest_error(Backend<float>& backend, const RandomBlock<float>& l, const RandomBlock<float>& u,
                     const RandomBlock<float>& c) {
  const Values<float> computed = from_device(backend, *c.matrix);
  double largest = 0;
  for (Index i = 0; i < c.values.rows; ++i) {
    for (Index j = 0; j < c.values.columns; ++j) {
      const Index row = i - c.block.row, column = j - c.block.column;
      if (row < 0 || column < 0 || row >= c.block.rows || column >= c.block.columns) {
        EXPECT_EQ(computed(i, j), c.values(i, j)) << i << ", " << j;
        continue;
      }
      double exact = c(row, column), magnitudes = 0;
      for (Index k = 0; k < u.block.rows; ++k) {
        exact -= l(k, row) * u(k, column);
        magnitudes += std::abs(l(k, row) * u(k, column));
      }
      const double depth = static_cast<double>(u.block.rows);
      // elements are at most 1/2: where halves are subnormal, the error is at most 2^-25 of 2^14 in the largest
      const double bound = (0x1.01p-10 + depth * 0x1p-24) * magnitudes + depth * 0x1p-38 +
                           (std::abs(c(row, column)) + std::abs(exact)) * 0x1p-24;
      largest = std::max(largest, std::abs(static_cast<double>(computed(i, j)) - exact) / bound);
    }
  }
  return largest;
}

TYPED_TEST(HalfProductsTest, errors_are_within_the_bound_for_any_extents_and_offsets) {
  Backend<float>& backend = this->backend();
  EXPECT_EQ(backend.info().products, "half");
  unsigned seed = 0;
  for (const auto& [rows, columns, depth] :
       {std::tuple<Index, Index, Index>{1, 1, 1}, {130, 259, 37}, {65, 130, 200}}) {
    for (const Index offset : {0, 3}) {
      const RandomBlock l(backend, 0, offset, depth, rows, ++seed), u(backend, offset, 0, depth, columns, ++seed);
      const RandomBlock c(backend, offset, offset, rows, columns, ++seed);
      backend.update(l.block, u.block, c.block);
      const double error = largest_error(backend, l, u, c);
      EXPECT_LE(error, 1) << rows << " " << columns << " " << depth;
      EXPECT_GT(error, 0.01) << "not rounded to halves";
    }
  }
}

TYPED_TEST(HalfProductsTest, windows_that_hold_few_rows_of_c_give_the_same_product) {
  Backend<float>& backend = this->backend();
  const auto narrow = this->make_backend({.window_bytes = 32 * 1024, .stripe_width = 64});
  const auto result = [&](Backend<float>& one) {
    const RandomBlock l(one, 0, 1, 70, 200, 1), u(one, 2, 0, 70, 140, 2), c(one, 3, 7, 200, 140, 3);
    one.update(l.block, u.block, c.block);
    return from_device(one, *c.matrix);
  };
  const Values<float> expected = result(backend), computed = result(*narrow);
  for (std::size_t i = 0; i < expected.elements.size(); ++i) {
    ASSERT_NEAR(computed.elements[i], expected.elements[i], 0x1p-9F) << i;
  }
}

TYPED_TEST(HalfProductsTest, deep_products_have_parts) {
  Backend<float>& backend = this->backend();
  const RandomBlock l(backend, 0, 0, 2100, 9, 1), u(backend, 0, 0, 2100, 17, 2), c(backend, 0, 0, 9, 17, 3);
  backend.update(l.block, u.block, c.block);
  EXPECT_LE(largest_error(backend, l, u, c), 1);
}

/// 0 - L U.
Values<float> product(Backend<float>& backend, const Values<float>& l, const Values<float>& u) {
  const auto l_matrix = on_device(backend, l), u_matrix = on_device(backend, u);
  const auto c_matrix = on_device(backend, Values<float>(l.columns, u.columns));
  backend.update(whole(*l_matrix), whole(*u_matrix), whole(*c_matrix));
  return from_device(backend, *c_matrix);
}

TYPED_TEST(HalfProductsTest, numbers_are_rounded_to_the_nearest_half_ties_to_even) {
  Values<float> l(1, 60), u(1, 1);
  u(0, 0) = 1;
  for (Index i = 0; i < l.columns; ++i) {
    // from 1 on in steps of a quarter of a half's last digit; then smaller numbers down to subnormal halves
    l(0, i) = i < 20 ? 1 + static_cast<float>(i) * 0x1p-12F : std::ldexp(1.2345678F, -static_cast<int>(i) + 20);
  }
  const Values<float> computed = product(this->backend(), l, u);
  for (Index i = 0; i < l.columns; ++i) {
    const int lowest = -14 + -14;  // 2^14 times 1 is what 1 becomes; 2^-14 is the smallest normal half
    const int digit = std::max(std::ilogb(l(0, i)), lowest) - 10;
    const float expected = std::ldexp(std::nearbyint(std::ldexp(l(0, i), -digit)), digit);
    EXPECT_EQ(computed(i, 0), -expected) << l(0, i);
  }
}

TYPED_TEST(HalfProductsTest, split_numbers_have_a_thousandth_of_the_error) {
  const auto backend = this->make_backend({.stripe_width = 64}, "split");
  EXPECT_EQ(backend->info().products, "split");
  const RandomBlock l(*backend, 0, 3, 100, 70, 1), u(*backend, 2, 0, 100, 90, 2), c(*backend, 1, 1, 70, 90, 3);
  backend->update(l.block, u.block, c.block);
  EXPECT_LE(largest_error(*backend, l, u, c), 1e-3);
}

TYPED_TEST(HalfProductsTest, powers_of_two_that_scale_the_operands_scale_the_product) {
  Backend<float>& backend = this->backend();
  const auto l = random_values<float>(40, 20, 1), u = random_values<float>(40, 35, 2);
  const Values<float> expected = product(backend, l, u);
  for (const auto& [l_scale, u_scale] : {std::pair{0x1p60F, 0x1p-60F}, {0x1p-70F, 1.F}, {0x1p40F, 0x1p50F}}) {
    auto scaled_l = l, scaled_u = u;
    for (float& element : scaled_l.elements) element *= l_scale;
    for (float& element : scaled_u.elements) element *= u_scale;
    const Values<float> computed = product(backend, scaled_l, scaled_u);
    for (std::size_t i = 0; i < expected.elements.size(); ++i) {
      ASSERT_EQ(computed.elements[i], expected.elements[i] * (l_scale * u_scale)) << i;
    }
  }
}

TYPED_TEST(HalfProductsTest, infinity_and_nan_stay_what_they_are) {
  Backend<float>& backend = this->backend();
  auto l = random_values<float>(40, 20, 1);
  const auto u = random_values<float>(40, 35, 2);
  l(7, 4) = std::numeric_limits<float>::infinity();
  l(8, 9) = std::numeric_limits<float>::quiet_NaN();
  const Values<float> computed = product(backend, l, u);
  for (Index i = 0; i < l.columns; ++i) {
    for (Index j = 0; j < u.columns; ++j) {
      EXPECT_EQ(std::isinf(computed(i, j)), i == 4) << i << ", " << j;
      EXPECT_EQ(std::isnan(computed(i, j)), i == 9) << i << ", " << j;
    }
  }
}

/// The largest error of A <- L^-1 A, in units of what rounding I - L^-1 and A to halves allows; elements around A have
/// not changed. Nothing may read L^T on and below its diagonal.
double largest_error_of_solve(Backend<float>& backend, Index k, Index columns) {
  constexpr Index first_row = 3, first_column = 7;
  Values<float> l = random_values<float>(k, k, 1);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) l(i, j) = j > i ? l(i, j) / 16 : std::numeric_limits<float>::quiet_NaN();
  }
  Values<double> inverse(k, k);
  for (Index j = 0; j < k; ++j) {
    inverse(j, j) = 1;
    for (Index i = j + 1; i < k; ++i) {
      for (Index m = j; m < i; ++m) inverse(i, j) -= static_cast<double>(l(m, i)) * inverse(m, j);
    }
  }
  const auto l_matrix = on_device(backend, l);
  const RandomBlock a(backend, first_row, first_column, k, columns, 2);
  backend.solve_unit_lower(whole(*l_matrix), a.block);
  const Values<float> computed = from_device(backend, *a.matrix);
  double largest = 0;
  for (Index j = 0; j < a.values.columns; ++j) {
    for (Index i = 0; i < a.values.rows; ++i) {
      const Index row = i - first_row, column = j - first_column;
      if (row < 0 || column < 0 || row >= k || column >= columns) {
        EXPECT_EQ(computed(i, j), a.values(i, j)) << i << ", " << j;
        continue;
      }
      double exact = a(row, column), magnitudes = 0;
      for (Index m = 0; m < row; ++m) {
        const double term = inverse(row, m) * a(m, column);
        exact += term;
        magnitudes += std::abs(term);
      }
      const double depth = static_cast<double>(k);
      const double bound = (0x1.01p-10 + depth * 0x1p-24) * magnitudes + (1 + std::abs(exact)) * 0x1p-24;
      largest = std::max(largest, std::abs(static_cast<double>(computed(i, j)) - exact) / bound);
    }
  }
  return largest;
}

TYPED_TEST(HalfProductsTest, large_u12_are_products_with_the_inverse) {
  const auto backend = this->make_backend({.stripe_width = 64, .inverse_elements = 600});
  for (const auto& [k, columns] : {std::pair<Index, Index>{10, 60}, {70, 130}, {600, 259}}) {
    const double error = largest_error_of_solve(*backend, k, columns);
    EXPECT_LE(error, 1) << k << " " << columns;
    EXPECT_GT(error, 0.2) << "not rounded to halves";
  }
}

TYPED_TEST(HalfProductsTest, other_u12_are_solved_in_single_precision) {
  constexpr Index k = 70, columns = 130;
  const ComputeLimits all{.stripe_width = 64, .inverse_elements = 1},
      larger{.stripe_width = 64, .inverse_elements = 9101},
      narrow{.window_bytes = 16 * 1024, .stripe_width = 64, .inverse_elements = 1};
  EXPECT_LE(largest_error_of_solve(this->backend(), k, columns), 0.05);
  EXPECT_LE(largest_error_of_solve(*this->make_backend(larger), k, columns), 0.05);
  EXPECT_LE(largest_error_of_solve(*this->make_backend(narrow), k, columns), 0.05);
  EXPECT_LE(largest_error_of_solve(*this->make_backend(all, "split"), k, columns), 0.05);
}

TYPED_TEST(HalfProductsTest, memory_is_reserved_before_operations_and_the_plan_counts_it) {
  for (const Index columns : {900, 17000}) {  // too few for an inverse, and enough
    const auto backend = this->make_backend();
    const MemoryCount count;
    backend->reserve_update(1000, 700, columns);
    EXPECT_GT(count.need().device, 0);
    EXPECT_LE(count.need().device, TypeParam::record.update_bytes({{"products", "half"}}, 1000, 700, columns));
  }
  const auto backend = this->make_backend({.stripe_width = 64, .inverse_elements = 1});
  const RandomBlock l(*backend, 0, 0, 40, 70, 1), u(*backend, 0, 0, 40, 90, 2), c(*backend, 0, 0, 70, 90, 3);
  backend->reserve_update(40, 70, 90);
  const MemoryCount count;
  const std::int64_t before = count.need().device;
  backend->solve_unit_lower(l.block.block(0, 0, 40, 40), u.block);
  backend->update(l.block, u.block, c.block);
  EXPECT_EQ(count.need().device, before);
}

TEST(Products, are_of_the_precision_that_they_need) {
  using compute::check_products;
  for (const Precision precision : {Precision::single, Precision::mixed, Precision::double_}) {
    EXPECT_NO_THROW(check_products("plain", precision));
    EXPECT_NO_THROW(check_products("auto", precision));
  }
  EXPECT_NO_THROW(check_products("half", Precision::mixed));
  EXPECT_NO_THROW(check_products("split", Precision::mixed));
  EXPECT_NO_THROW(check_products("int8", Precision::double_));
  for (const Precision precision : {Precision::single, Precision::double_}) {
    EXPECT_THROW(check_products("half", precision), std::runtime_error);
    EXPECT_THROW(check_products("split", precision), std::runtime_error);
  }
  for (const Precision precision : {Precision::single, Precision::mixed}) {
    EXPECT_THROW(check_products("int8", precision), std::runtime_error);
  }
  EXPECT_THROW(check_products("quarter", Precision::mixed), std::runtime_error);
}

}  // namespace
}  // namespace glinpack
