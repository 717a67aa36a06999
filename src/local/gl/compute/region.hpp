// Rectangles of elements inside GL buffers, and the windows of buffers that shaders see of them.
//
// A shader's storage block may be smaller than a matrix (128 MiB on llvmpipe, 2 GiB - 1 byte on NVIDIA). It is bound to
// a window of the buffer that begins at a multiple of 64 elements, which satisfies every driver's alignment (at most
// 256 bytes); what is left of the offset, 0 to 63 elements, goes to the shader.
#pragma once

#include <cstdint>

#include "local/matrix_view.hpp"

namespace glinpack::gl {

/// In elements: the granularity of leading dimensions and of windows.
inline constexpr Index window_alignment = 64;
/// How far shaders may read beyond a region, in elements: a tile's width. Matrices have that much room at their end.
inline constexpr Index overrun = 128;

/// rows x columns elements, row-major, the first one `first` elements into a buffer of `buffer_elements`.
struct Region {
  std::uint32_t buffer = 0;
  Index buffer_elements = 0;
  Index first = 0;
  Index rows = 0;
  Index columns = 0;
  Index leading_dimension = 0;

  Region block(Index i, Index j, Index block_rows, Index block_columns) const {
    Region part = *this;
    part.first = first + i * leading_dimension + j;
    part.rows = block_rows;
    part.columns = block_columns;
    return part;
  }
  Region row_range(Index i, Index count) const { return block(i, 0, count, columns); }
  Region column_range(Index j, Index count) const { return block(0, j, rows, count); }
};

/// Elements begin ... begin + size - 1 of the buffer; the region's first is `first` elements into them.
struct Window {
  Index begin = 0;
  Index size = 0;
  Index first = 0;
};

/// The window that holds the region and what may be read beyond it.
Window window_of(const Region& region);

/// The most rows of the region whose window has at most `window_elements`. Throws std::runtime_error when not even one
/// fits.
Index rows_per_window(const Region& region, Index window_elements);

}  // namespace glinpack::gl
