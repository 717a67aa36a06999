// Rectangles of elements inside GL buffers, and the windows of buffers that shaders see of them.
//
// Device matrices lie in stripes of `stripe_width` columns, one behind the other, each row-major:
//   element (i, j) at  first + i leading_dimension + j / stripe_width stripe_stride + j % stripe_width
// A row is still contiguous by pieces of 4 or 8 KiB, long enough to exchange rows at full bandwidth; and a block column
// is dense in memory, where rows of the whole matrix would lie on memory pages of their own: on an H200, reading a
// block column of a row-major matrix takes as long for every row, whatever its width. Host memory is plainly row-major.
//
// Stripes of a matrix may be in several buffers, as many of them in each.
//
// A shader's storage block may be smaller than a matrix (128 MiB on llvmpipe, 2 GiB - 1 byte on NVIDIA). It is bound to
// a window of the buffer that begins at a multiple of 64 elements, which satisfies every driver's alignment (at most
// 256 bytes); what is left of the offset, 0 to 63 elements, goes to the shader.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "local/matrix_view.hpp"

namespace glinpack::gl {

/// In elements: the granularity of leading dimensions and of windows.
inline constexpr Index window_alignment = 64;
/// Columns of a stripe, a power of two and a multiple of window_alignment. See docs/performance.md.
inline constexpr Index default_stripe_width = 1024;

/// The most that a matrix takes of a buffer, where a stripe is no longer: about a window of NVIDIA's, so that there are
/// hardly more windows. What a device has no room for, drivers put into host memory buffer by buffer
/// (docs/performance.md).
inline constexpr std::int64_t largest_buffer_bytes = std::int64_t{2} << 30;

/// A GL buffer, and how many elements it holds.
struct RegionBuffer {
  std::uint32_t id = 0;
  Index elements = 0;
};

/// rows x columns elements. The first row begins `first` elements into a buffer of `buffer_elements`, with a stripe, in
/// which the region's first column is column `column`. stripe_width 0: plainly row-major, column 0.
///
/// Where `buffers` is not null, it points to that buffer and those that stripes go on in, which must outlive the
/// region: stripes_each to a buffer, and the region's first is number `stripe` of its own.
struct Region {
  std::uint32_t buffer = 0;
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
  /// From column j on, how many stripes are in the same buffer, begun ones counted.
  Index stripes_together(Index j) const {
    if (!buffers) return std::numeric_limits<Index>::max();
    return stripes_each - (stripe + (column + j) / stripe_width) % stripes_each;
  }
  bool in_one_buffer() const { return !buffers || stripe + (column + columns - 1) / stripe_width < stripes_each; }
  /// How far behind the first element of a row its element in the region's column j lies, in the same buffer.
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

/// The window that holds the region, which must be in one buffer.
Window window_of(const Region& region);

/// The most rows that a window of at most `window_elements` holds, of a stripe or of a plain region. Throws
/// std::runtime_error when not even one fits.
Index rows_per_window(const Region& region, Index window_elements);

/// From column j of the region on, as many columns as windows hold with all rows: whole stripes; where not even one is
/// held, what is left of column j's stripe. All of them in one buffer.
Index columns_per_window(const Region& region, Index window_elements, Index j);

/// Calls body(j, columns) for parts of the region that columns_per_window allows.
template <class Body>
void for_column_parts(const Region& region, Index window_elements, Body body) {
  for (Index j = 0; j < region.columns;) {
    const Index columns = columns_per_window(region, window_elements, j);
    body(j, columns);
    j += columns;
  }
}

/// Calls body(i, j, rows, columns) for parts of the region that fit a window; of several parts of the same columns, all
/// but the last have a multiple of `row_unit` rows where a window holds one.
template <class Body>
void for_window_parts(const Region& region, Index window_elements, Index row_unit, Body body) {
  for_column_parts(region, window_elements, [&](Index j, Index columns) {
    Index step = rows_per_window(region, window_elements);
    if (step < region.rows && step >= row_unit) step = step / row_unit * row_unit;
    for (Index i = 0; i < region.rows; i += step) body(i, j, std::min(step, region.rows - i), columns);
  });
}

}  // namespace glinpack::gl
