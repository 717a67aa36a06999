// Rectangles of elements inside buffers of a device, and the windows through which shaders access them.
//
// Device matrices are stored in stripes of `stripe_width` columns, one after the other, each row-major:
//   element (i, j) at  first + i leading_dimension + j / stripe_width stripe_stride + j % stripe_width
// Pieces of 4 or 8 KiB of a row are contiguous, long enough to exchange rows at full bandwidth. A block column is dense
// in memory. In a row-major matrix, each of its rows would be on a memory page of its own: on an H200, reading such a
// block column costs the same time per row, whatever its width. Host memory is row-major.
//
// Stripes of a matrix may be in several buffers, with the same number in each.
//
// A shader's storage block may be smaller than a matrix (128 MiB on llvmpipe, 2 GiB - 1 byte on NVIDIA). It is bound to
// a window of the buffer that starts at a multiple of 64 elements, which satisfies every driver's alignment (at most
// 256 bytes). The shader adds the rest of the offset, 0 to 63 elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "base/matrix_view.hpp"
#include "device/compute_device.hpp"

namespace glinpack::compute {

/// In elements: the granularity of leading dimensions and of windows.
inline constexpr Index window_alignment = 64;
/// Columns of a stripe, a power of two and a multiple of window_alignment. See docs/performance.md.
inline constexpr Index default_stripe_width = 1024;

/// The largest part of a buffer that a matrix uses, unless a stripe is longer: about a window of NVIDIA's, so that
/// there are few more windows. Drivers displace memory to the host buffer by buffer (docs/performance.md).
inline constexpr std::int64_t largest_buffer_bytes = std::int64_t{2} << 30;

/// A matrix's stripes, the columns of each with padding, and its elements. A vector's elements follow each other.
constexpr Index stripes_of(Index columns, Index stripe_width) {
  return std::max<Index>(1, divide_up(columns, stripe_width));
}
constexpr Index padded_columns(Index columns, Index stripe_width) {
  return columns <= 1 ? 1 : std::min(stripe_width, round_up(columns, window_alignment));
}
constexpr Index elements_of_stripe(Index rows, Index columns, Index stripe_width) {
  return std::max<Index>(1, rows * padded_columns(columns, stripe_width));
}
constexpr std::int64_t matrix_bytes(Index rows, Index columns, std::int64_t element_bytes) {
  return stripes_of(columns, default_stripe_width) * elements_of_stripe(rows, columns, default_stripe_width) *
         element_bytes;
}

/// A buffer, and how many elements it holds.
struct RegionBuffer {
  BufferId id = 0;
  Index elements = 0;
};

/// rows x columns elements. The first row starts at element `first` of a buffer of `buffer_elements`, in a stripe whose
/// column `column` is the region's first. stripe_width 0: row-major, column 0.
///
/// Unless `buffers` is null, it points to that buffer and the following buffers of the matrix, which must outlive the
/// region. Each has stripes_each stripes; the region's first is number `stripe` of its buffer.
struct Region {
  BufferId buffer = 0;
  Index buffer_elements = 0;
  Index first = 0;
  Index column = 0;
  Index rows = 0;
  Index columns = 0;
  Index leading_dimension = 0;
  Index stripe_width = 0;
  Index stripe_stride = 0;
  const RegionBuffer* buffers = nullptr;
  Index stripes_each = 0;
  Index stripe = 0;

