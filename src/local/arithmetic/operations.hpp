// The operations whose rounding `glinpack paranoia` measures.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "local/matrix_view.hpp"

namespace glinpack::arithmetic {

/// a + b, a - b, a b, a / b, fma(a, b, c), 1 / b.
enum class Operation : std::uint8_t { addition, subtraction, multiplication, division, fma, reciprocal };

inline constexpr std::array all_operations{Operation::addition, Operation::subtraction, Operation::multiplication,
                                           Operation::division, Operation::fma,         Operation::reciprocal};

inline constexpr std::string_view name_of(Operation operation) {
  constexpr std::array<std::string_view, all_operations.size()> names{"addition", "subtraction", "multiplication",
                                                                      "division", "fma",         "reciprocal"};
  return names[static_cast<std::size_t>(operation)];
}

constexpr bool divides(Operation operation) {
  return operation == Operation::division || operation == Operation::reciprocal;
}

/// What an operation is applied to; what it does not take is there, but without effect.
template <class Real>
struct Operands {
  Real a = 1;
  Real b = 1;
  Real c = 0;
};

/// Many of them, each operand together, as devices want them.
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

/// As this processor does it.
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

}  // namespace glinpack::arithmetic
