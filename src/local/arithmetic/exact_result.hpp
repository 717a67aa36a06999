// Results of operations without rounding, and how far computed ones are from them.
#pragma once

#include "local/arithmetic/operations.hpp"

namespace glinpack::arithmetic {

/// (high + low) 2^exponent, with |low| at most half a unit in the last place of high. Sums and products are exact, but
/// for parts 2^-900 below the result; quotients are to 2^-100 of themselves.
struct ExactResult {
  double high = 0;
  double low = 0;
  int exponent = 0;

  bool is_zero() const { return high == 0 && low == 0; }
  /// floor(log2 |result|), of one that is not 0.
  int binade() const;
};

/// Operands must be finite, divisors not 0.
template <class Real>
ExactResult exact_result(Operation operation, const Operands<Real>& operands);

/// (computed - exact) / ulp: ulp is the distance between the numbers of Real next to the exact result, in its binade;
/// among denormals, and at 0, the smallest denormal. Infinite or NaN where `computed` is.
template <class Real>
double error_in_ulps(Real computed, const ExactResult& exact);

}  // namespace glinpack::arithmetic
