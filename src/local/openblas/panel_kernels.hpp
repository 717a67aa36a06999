// Operations on a panel by one thread where BLAS is too slow. Its ger locks for every call's buffer, and threads that
// call it thousands of times per panel contend for that lock.
#pragma once

#include <span>

#include "base/matrix_view.hpp"

namespace glinpack {

/// l <- l / pivot, then A <- A - l u^T, A column-major l.size() x columns. A division, not a product with the inverse:
/// the inverse of a small pivot may overflow.
template <class Real>
void eliminate_column(Real pivot, std::span<Real> l, const Real* u, Index u_stride, ColumnMajorView<Real> a);

/// Position of the first element of largest magnitude, -1 for an empty vector; a NaN counts as largest. BLAS's iamax
/// skips NaNs or not, depending on the kernel.
template <class Real>
Index index_of_largest_magnitude(std::span<const Real> column);

/// As PanelArithmetic::solve_l21. OpenBLAS's trsm reaches a fifth of this for single precision and 32 columns; here
/// single columns are divided, so that no inverse of a pivot overflows, and the rest is gemm.
template <class Real>
void eliminate_rows(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21);

}  // namespace glinpack
