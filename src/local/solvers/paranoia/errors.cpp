#include "solvers/paranoia/errors.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/precision.hpp"

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

// The low part of the quotient is the quotient of the remainder, which is exact.
ExactResult quotient(double a, double b) {
  const Scaled x(a), y(b);
  if (x.fraction == 0) return {};
  const double high = x.fraction / y.fraction;
  const double remainder = std::fma(-high, y.fraction, x.fraction);
  return {high, remainder / y.fraction, x.exponent - y.exponent};
}

// If c cancels most of the product, their sum is exact, and the product's low part remains.
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

namespace {

enum class Kind { ordinary, denormal, zero, special };

bool takes_a(Operation operation) { return operation != Operation::reciprocal; }
bool takes_c(Operation operation) { return operation == Operation::fma; }

template <class Real>
bool is_denormal(Real value) {
  return std::fpclassify(value) == FP_SUBNORMAL;
}

template <class Real>
bool is_denormal(const ExactResult& exact) {
  return !exact.is_zero() && exact.binade() < std::numeric_limits<Real>::min_exponent - 1;
}

template <class Real>
bool beyond_largest(const ExactResult& exact) {
  constexpr Real largest = std::numeric_limits<Real>::max();
  return error_in_ulps(largest, exact) < 0 || error_in_ulps(-largest, exact) > 0;
}

template <class Real>
Kind kind_of(Operation operation, const Operands<Real>& o, const ExactResult& exact) {
  constexpr int highest_divisor = std::numeric_limits<Real>::max_exponent - 2;
  if (beyond_largest<Real>(exact)) return Kind::special;
  if (divides(operation) && std::abs(o.b) > std::ldexp(Real{1}, highest_divisor)) return Kind::special;
  if (operation == Operation::fma) {
    const ExactResult product = exact_result(Operation::multiplication, o);
    if (beyond_largest<Real>(product)) return Kind::special;
    if (is_denormal<Real>(product)) return Kind::denormal;
  }
  const bool denormal_operand =
      is_denormal(o.b) || (takes_a(operation) && is_denormal(o.a)) || (takes_c(operation) && is_denormal(o.c));
  if (denormal_operand || is_denormal<Real>(exact)) return Kind::denormal;
  return exact.is_zero() ? Kind::zero : Kind::ordinary;
}

template <class Real>
bool have_exact_result(Operation operation, const Operands<Real>& o) {
  if (takes_a(operation) && !std::isfinite(o.a)) return false;
  if (takes_c(operation) && !std::isfinite(o.c)) return false;
  return std::isfinite(o.b) && !(divides(operation) && o.b == 0);
}

/// Whether the sum of c and a product that is rounded in some direction can be the result.
template <class Real>
bool rounded_twice(const Operands<Real>& o, Real result, bool flushes) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  const ExactResult exact = exact_result(Operation::multiplication, o);
  const Real nearest = o.a * o.b;
  for (const Real product : {nearest, std::nextafter(nearest, infinity), std::nextafter(nearest, -infinity), Real{0}}) {
    const bool is_flushed = product == 0 && flushes && is_denormal<Real>(exact);
    if (!is_flushed && !(std::abs(error_in_ulps(product, exact)) < 1)) continue;
    const ExactResult sum = exact_result(Operation::addition, Operands<Real>{product, o.c, 0});
    if (std::abs(error_in_ulps(result, sum)) < 1) return true;
    if (flushes && is_denormal<Real>(sum) && result == 0) return true;
  }
  return false;
}

/// Whether GLSL allows a result. `flushes`: results below the normal numbers may be 0.
template <class Real>
bool allowed(Operation operation, const Operands<Real>& o, Real result, bool flushes) {
  if (!have_exact_result(operation, o)) return true;  // a flushed divisor
  const ExactResult exact = exact_result(operation, o);
  if (glsl_bound(operation).holds(error_in_ulps(result, exact))) return true;
  if (flushes && is_denormal<Real>(exact) && result == 0) return true;
  return operation == Operation::fma && rounded_twice(o, result, flushes);
}

/// Whether flushing any of the denormal operands, the result, or the product of an fma to 0 gives the result.
template <class Real>
bool flushed(Operation operation, const Operands<Real>& o, Real result) {
  constexpr int ways = 8;
  for (int way = 0; way < ways; ++way) {
    const auto given = [way](Real value, int bit) {
      return is_denormal(value) && (way >> bit & 1) != 0 ? std::copysign(Real{0}, value) : value;
    };
    if (allowed(operation, Operands<Real>{given(o.a, 0), given(o.b, 1), given(o.c, 2)}, result, true)) return true;
  }
  return false;
}

