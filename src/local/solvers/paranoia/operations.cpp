#include "solvers/paranoia/operations.hpp"

#include <limits>
#include <random>

namespace glinpack::arithmetic {
namespace {

template <class Real>
struct Format {
  using Limits = std::numeric_limits<Real>;
  static constexpr int bits = Limits::digits;
  static constexpr int lowest = Limits::min_exponent - 1;   // 2^lowest is the smallest normal number
  static constexpr int highest = Limits::max_exponent - 1;  // 2^highest the largest power of two
};

template <class Real>
Real power_of_two(int exponent) {
  return std::ldexp(Real{1}, exponent);
}

template <class Real>
std::vector<Real> in_both_signs(const std::vector<Real>& magnitudes) {
  std::vector<Real> values;
  for (const Real magnitude : magnitudes) {
    values.push_back(magnitude);
    values.push_back(-magnitude);
  }
  return values;
}

template <class Real>
void add_with_neighbours(std::vector<Real>& values, Real value) {
  values.push_back(std::nextafter(value, Real{0}));
  values.push_back(value);
  values.push_back(std::nextafter(value, std::numeric_limits<Real>::infinity()));
}

template <class Real>
std::vector<Real> directed_values() {
  using F = Format<Real>;
  using Limits = typename F::Limits;
  std::vector<Real> magnitudes{Real{0},
                               Limits::denorm_min(),
                               3 * Limits::denorm_min(),
                               Limits::min() / 2,
                               Limits::max(),
                               Limits::infinity(),
                               Limits::quiet_NaN(),
                               Real{1} / 3,
                               Real{1} / 10,
                               Real{3} / 2,
                               Real{3},
                               Real{10}};
  for (const int exponent : {F::lowest, F::lowest / 2, -F::bits, 1 - F::bits, 0, 1, F::bits - 1, F::bits,
                             F::highest / 2, F::highest - 1, F::highest}) {
    add_with_neighbours(magnitudes, power_of_two<Real>(exponent));
  }
  return in_both_signs(magnitudes);
}

template <class Real>
class RandomOperands {
 public:
  explicit RandomOperands(std::uint64_t seed) : random_(seed) {}

  Operands<Real> draw(Operation operation, Index number) {
    switch (number % 4) {
      case 0:
        return halfway(operation);
      case 1:
        return near_each_other();
      case 2: {
        constexpr int third = F::highest / 3;  // products and quotients stay in range
        return {value(-third, third), value(-third, third), value(-third, third)};
      }
      default:
        return {value(F::lowest, F::highest), value(F::lowest, F::highest), value(F::lowest, F::highest)};
    }
  }

 private:
  using F = Format<Real>;

  // min ... max; std's distributions differ from library to library
  int whole(int min, int max) { return min + static_cast<int>(random_() % static_cast<std::uint64_t>(max - min + 1)); }
  Real sign() { return random_() % 2 == 0 ? Real{1} : Real{-1}; }
  // An integer of exactly `bits` bits.
  Real of_bits(int bits) {
    const std::uint64_t leading = std::uint64_t{1} << (bits - 1);
    return static_cast<Real>(leading | (random_() & (leading - 1)));
  }
  Real value(int min_exponent, int max_exponent) {
    // one after the other: C++ leaves the order within an expression to the compiler
    const int exponent = whole(min_exponent, max_exponent);
    const Real digits = of_bits(F::bits);
    return sign() * std::ldexp(digits, exponent - (F::bits - 1));
  }

  Operands<Real> near_each_other() {
    constexpr int range = 20;
    const int exponent = whole(-range, range);
    const auto near = [&](int other) { return value(other - F::bits - 1, other + F::bits + 1); };
    const Real a = value(exponent, exponent), b = near(exponent);
    return {a, b, near(std::ilogb(a * b))};
  }

  Operands<Real> halfway(Operation operation) {
    const Real a = value(0, 0), b = value(0, 0);
    constexpr Real half_unit = std::numeric_limits<Real>::epsilon() / 2;  // of numbers in [1, 2)
    switch (operation) {
      case Operation::addition:
      case Operation::subtraction:
        return {a, sign() * half_unit, 0};
      case Operation::multiplication: {
        // odd factors whose product has a bit too many, or none
        constexpr int bits = (F::bits + 1) / 2;
        const Real first = make_odd(of_bits(bits)), second = make_odd(of_bits(F::bits + 1 - bits));
        return {first, sign() * second, 0};
      }
      case Operation::division:
        // (q + 1/2) b, rounded once, q a whole number of as many bits as there are
        return {std::fma(of_bits(F::bits), b, b / 2), b, 0};
      case Operation::reciprocal:
        return {1, 1 / a, 0};
      case Operation::fma:
        return {a, b, random_() % 2 == 0 ? -(a * b) : sign() * half_unit * (std::abs(a * b) < 2 ? 1 : 2)};
    }
    return {};
  }
  static Real make_odd(Real whole_number) {
    return std::fmod(whole_number, Real{2}) == 0 ? whole_number + 1 : whole_number;
  }

  std::mt19937_64 random_;
};

}  // namespace

template <class Real>
OperandSet<Real> directed_operands(Operation operation) {
  using Limits = std::numeric_limits<Real>;
  const std::vector<Real> values = directed_values<Real>();
  OperandSet<Real> set;
  if (operation == Operation::reciprocal) {
    for (const Real b : values) set.add({1, b, 0});
    std::vector<Real> powers;
    for (int exponent = Format<Real>::lowest; exponent <= Format<Real>::highest; ++exponent) {
      add_with_neighbours(powers, power_of_two<Real>(exponent));
    }
    for (const Real b : in_both_signs(powers)) set.add({1, b, 0});
    return set;
  }
  const std::vector<Real> third = operation == Operation::fma
                                      ? in_both_signs<Real>({0, 1, Limits::epsilon() / 2, Limits::denorm_min(),
                                                             Limits::min(), Limits::max(), Limits::infinity()})
                                      : std::vector<Real>{0};
  for (const Real a : values) {
    for (const Real b : values) {
      for (const Real c : third) set.add({a, b, c});
      if (operation == Operation::fma) set.add({a, b, -(a * b)});
    }
  }
  return set;
}

template <class Real>
OperandSet<Real> random_operands(Operation operation, Index count, std::uint64_t seed) {
  RandomOperands<Real> random(seed);
  OperandSet<Real> set;
  for (Index i = 0; i < count; ++i) set.add(random.draw(operation, i));
  return set;
}

template OperandSet<float> directed_operands(Operation);
template OperandSet<double> directed_operands(Operation);
template OperandSet<float> random_operands(Operation, Index, std::uint64_t);
template OperandSet<double> random_operands(Operation, Index, std::uint64_t);

}  // namespace glinpack::arithmetic
