// HPL's random matrix (HPL_pdmatgen.c, HPL_rand.c, HPL_jumpit.c): a linear congruential sequence of 64 bits,
//   X(0) = seed, X(n+1) = 6364136223846793005 X(n) + 1 mod 2^64,
// in which a jump reaches any number: n steps are again an affine map x -> a x + c.
#pragma once

#include <cstdint>

#include "base/matrix_view.hpp"

namespace glinpack {

inline constexpr std::uint64_t hpl_seed = 100;

/// n steps of the sequence as one.
struct HplJump {
  std::uint64_t multiplier = 1;
  std::uint64_t increment = 0;

  constexpr std::uint64_t operator()(std::uint64_t x) const { return multiplier * x + increment; }
};

/// The jump over n >= 0 steps, by squaring.
inline HplJump hpl_jump(std::uint64_t steps) {
  HplJump result;
  HplJump power{6364136223846793005U, 1};  // 1, 2, 4, ... steps
  for (; steps != 0; steps >>= 1U) {
    if ((steps & 1U) != 0) {
      result = {power.multiplier * result.multiplier, power.multiplier * result.increment + power.increment};
    }
    power = {power.multiplier * power.multiplier, power.multiplier * power.increment + power.increment};
  }
  return result;
}

/// A state as HPL's number in (-0.5, 0.5].
inline double hpl_value(std::uint64_t state) {
  const double low = static_cast<double>(state & 0xffffffffU);
  const double high = static_cast<double>(state >> 32U);
  return 0.5 - (low / 4294967296.0 + high) / 4294967296.0;
}

/// Element (i, j), 0-based, of the n x (n+1) matrix [A | b]: number i + j n + 1 of the sequence.
inline double hpl_element(Index n, Index i, Index j, std::uint64_t seed = hpl_seed) {
  const auto number = static_cast<std::uint64_t>(i) + static_cast<std::uint64_t>(j) * static_cast<std::uint64_t>(n) + 1;
  return hpl_value(hpl_jump(number)(seed));
}

}  // namespace glinpack