/// Whether the result distinguishes flushing from not flushing: flushing everything must not give a result that is
/// allowed without flushing.
template <class Real>
bool distinguishes_flushing(Operation operation, const Operands<Real>& o) {
  const auto to_zero = [](Real value) { return is_denormal(value) ? std::copysign(Real{0}, value) : value; };
  const Operands<Real> given{to_zero(o.a), to_zero(o.b), to_zero(o.c)};
  return !allowed(operation, o, to_zero(computed_by_host(operation, given)), false);
}

template <class Real>
Operands<double> in_double(const Operands<Real>& o) {
  return {double{o.a}, double{o.b}, double{o.c}};
}

template <class Real>
void add_ordinary(OperationErrors& errors, Operation operation, const Operands<Real>& o, Real result,
                  const ExactResult& exact) {
  const double found = error_in_ulps(result, exact);
  const double error = std::isnan(found) ? std::numeric_limits<double>::infinity() : found;
  const Operands<double> at = in_double(o);
  const Index outside = allowed(operation, o, result, false) ? 0 : 1;
  errors.add({.ordinary = 1,
              .range = {error, error, at, at},
              .nearest = std::abs(error) <= 0.5 ? 1 : 0,
              .outside = outside,
              .first_outside = outside > 0 ? at : Operands<double>{}});
}

template <class Real>
void add_one(OperationErrors& errors, Operation operation, const Operands<Real>& o, Real result) {
  const bool exists = have_exact_result(operation, o);
  const ExactResult exact = exists ? exact_result(operation, o) : ExactResult{};
  const Real ieee = computed_by_host(operation, o);
  switch (exists ? kind_of(operation, o, exact) : Kind::special) {
    case Kind::ordinary:
      add_ordinary(errors, operation, o, result, exact);
      break;
    case Kind::denormal: {
      const bool is_kept = allowed(operation, o, result, false);
      if (is_kept && !distinguishes_flushing(operation, o)) break;
      ++errors.denormals;
      if (is_kept) {
        ++errors.kept;
      } else {
        ++(flushed(operation, o, result) ? errors.flushed : errors.neither);
      }
      break;
    }
    case Kind::zero:
      ++errors.zeros;
      if (result != 0) {
        ++errors.not_zero;
      } else if (std::signbit(result) == std::signbit(ieee)) {
        ++errors.signs;
      }
      break;
    case Kind::special:
      ++errors.special;
      if (result == ieee || (std::isnan(result) && std::isnan(ieee))) ++errors.as_ieee;
      break;
  }
}

}  // namespace

bool ErrorBound::holds(double error) const { return included ? std::abs(error) <= ulps : std::abs(error) < ulps; }

ErrorBound glsl_bound(Operation operation) { return divides(operation) ? ErrorBound{2.5, true} : ErrorBound{1, false}; }

void OperationErrors::add(const OperationErrors& other) {
  if (other.ordinary > 0) {
    if (ordinary == 0) range = other.range;
    if (other.range.min < range.min) range.min = other.range.min, range.min_at = other.range.min_at;
    if (other.range.max > range.max) range.max = other.range.max, range.max_at = other.range.max_at;
  }
  if (outside == 0) first_outside = other.first_outside;
  ordinary += other.ordinary, nearest += other.nearest, outside += other.outside;
  denormals += other.denormals, kept += other.kept, flushed += other.flushed, neither += other.neither;
  zeros += other.zeros, signs += other.signs, not_zero += other.not_zero;
  special += other.special, as_ieee += other.as_ieee;
}

template <class Real>
OperationErrors errors_of(Operation operation, const OperandSet<Real>& set, std::span<const Real> results) {
  if (static_cast<Index>(results.size()) != set.size()) {
    throw std::invalid_argument("there are not as many results as operands");
  }
  OperationErrors errors;
  for (Index i = 0; i < set.size(); ++i) {
    add_one(errors, operation, set.at(i), results[static_cast<std::size_t>(i)]);
  }
  return errors;
}

template OperationErrors errors_of(Operation, const OperandSet<float>&, std::span<const float>);
template OperationErrors errors_of(Operation, const OperandSet<double>&, std::span<const double>);

}  // namespace glinpack::arithmetic
