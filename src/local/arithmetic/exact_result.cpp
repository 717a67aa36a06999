#include "local/arithmetic/exact_result.hpp"

#include <algorithm>
#include <limits>

#include "local/error_free.hpp"

namespace glinpack::arithmetic {

namespace {

constexpr int of_zero = -100'000;  // an exponent below all others

/// value = fraction 2^exponent with 1/2 <= |fraction| < 1: nothing over- or underflows among fractions.
struct Scaled {
  int exponent = 0;
  double fraction = 0;

  explicit Scaled(double value) {
    fraction = std::frexp(value, &exponent);
    if (fraction == 0) exponent = of_zero;
  }
  double over(int other_exponent) const { return fraction == 0 ? 0 : std::ldexp(fraction, exponent - other_exponent); }
};

ExactResult sum(double a, double b) {
  const Scaled x(a), y(b);
  if (x.fraction == 0 && y.fraction == 0) return {};
  const int exponent = std::max(x.exponent, y.exponent);
  const DoublePair pair = two_sum(x.over(exponent), y.over(exponent));
  return {pair.high, pair.low, exponent};
}

ExactResult product(double a, double b) {
  const Scaled x(a), y(b);
  if (x.fraction == 0 || y.fraction == 0) return {};
  const DoublePair pair = two_product(x.fraction, y.fraction);
  return {pair.high, pair.low, x.exponent + y.exponent};
}

// The quotient's low part is what the remainder, which is exact, still gives.
ExactResult quotient(double a, double b) {
  const Scaled x(a), y(b);
  if (x.fraction == 0) return {};
  const double high = x.fraction / y.fraction;
  const double remainder = std::fma(-high, y.fraction, x.fraction);
  return {high, remainder / y.fraction, x.exponent - y.exponent};
}

// Where c cancels most of the product, their sum is exact, and the product's low part is what remains.
ExactResult product_and_sum(double a, double b, double c) {
  const ExactResult ab = product(a, b);
  const Scaled z(c);
  if (ab.is_zero()) return z.fraction == 0 ? ExactResult{} : ExactResult{z.fraction, 0, z.exponent};
  const int exponent = std::max(ab.exponent, z.exponent);
  const DoublePair first = two_sum(std::ldexp(ab.high, ab.exponent - exponent), z.over(exponent));
  const DoublePair all = two_sum(first.high, first.low + std::ldexp(ab.low, ab.exponent - exponent));
  return {all.high, all.low, exponent};
}

}  // namespace

int ExactResult::binade() const {
  int above = 0;
  const double fraction = std::frexp(high, &above);
  const bool below_a_power_of_two = std::abs(fraction) == 0.5 && low != 0 && std::signbit(low) != std::signbit(high);
  return above - 1 - (below_a_power_of_two ? 1 : 0) + exponent;
}

template <class Real>
ExactResult exact_result(Operation operation, const Operands<Real>& o) {
  const double a{o.a}, b{o.b}, c{o.c};
  switch (operation) {
    case Operation::addition:
      return sum(a, b);
    case Operation::subtraction:
      return sum(a, -b);
    case Operation::multiplication:
      return product(a, b);
    case Operation::division:
      return quotient(a, b);
    case Operation::fma:
      return product_and_sum(a, b, c);
    case Operation::reciprocal:
      return quotient(1, b);
  }
  return {};
}

template <class Real>
double error_in_ulps(Real computed, const ExactResult& exact) {
  using Limits = std::numeric_limits<Real>;
  constexpr int lowest_binade = Limits::min_exponent - 1;
  const int binade = exact.is_zero() ? lowest_binade : std::max(lowest_binade, exact.binade());
  const int ulp = binade - (Limits::digits - 1);
  // next to each other: the difference of the two is exact
  const double difference = std::ldexp(double{computed}, -exact.exponent) - exact.high - exact.low;
  return std::ldexp(difference, exact.exponent - ulp);
}

template ExactResult exact_result(Operation, const Operands<float>&);
template ExactResult exact_result(Operation, const Operands<double>&);
template double error_in_ulps(float, const ExactResult&);
template double error_in_ulps(double, const ExactResult&);

}  // namespace glinpack::arithmetic
