// The search for a pivot in a column.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "local/matrix_view.hpp"

namespace glinpack {

/// The largest magnitude, or NaN where there is one: as independent maxima side by side, which compilers vectorise.
template <class Real>
Real largest_magnitude(const Real* column, std::size_t count) {
  constexpr std::size_t lanes = 64 / sizeof(Real);
  Real largest[lanes] = {};
  Real not_a_number[lanes] = {};  // stays 0 unless NaN: x - x is NaN for infinities, too, hence 0 * is no test
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const Real magnitude = std::abs(column[i + lane]);
      largest[lane] = magnitude > largest[lane] ? magnitude : largest[lane];
      not_a_number[lane] += magnitude == magnitude ? Real{0} : magnitude;
    }
  }
  Real result = 0;
  Real poison = 0;
  for (; i < count; ++i) {
    const Real magnitude = std::abs(column[i]);
    result = magnitude > result ? magnitude : result;
    poison += magnitude == magnitude ? Real{0} : magnitude;
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    result = std::max(result, largest[lane]);
    poison += not_a_number[lane];
  }
  return std::isnan(poison) ? poison : result;
}

/// Position of the first element of largest magnitude, -1 where there are none; a NaN counts as largest. Not BLAS's
/// iamax: that passes over NaNs, or not, as the kernel has it.
template <class Real>
Index index_of_largest_magnitude(std::span<const Real> column) {
  constexpr std::size_t block = 1024;
  if (column.empty()) return -1;
  Real largest = -1;
  std::size_t block_of_largest = 0;
  for (std::size_t begin = 0; begin < column.size(); begin += block) {
    const Real magnitude = largest_magnitude(column.data() + begin, std::min(block, column.size() - begin));
    if (magnitude > largest || std::isnan(magnitude)) {
      largest = magnitude;
      block_of_largest = begin;
    }
    if (std::isnan(magnitude)) break;
  }
  const auto found =
      std::find_if(column.begin() + static_cast<std::ptrdiff_t>(block_of_largest), column.end(),
                   [largest](Real x) { return std::isnan(largest) ? std::isnan(x) : std::abs(x) == largest; });
  return found - column.begin();
}

}  // namespace glinpack
