// Products by residues, on devices with and without matrices of bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "products/packed_products.hpp"
#include "tests/local/compute_cases.hpp"
#include "tests/local/device_values.hpp"

namespace glinpack {
namespace {

using namespace test;

template <class Case>
class ResidueProductsTest : public testing::Test {
 protected:
  static Backend<double>& backend() {
    static const auto instance = make_backend();
    return *instance;
  }
  static std::unique_ptr<Backend<double>> make_backend(int moduli = compute::default_moduli,
                                                       const ComputeLimits& limits = {.stripe_width = 64}) {
    static Timeline timeline;
    const BackendOptions options{.debug = true, .values = {{"products", "int8:" + std::to_string(moduli)}}};
    return Case::make(options, timeline, limits);
  }
};
using ResidueCases = testing::Types<GlCase<double>, VkCase<double>>;
TYPED_TEST_SUITE(ResidueProductsTest, ResidueCases, ComputeCaseNames);

double norm_of(const RandomBlock<double>& operand, Index column) {
  double squares = 0;
  for (Index k = 0; k < operand.block.rows; ++k) squares += operand(k, column) * operand(k, column);
  return std::sqrt(squares);
}

/// The largest error of C - L U, in units of what accuracy_of() allows; elements around C have not changed.
double largest_error(Backend<double>& backend, const RandomBlock<double>& l, const RandomBlock<double>& u,
                     const RandomBlock<double>& c, int moduli) {
  const Values<double> computed = from_device(backend, *c.matrix);
  double largest = 0;
  for (Index i = 0; i < c.values.rows; ++i) {
    for (Index j = 0; j < c.values.columns; ++j) {
      const Index row = i - c.block.row, column = j - c.block.column;
      if (row < 0 || column < 0 || row >= c.block.rows || column >= c.block.columns) {
        EXPECT_EQ(computed(i, j), c.values(i, j)) << i << ", " << j;
        continue;
      }
      long double exact = c.values(i, j);
      for (Index k = 0; k < u.block.rows; ++k) exact -= static_cast<long double>(l(k, row)) * u(k, column);
      const double bound = compute::accuracy_of(moduli).bound(u.block.rows) * norm_of(l, row) * norm_of(u, column) +
                           std::ldexp(std::abs(c.values(i, j)) + std::abs(static_cast<double>(exact)), -53);
      largest = std::max(largest, static_cast<double>(std::abs(computed(i, j) - exact)) / bound);
    }
  }
  return largest;
}

TYPED_TEST(ResidueProductsTest, errors_are_within_the_bound_for_any_extents_and_offsets) {
  Backend<double>& backend = this->backend();
  unsigned seed = 0;
  for (const auto& [rows, columns, depth] :
       {std::tuple<Index, Index, Index>{1, 1, 1}, {130, 259, 37}, {65, 130, 200}}) {
    for (const Index offset : {0, 3}) {
      const RandomBlock l(backend, 0, offset, depth, rows, ++seed), u(backend, offset, 0, depth, columns, ++seed);
      const RandomBlock c(backend, offset, offset, rows, columns, ++seed);
      backend.update(l.block, u.block, c.block);
      EXPECT_LE(largest_error(backend, l, u, c, compute::default_moduli), 1) << rows << " " << columns << " " << depth;
    }
  }
}

/// The largest error of 0 - L U, in units of 2^-53 |L| |U|.
double error_over_magnitudes(Backend<double>& backend, int moduli) {
  constexpr Index rows = 33, columns = 40, depth = 256;
  const RandomBlock l(backend, 0, 0, depth, rows, 1), u(backend, 0, 0, depth, columns, 2);
  RandomBlock c(backend, 0, 0, rows, columns, 3);
  std::ranges::fill(c.values.elements, 0.0);
  c.matrix = on_device(backend, c.values);
  c.block.matrix = c.matrix.get();
  backend.update(l.block, u.block, c.block);
  if (moduli > 0) {
    EXPECT_LE(largest_error(backend, l, u, c, moduli), 1) << moduli;
  }
  const Values<double> computed = from_device(backend, *c.matrix);
  double largest = 0;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      long double exact = 0, magnitudes = 0;
      for (Index k = 0; k < depth; ++k) {
        exact -= static_cast<long double>(l(k, i)) * u(k, j);
        magnitudes += std::abs(static_cast<long double>(l(k, i)) * u(k, j));
      }
      largest = std::max(largest, static_cast<double>(std::abs(computed(i, j) - exact) / magnitudes));
    }
  }
  return std::ldexp(largest, 53);
}

// The table of docs/performance.md: --gtest_output=json:FILE has the errors.
TYPED_TEST(ResidueProductsTest, fourteen_moduli_are_about_as_exact_as_plain_double_and_thirteen_are_not) {
  static Timeline timeline;
  const auto plain_backend = TypeParam::make({}, timeline, {.stripe_width = 64});
  const double plain = error_over_magnitudes(*plain_backend, 0);
  this->RecordProperty("plain", std::to_string(plain));
  std::map<int, double> errors;
  for (const int moduli : {13, 14, 15, compute::max_moduli}) {
    const auto made = moduli == compute::default_moduli ? nullptr : this->make_backend(moduli);
    errors[moduli] = error_over_magnitudes(made ? *made : this->backend(), moduli);
    this->RecordProperty("moduli_" + std::to_string(moduli), std::to_string(errors[moduli]));
  }
  EXPECT_GT(errors[13], 4 * plain);
  EXPECT_LT(errors[14], 2 * plain);
  EXPECT_LT(errors[15], plain);
  EXPECT_LT(errors[compute::max_moduli], plain);
  EXPECT_LT(compute::accuracy_of(compute::default_moduli).bound(1024), std::ldexp(1, -51));
}

