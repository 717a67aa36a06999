// Floating-point operations of the local operations, as BLAS counts them.
#pragma once

#include "local/matrix_view.hpp"

namespace glinpack {

/// L11 k x k with a unit diagonal, `columns` right-hand sides.
inline double normalize_flops(Index k, Index columns) {
  return static_cast<double>(k) * static_cast<double>(k - 1) * static_cast<double>(columns);
}

inline double reduce_flops(Index rows, Index columns, Index k) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(k);
}

inline double substitute_flops(Index rows, Index columns) { return reduce_flops(rows, 1, columns); }

}  // namespace glinpack
