// The packing of matrix elements into the texels of a float texture (Brodtkorb 2006, section 2.4; Hall, Carr and Hart).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <thread>

#include "base/enumerators.hpp"
#include "base/matrix_view.hpp"
#include "base/threads.hpp"

namespace glinpack::solvers {

/// The block of a matrix in a texel, rows x columns; red, green, blue and alpha in the order of rows. 1x1 has one
/// channel.
///   1x1  red     4x1  red     1x4  red green blue alpha     2x2  red   green
///                     green                                      blue  alpha
///                     blue
///                     alpha
/// A matrix whose extents these do not divide is padded with zeros at the bottom and at the right.
enum class Packing : std::uint8_t { p1x1, p4x1, p1x4, p2x2 };

inline constexpr auto all_packings = values_up_to<Packing::p2x2>;
constexpr std::string_view name_of(Packing packing) { return text_by_value(packing, "1x1", "4x1", "1x4", "2x2"); }

constexpr Index texel_rows(Packing packing) { return packing == Packing::p4x1 ? 4 : packing == Packing::p2x2 ? 2 : 1; }
constexpr Index texel_columns(Packing packing) {
  return packing == Packing::p1x4 ? 4 : packing == Packing::p2x2 ? 2 : 1;
}
/// Floats of a texel.
constexpr Index channels(Packing packing) { return texel_rows(packing) * texel_columns(packing); }

/// body(begin, end) for slices of rows of these elements, on all threads of the host if there are many elements.
template <class Body>
void for_rows(Index rows, Index elements_of_a_row, Body body) {
  constexpr Index grain = 1 << 18;  // least elements of a slice
  parallel_for(static_cast<int>(std::thread::hardware_concurrency()), rows,
               grain / std::max<Index>(1, elements_of_a_row), body);
}

/// Elements (float or double) into texels, `width` texels a row, `height` rows, padding included. The matrix may be
/// smaller than they hold.
template <class Real>
void pack(RowMajorView<const Real> matrix, Packing packing, Index width, Index height, Real* texels);
/// The reverse, without the padding.
template <class Real>
void unpack(const Real* texels, Packing packing, Index width, RowMajorView<Real> matrix);

}  // namespace glinpack::solvers
