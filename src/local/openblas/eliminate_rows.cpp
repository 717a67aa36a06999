#include "local/openblas/eliminate_rows.hpp"

#include <algorithm>

#include "local/openblas/blas.hpp"
#include "local/openblas/column_kernels.hpp"

namespace glinpack {

namespace {

constexpr Index narrow_width = 4;      // columns eliminated one by one
constexpr Index rows_that_stay = 256;  // at a time, in the cache

template <class Real>
void eliminate_columns(ColumnMajorView<const Real> u, ColumnMajorView<Real> a) {
  if (a.columns <= narrow_width) {
    for (Index j = 0; j < a.columns; ++j) {
      const bool last = j + 1 == a.columns;
      eliminate_column<Real>(u(j, j), {a.column(j), static_cast<std::size_t>(a.rows)}, last ? nullptr : &u(j, j + 1),
                             u.leading_dimension,
                             {last ? nullptr : a.column(j + 1), a.rows, a.columns - j - 1, a.leading_dimension});
    }
    return;
  }
  const Index left = round_up(a.columns / 2, narrow_width);
  const Index right = a.columns - left;
  const ColumnMajorView<Real> a_left = a.block(0, 0, a.rows, left);
  const ColumnMajorView<Real> a_right = a.block(0, left, a.rows, right);
  eliminate_columns(u.block(0, 0, left, left), a_left);
  blas::gemm(CblasColMajor, CblasNoTrans, a.rows, right, left, Real{-1}, a_left.data, a.leading_dimension, &u(0, left),
             u.leading_dimension, Real{1}, a_right.data, a.leading_dimension);
  eliminate_columns(u.block(left, left, right, right), a_right);
}

}  // namespace

template <class Real>
void eliminate_rows(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21) {
  for (Index i = 0; i < a21.rows; i += rows_that_stay) {
    eliminate_columns(u11, a21.block(i, 0, std::min(rows_that_stay, a21.rows - i), a21.columns));
  }
}

template void eliminate_rows(ColumnMajorView<const float>, ColumnMajorView<float>);
template void eliminate_rows(ColumnMajorView<const double>, ColumnMajorView<double>);

}  // namespace glinpack
