// A21 <- A21 U11^-1 by one thread, for the tall and narrow A21 of a panel.
#pragma once

#include "local/matrix_view.hpp"

namespace glinpack {

/// As PanelArithmetic::eliminate. OpenBLAS's trsm reaches a fifth of this for single precision and 32 columns; here
/// single columns are divided, so that no inverse of a pivot overflows, and the rest is gemm.
template <class Real>
void eliminate_rows(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21);

}  // namespace glinpack