// 2^24 at most is a sum of products of residues: deeper products are made in parts.
TYPED_TEST(ResidueProductsTest, deep_products_have_parts) {
  Backend<double>& backend = this->backend();
  const RandomBlock l(backend, 0, 0, 1100, 9, 1), u(backend, 0, 0, 1100, 17, 2), c(backend, 0, 0, 9, 17, 3);
  backend.update(l.block, u.block, c.block);
  EXPECT_LE(largest_error(backend, l, u, c, compute::default_moduli), 1);
}

TYPED_TEST(ResidueProductsTest, narrow_windows_leave_the_product_to_the_plain_kernel) {
  const auto backend = this->make_backend(compute::default_moduli, {.window_bytes = 16 * 1024, .stripe_width = 64});
  const RandomBlock l(*backend, 0, 0, 64, 33, 1), u(*backend, 0, 0, 64, 40, 2), c(*backend, 0, 0, 33, 40, 3);
  backend->update(l.block, u.block, c.block);
  EXPECT_LE(largest_error(*backend, l, u, c, compute::default_moduli), 64) << "the plain kernel's rounding errors";
}

TYPED_TEST(ResidueProductsTest, a_changed_L_is_packed_again) {
  Backend<double>& backend = this->backend();
  const RandomBlock l(backend, 0, 0, 20, 33, 1), u(backend, 0, 0, 20, 40, 2), c(backend, 0, 0, 33, 40, 3);
  const RandomBlock other(backend, 0, 0, 20, 33, 4), unused(backend, 0, 0, 33, 40, 5);
  backend.update(l.block, u.block, unused.block);
  backend.copy(whole(*other.matrix), whole(*l.matrix));
  backend.update(l.block, u.block, c.block);
  EXPECT_LE(largest_error(backend, other, u, c, compute::default_moduli), 1);
}

// Scales of rows of L and columns of U; `special` stands in one place of each.
struct Extreme {
  const char* name;
  double l_scale, u_scale, special;
  bool sums_overflow = false;
};

TYPED_TEST(ResidueProductsTest, extreme_numbers_give_what_plain_double_gives) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static Timeline timeline;
  const auto plain = TypeParam::make({}, timeline, {.stripe_width = 64});
  Backend<double>& backend = this->backend();
  constexpr Index rows = 20, columns = 35, depth = 40;
  for (const Extreme& extreme : {Extreme{"huge rows, tiny columns", 0x1p400, 0x1p-400, 1},
                                 {"beyond the scales", 0x1p900, 0x1p-900, 1},
                                 {"subnormal", 0x1p-1060, 1, 1},
                                 {"overflow", 0x1p800, 0x1p800, 1, true},
                                 {"zero", 0, 1, 0},
                                 {"infinity", 1, 1, infinity},
                                 {"NaN", 1, 1, std::numeric_limits<double>::quiet_NaN()}}) {
    auto l = random_values<double>(depth, rows, 1), u = random_values<double>(depth, columns, 2);
    for (Index k = 0; k < depth; ++k) {
      for (Index i = 0; i < rows; i += 3) l(k, i) *= extreme.l_scale;
      for (Index j = 0; j < columns; j += 2) u(k, j) *= extreme.u_scale;
    }
    l(7, 4) *= extreme.special;
    u(9, 5) *= extreme.special;
    const auto c = random_values<double>(rows, columns, 3);
    const auto results = [&](Backend<double>& one) {
      const auto l_matrix = on_device(one, l), u_matrix = on_device(one, u), c_matrix = on_device(one, c);
      one.update(whole(*l_matrix), whole(*u_matrix), whole(*c_matrix));
      return from_device(one, *c_matrix);
    };
    const Values<double> expected = results(*plain), computed = results(backend);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        SCOPED_TRACE(testing::Message() << extreme.name << " " << i << " " << j);
        const double wanted = expected(i, j), is = computed(i, j);
        if (extreme.sums_overflow && !std::isfinite(wanted)) {  // the order of a sum decides between infinity and NaN
          EXPECT_FALSE(std::isfinite(is));
          continue;
        }
        if (!std::isfinite(wanted)) {
          EXPECT_EQ(std::isnan(is), std::isnan(wanted));
          EXPECT_TRUE(std::isnan(wanted) || is == wanted) << is;
          continue;
        }
        double sum = std::abs(c(i, j)), l_norm = 0, u_norm = 0;
        for (Index k = 0; k < depth; ++k) {
          sum += std::abs(l(k, i) * u(k, j));
          l_norm = std::hypot(l_norm, l(k, i));
          u_norm = std::hypot(u_norm, u(k, j));
        }
        const double bound = compute::accuracy_of(compute::default_moduli).bound(depth) * l_norm * u_norm;
        EXPECT_LE(std::abs(is - wanted), bound + depth * sum * 0x1p-53);
      }
    }
  }
}

TEST(Moduli, are_14_to_18) {
  EXPECT_EQ(compute::moduli_of("int8"), compute::default_moduli);
  EXPECT_EQ(compute::moduli_of("plain"), 0);
  for (const char* products : {"int8:14", "int8:18"}) {
    EXPECT_NO_THROW(compute::check_products(products, Precision::double_)) << products;
  }
  for (const char* products : {"int8:13", "int8:19", "int8:", "int8:1x", "int8:0", "half:14"}) {
    EXPECT_THROW(compute::check_products(products, Precision::double_), std::runtime_error) << products;
  }
}

}  // namespace
}  // namespace glinpack
