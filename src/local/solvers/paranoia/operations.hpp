// The operations whose rounding `glinpack-papers paranoia` measures, and the operands that they are applied to.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/enumerators.hpp"
#include "base/matrix_view.hpp"

namespace glinpack::arithmetic {

/// a + b, a - b, a b, a / b, fma(a, b, c), 1 / b.
enum class Operation : std::uint8_t { addition, subtraction, multiplication, division, fma, reciprocal };

inline constexpr auto all_operations = values_up_to<Operation::reciprocal>;
constexpr std::string_view name_of(Operation operation) {
  return text_by_value(operation, "addition", "subtraction", "multiplication", "division", "fma", "reciprocal");
}

constexpr bool divides(Operation operation) {
  return operation == Operation::division || operation == Operation::reciprocal;
}

/// The operands of an operation; operations with fewer operands ignore the rest.
template <class Real>
struct Operands {
  Real a = 1;
  Real b = 1;
  Real c = 0;
};

/// Many operands as one array each, for upload to devices.
template <class Real>
struct OperandSet {
  std::vector<Real> a, b, c;

  Index size() const { return static_cast<Index>(a.size()); }
  Operands<Real> at(Index i) const {
    const auto k = static_cast<std::size_t>(i);
    return {a[k], b[k], c[k]};
  }
  void add(const Operands<Real>& operands) {
    a.push_back(operands.a);
    b.push_back(operands.b);
    c.push_back(operands.c);
  }
};

/// The result of this processor.
template <class Real>
Real computed_by_host(Operation operation, const Operands<Real>& o) {
  switch (operation) {
    case Operation::addition:
      return o.a + o.b;
    case Operation::subtraction:
      return o.a - o.b;
    case Operation::multiplication:
      return o.a * o.b;
    case Operation::division:
      return o.a / o.b;
    case Operation::fma:
      return std::fma(o.a, o.b, o.c);
    case Operation::reciprocal:
      return Real{1} / o.b;
  }
  return 0;
}

/// Every pair of powers of two, their neighbours, the halves of units in the last place, the smallest and largest
/// numbers, denormals, zeros, infinities and NaN, in both signs. For fma also some third operands; for 1 / b also every
/// power of two and its neighbours.
template <class Real>
OperandSet<Real> directed_operands(Operation operation);

/// `count` random operands: mantissas of random bits, exponents near each other, wide apart, and over all that there
/// are in turn; and every fourth time such that the exact result is halfway between two numbers (a + b, a - b, a b),
/// close to that (a / b), within about a unit of a number (1 / b), or is what rounding leaves of a product (fma). The
/// same for the same seed everywhere.
template <class Real>
OperandSet<Real> random_operands(Operation operation, Index count, std::uint64_t seed);

}  // namespace glinpack::arithmetic
