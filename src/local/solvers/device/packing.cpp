#include "solvers/device/packing.hpp"

namespace glinpack::solvers {
namespace {

// Row i of the matrix is in row i / texel_rows of the texels; the channel of element j is
// (i % texel_rows) texel_columns + j % texel_columns of texel j / texel_columns.
template <class Element>
Element* row_of(Element* texels, Packing packing, Index width, Index i) {
  const Index rows = texel_rows(packing);
  return texels + i / rows * width * channels(packing) + i % rows * texel_columns(packing);
}

// The offset of element j of a row from element 0.
template <Index columns, Index stride>
constexpr Index across(Index j) {
  return j / columns * stride + j % columns;
}

template <Index columns, Index stride, class Real>
void pack_row(const Real* from, Index count, Index padded, Real* to) {
  for (Index j = 0; j < count; ++j) to[across<columns, stride>(j)] = from[j];
  for (Index j = count; j < padded; ++j) to[across<columns, stride>(j)] = 0;
}
template <Index columns, Index stride, class Real>
void unpack_row(const Real* from, Index count, Real* to) {
  for (Index j = 0; j < count; ++j) to[j] = from[across<columns, stride>(j)];
}

/// Calls body with the columns of a texel and its channels as constants.
template <class Body>
void with_constants(Packing packing, Body body) {
  switch (packing) {
    case Packing::p1x1:
      return body.template operator()<1, 1>();
    case Packing::p4x1:
      return body.template operator()<1, 4>();
    case Packing::p1x4:
      return body.template operator()<4, 4>();
    case Packing::p2x2:
      return body.template operator()<2, 4>();
  }
}

}  // namespace

template <class Real>
void pack(RowMajorView<const Real> matrix, Packing packing, Index width, Index height, Real* texels) {
  const Index padded_columns = width * texel_columns(packing);
  with_constants(packing, [&]<Index columns, Index stride>() {
    // whole rows of texels per thread: a row of texels may hold several rows of the matrix
    for_rows(height, width * stride, [&](Index begin, Index end) {
      for (Index i = begin * texel_rows(packing); i < end * texel_rows(packing); ++i) {
        const bool there = i < matrix.rows;
        pack_row<columns, stride>(there ? matrix.row(i) : nullptr, there ? matrix.columns : 0, padded_columns,
                                  row_of(texels, packing, width, i));
      }
    });
  });
}

template <class Real>
void unpack(const Real* texels, Packing packing, Index width, RowMajorView<Real> matrix) {
  with_constants(packing, [&]<Index columns, Index stride>() {
    for_rows(matrix.rows, matrix.columns, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        unpack_row<columns, stride>(row_of(texels, packing, width, i), matrix.columns, matrix.row(i));
      }
    });
  });
}

template void pack(RowMajorView<const float>, Packing, Index, Index, float*);
template void pack(RowMajorView<const double>, Packing, Index, Index, double*);
template void unpack(const float*, Packing, Index, RowMajorView<float>);
template void unpack(const double*, Packing, Index, RowMajorView<double>);

}  // namespace glinpack::solvers
