// What operations are tried on.
#pragma once

#include "local/arithmetic/operations.hpp"

namespace glinpack::arithmetic {

/// Every pair of powers of two, their neighbours, the halves of units in the last place, the smallest and largest
/// numbers, denormals, zeros, infinities and NaN, in both signs; of fma with some third operands, of 1 / b every power
/// of two and its neighbours besides.
template <class Real>
OperandSet<Real> directed_operands(Operation operation);

/// `count` random ones: mantissas of random bits, exponents near each other, wide apart, and over all that there are in
/// turn; and every fourth time such that the exact result lies halfway between two numbers (a + b, a - b, a b), close
/// to that (a / b), within about a unit of a number (1 / b), or is what rounding leaves of a product (fma). The same
/// for the same seed everywhere.
template <class Real>
OperandSet<Real> random_operands(Operation operation, Index count, std::uint64_t seed);

}  // namespace glinpack::arithmetic