  bool striped() const { return stripe_width > 0; }
  /// Elements of a stripe's row, or of a plain region's.
  Index row_elements() const { return striped() ? leading_dimension : columns; }
  /// The number of stripes from column j on in the same buffer, including a partial first stripe.
  Index stripes_in_buffer(Index j) const {
    if (!buffers) return std::numeric_limits<Index>::max();
    return stripes_each - (stripe + (column + j) / stripe_width) % stripes_each;
  }
  bool in_one_buffer() const { return !buffers || stripe + (column + columns - 1) / stripe_width < stripes_each; }
  /// The offset of an element in the region's column j from the first element of its row, in the same buffer.
  Index across(Index j) const {
    const Index c = column + j;
    return striped() ? c / stripe_width * stripe_stride + c % stripe_width : c;
  }
  Region block(Index i, Index j, Index block_rows, Index block_columns) const {
    Region part = *this;
    const Index c = column + j;
    part.first += i * leading_dimension + (striped() ? c / stripe_width * stripe_stride : c);
    part.column = striped() ? c % stripe_width : 0;
    if (buffers && block_columns > 0) {
      const Index passed = (stripe + c / stripe_width) / stripes_each;  // buffers
      part.buffers += passed;
      part.buffer = part.buffers->id;
      part.buffer_elements = part.buffers->elements;
      part.stripe = (stripe + c / stripe_width) % stripes_each;
      part.first -= passed * stripes_each * stripe_stride;
    }
    part.rows = block_rows;
    part.columns = block_columns;
    return part;
  }
  Region row_range(Index i, Index count) const { return block(i, 0, count, columns); }
  Region column_range(Index j, Index count) const { return block(0, j, rows, count); }
};

/// Elements begin ... begin + size - 1 of the buffer; the region's matrix begins `first` elements into them.
struct Window {
  Index begin = 0;
  Index size = 0;
  Index first = 0;
};

/// The rounding of a window's begin and end is less than this in total.
inline constexpr Index window_rounding = 2 * window_alignment;

/// The window that holds the region, which must be in one buffer.
inline Window window_of(const Region& region) {
  const Index begin = region.first / window_alignment * window_alignment;
  const Index end = region.first + (region.rows - 1) * region.leading_dimension + region.across(region.columns - 1) + 1;
  return {begin, std::min(round_up(end, window_alignment), region.buffer_elements) - begin, region.first - begin};
}

/// The most rows that a window of at most `window_elements` holds, of a stripe or of a plain region. Throws
/// std::runtime_error when not even one fits.
inline Index rows_per_window(const Region& region, Index window_elements) {
  const Index one_row = region.row_elements() + window_rounding;
  if (one_row > window_elements) {
    throw std::runtime_error("a matrix row of " + std::to_string(region.row_elements()) +
                             " elements is longer than the device's storage block of " +
                             std::to_string(window_elements) + " elements: use a grid with more columns");
  }
  return 1 + (window_elements - one_row) / std::max<Index>(1, region.leading_dimension);
}

/// The number of columns, from column j of the region on, that a window holds with all rows: whole stripes, or the rest
/// of column j's stripe if a window holds no whole stripe. All of them are in one buffer.
inline Index columns_per_window(const Region& region, Index window_elements, Index j) {
  const Index left = region.columns - j;
  if (!region.striped()) return left;
  const Index one_stripe = region.rows * region.leading_dimension + window_rounding;
  const Index held = one_stripe > window_elements ? 1 : 1 + (window_elements - one_stripe) / region.stripe_stride;
  const Index stripes = std::min(held, region.stripes_in_buffer(j));
  return std::min(left, stripes * region.stripe_width - (region.column + j) % region.stripe_width);
}

/// Calls body(j, columns) for parts of the region that columns_per_window allows.
template <class Body>
void for_column_parts(const Region& region, Index window_elements, Body body) {
  for (Index j = 0; j < region.columns;) {
    const Index columns = columns_per_window(region, window_elements, j);
    body(j, columns);
    j += columns;
  }
}

/// Calls body(i, j, rows, columns) for parts of the region that fit a window. Among parts of the same columns, all but
/// the last have a multiple of `row_unit` rows if a window holds one.
template <class Body>
void for_window_parts(const Region& region, Index window_elements, Index row_unit, Body body) {
  for_column_parts(region, window_elements, [&](Index j, Index columns) {
    Index step = rows_per_window(region, window_elements);
    if (step < region.rows && step >= row_unit) step = step / row_unit * row_unit;
    for (Index i = 0; i < region.rows; i += step) body(i, j, std::min(step, region.rows - i), columns);
  });
}

}  // namespace glinpack::compute
