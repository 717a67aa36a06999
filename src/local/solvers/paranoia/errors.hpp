// Results of operations without rounding, and the errors of computed ones, judged by what GLSL demands.
//
// The OpenGL Shading Language 4.60, section 4.7.1 "Range and Precision", of single precision: a + b, a - b and a b are
// correctly rounded; a / b and 1 / b are within 2.5 ULP for |b| in [2^-126, 2^126]; a b + c, and with it fma(), is one
// correctly rounded operation, or two. The rounding mode is undefined but must not affect the result by more than 1
// ULP: correctly rounded are both numbers next to the exact result, errors below 1 ULP; only those of at most 1/2 are
// IEEE 754's rounding to nearest. Denormals, given or generated, may be flushed to 0. Zeros and infinities have the
// signs of IEEE 754; NaNs need not be generated. Double precision is "at least" as precise: the same is demanded here
// in its own ULP, of |b| in [2^-1022, 2^1022].
#pragma once

#include <span>

#include "solvers/paranoia/operations.hpp"

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
/// among denormals, and at 0, the smallest denormal. Infinite or NaN if `computed` is.
template <class Real>
double error_in_ulps(Real computed, const ExactResult& exact);

/// The bound of errors of ordinary operands in ULP; `included`: errors may equal it.
struct ErrorBound {
  double ulps = 1;
  bool included = false;

  bool holds(double error) const;
};
ErrorBound glsl_bound(Operation operation);

/// The least and largest errors so far, and their operands.
struct ErrorRange {
  double min = 0;
  double max = 0;
  Operands<double> min_at;
  Operands<double> max_at;
};

/// Numbers of operands of each class, and of their outcomes.
struct OperationErrors {
  // Neither operands nor the exact result, nor fma's product, are denormal, infinite or beyond the largest number;
  // |b| is in the range above; and the result is not 0.
  Index ordinary = 0;
  ErrorRange range;   // of these; infinite if a result is NaN
  Index nearest = 0;  // within 1/2 ULP
  Index outside = 0;  // violate GLSL
  Operands<double> first_outside = {};

  // With a denormal operand or exact result (of fma: or product), if the result distinguishes flushing.
  Index denormals = 0;
  Index kept = 0;
  Index flushed = 0;
  Index neither = 0;  // violate GLSL

  // With an exact result of 0, without denormals.
  Index zeros = 0;
  Index signs = 0;     // 0 with the sign of IEEE 754, rounding to nearest
  Index not_zero = 0;  // violate GLSL

  // The rest: infinities, NaN, division by 0, overflow, |b| outside the range. Not judged.
  Index special = 0;
  Index as_ieee = 0;  // the number, or a NaN, that IEEE 754 has, rounding to nearest

  bool passed() const { return outside == 0 && neither == 0 && not_zero == 0; }
  /// Adds those of other operands.
  void add(const OperationErrors& other);
};

/// `results`: one for each operand of the set.
template <class Real>
OperationErrors errors_of(Operation operation, const OperandSet<Real>& set, std::span<const Real> results);

}  // namespace glinpack::arithmetic
