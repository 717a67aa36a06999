// The errors of an operation, judged by what GLSL demands.
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

#include "local/arithmetic/operations.hpp"

namespace glinpack::arithmetic {

/// What an error of ordinary operands must be below (at most, where `included`), in ULP.
struct ErrorBound {
  double ulps = 1;
  bool included = false;

  bool holds(double error) const;
};
ErrorBound glsl_bound(Operation operation);

/// Least and most of what came so far, and where.
struct ErrorRange {
  double least = 0;
  double most = 0;
  Operands<double> least_at;
  Operands<double> most_at;
};

/// How many operands there were of every class, and what became of them.
struct OperationErrors {
  // Neither operands nor the exact result, nor fma's product, are denormal, infinite or beyond the largest number;
  // |b| is in the range above; and the result is not 0.
  Index ordinary = 0;
  ErrorRange range;   // of these; an infinite error where a result is no number
  Index nearest = 0;  // within 1/2 ULP
  Index outside = 0;  // not what GLSL demands
  Operands<double> first_outside = {};

  // With a denormal operand or exact result (of fma: or product), where flushing can be told from not flushing.
  Index denormals = 0;
  Index kept = 0;
  Index flushed = 0;
  Index neither = 0;  // not what GLSL demands

  // With an exact result of 0, without denormals.
  Index zeros = 0;
  Index signs = 0;     // 0 with the sign of IEEE 754, rounding to nearest
  Index not_zero = 0;  // not what GLSL demands

  // The rest: infinities, NaN, division by 0, overflow, |b| out of the range. Not judged.
  Index special = 0;
  Index as_ieee = 0;  // the number, or a NaN, that IEEE 754 has, rounding to nearest

  bool passed() const { return outside == 0 && neither == 0 && not_zero == 0; }
  /// Adds those of other operands.
  void add(const OperationErrors& other);
};

/// `results`: as many as the set has.
template <class Real>
OperationErrors errors_of(Operation operation, const OperandSet<Real>& set, std::span<const Real> results);

}  // namespace glinpack::arithmetic
