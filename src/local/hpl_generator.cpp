#include "local/hpl_generator.hpp"

namespace glinpack {

HplJump hpl_jump(std::uint64_t steps) {
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

double hpl_element(Index n, Index i, Index j, std::uint64_t seed) {
  const auto number = static_cast<std::uint64_t>(i) + static_cast<std::uint64_t>(j) * static_cast<std::uint64_t>(n) + 1;
  return hpl_value(hpl_jump(number)(seed));
}

}  // namespace glinpack
