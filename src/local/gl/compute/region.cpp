#include "local/gl/compute/region.hpp"

#include <stdexcept>
#include <string>

namespace glinpack::gl {
namespace {

// A window's begin and end are rounded by less than this together.
constexpr Index rounding = 2 * window_alignment;

// Elements of a stripe's row, or of a plain region's.
Index row_elements(const Region& region) { return region.striped() ? region.leading_dimension : region.columns; }

}  // namespace

Window window_of(const Region& region) {
  const Index begin = region.first / window_alignment * window_alignment;
  const Index end = region.first + (region.rows - 1) * region.leading_dimension + region.across(region.columns - 1) + 1;
  return {begin, std::min(round_up(end, window_alignment), region.buffer_elements) - begin, region.first - begin};
}

Index rows_per_window(const Region& region, Index window_elements) {
  const Index one_row = row_elements(region) + rounding;
  if (one_row > window_elements) {
    throw std::runtime_error("a matrix row of " + std::to_string(row_elements(region)) +
                             " elements is longer than the device's storage block of " +
                             std::to_string(window_elements) + " elements: use a grid with more columns");
  }
  return 1 + (window_elements - one_row) / std::max<Index>(1, region.leading_dimension);
}

Index columns_per_window(const Region& region, Index window_elements, Index j) {
  const Index left = region.columns - j;
  if (!region.striped()) return left;
  const Index one_stripe = region.rows * region.leading_dimension + rounding;
  const Index held = one_stripe > window_elements ? 1 : 1 + (window_elements - one_stripe) / region.stripe_stride;
  const Index stripes = std::min(held, region.stripes_together(j));
  return std::min(left, stripes * region.stripe_width - (region.column + j) % region.stripe_width);
}

}  // namespace glinpack::gl
