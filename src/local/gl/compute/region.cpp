#include "local/gl/compute/region.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace glinpack::gl {

Window window_of(const Region& region) {
  const Index begin = region.first / window_alignment * window_alignment;
  const Index end = region.first + (region.rows - 1) * region.leading_dimension + region.columns + overrun;
  return {begin, std::min(round_up(end, window_alignment), region.buffer_elements) - begin, region.first - begin};
}

Index rows_per_window(const Region& region, Index window_elements) {
  // a window's begin and end are rounded by less than window_alignment each
  const Index one_row = region.columns + overrun + 2 * window_alignment;
  if (one_row > window_elements) {
    throw std::runtime_error("a matrix row of " + std::to_string(region.columns) +
                             " elements is longer than the device's storage block of " +
                             std::to_string(window_elements) + " elements: use a grid with more columns");
  }
  return 1 + (window_elements - one_row) / std::max<Index>(1, region.leading_dimension);
}

}  // namespace glinpack::gl
