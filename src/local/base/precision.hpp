// Precisions, their epsilons for the residual, the tolerances of the tests, and error-free sums and products.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

#include "base/enumerators.hpp"
#include "base/matrix_view.hpp"

namespace glinpack {

/// mixed: factors in single, the solution refined in double.
enum class Precision { single, double_, mixed };
inline constexpr auto all_precisions = values_up_to<Precision::mixed>;

template <class Real>
inline constexpr Precision precision_of = sizeof(Real) == 4 ? Precision::single : Precision::double_;

constexpr std::string_view name_of(Precision precision) {
  return text_by_value(precision, "single", "double", "mixed");
}

/// Another name, of other HPLs; empty: none.
constexpr std::string_view alias_of(Precision precision) { return text_by_value(precision, "fp32", "fp64", ""); }

/// Bytes of an element of the factors.
inline constexpr std::size_t factor_bytes(Precision precision) {
  return precision == Precision::double_ ? sizeof(double) : sizeof(float);
}

/// Unit roundoff of the solution, HPL's eps: 2^-24 single, 2^-53 double and mixed (LAPACK dlamch('E')).
inline constexpr double epsilon_of(Precision precision) {
  return precision == Precision::single ? std::numeric_limits<float>::epsilon() / 2.0
                                        : std::numeric_limits<double>::epsilon() / 2.0;
}

/// The tolerated difference between a computed element and the reference, relative to the largest element, after sums
/// of `terms` products: c n epsilon with c = 4.
template <class Real>
constexpr double tolerance(Index terms) {
  return 4.0 * static_cast<double>(terms < 1 ? 1 : terms) * epsilon_of(precision_of<Real>);
}

struct DoublePair {
  double high = 0;
  double low = 0;
};

inline DoublePair two_sum(double a, double b) {
  const double sum = a + b, b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

inline DoublePair two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

}  // namespace glinpack
