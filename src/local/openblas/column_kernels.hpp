// The work on single columns of a panel: too little at a time for BLAS, whose ger takes a lock for every call's buffer,
// which threads that call it thousands of times a panel then wait for.
#pragma once

#include <span>

#include "local/matrix_view.hpp"

namespace glinpack {

/// l <- l / pivot, then A <- A - l u^T, A column-major l.size() x columns. A division, not a product with the inverse:
/// the inverse of a small pivot may overflow.
template <class Real>
void eliminate_column(Real pivot, std::span<Real> l, const Real* u, Index u_stride, ColumnMajorView<Real> a);

/// Position of the first element of largest magnitude, -1 where there are none; a NaN counts as largest. Not BLAS's
/// iamax: that passes over NaNs, or not, as the kernel has it.
template <class Real>
Index index_of_largest_magnitude(std::span<const Real> column);

}  // namespace glinpack
