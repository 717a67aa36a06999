// What the solvers of src/local/solvers are measured against and checked by: OpenBLAS and LAPACK, without their
// headers.
#pragma once

#include <span>
#include <vector>

#include "local/matrix_view.hpp"

namespace glinpack {

/// OpenBLAS's threads: a setting of the process.
void set_openblas_threads(int threads);

/// C = A B (cblas gemm): A m x k, B k x n, C m x n. Real: float or double. Throws std::invalid_argument where the
/// extents do not match, std::runtime_error where one exceeds OpenBLAS's 32-bit integers.
template <class Real>
void multiply_on_host(RowMajorView<const Real> a, RowMajorView<const Real> b, RowMajorView<Real> c);

/// The x that minimises || A x - b || (LAPACK dgelsd): A row-major, rows x columns, rows >= columns, b with as many
/// elements as rows. Throws std::runtime_error where the method does not converge.
std::vector<double> least_squares(RowMajorView<const double> a, std::span<const double> b);

}  // namespace glinpack
