#include "local/openblas/host_solvers.hpp"

#include <stdexcept>
#include <string>

#include "local/openblas/blas.hpp"

namespace glinpack {

void set_openblas_threads(int threads) { openblas_set_num_threads(threads); }

template <class Real>
void multiply_on_host(RowMajorView<const Real> a, RowMajorView<const Real> b, RowMajorView<Real> c) {
  if (a.columns != b.rows || c.rows != a.rows || c.columns != b.columns) {
    throw std::invalid_argument("the extents of a product do not match");
  }
  if (c.rows == 0 || c.columns == 0) return;
  blas::gemm(CblasRowMajor, CblasNoTrans, c.rows, c.columns, a.columns, Real{1}, a.data, a.leading_dimension, b.data,
             b.leading_dimension, Real{0}, c.data, c.leading_dimension);
}

template void multiply_on_host(RowMajorView<const float>, RowMajorView<const float>, RowMajorView<float>);
template void multiply_on_host(RowMajorView<const double>, RowMajorView<const double>, RowMajorView<double>);

std::vector<double> least_squares(RowMajorView<const double> a, std::span<const double> b) {
  std::vector<double> matrix;
  for (Index i = 0; i < a.rows; ++i) matrix.insert(matrix.end(), a.row(i), a.row(i) + a.columns);
  std::vector<double> solution(b.begin(), b.end());
  std::vector<double> singular_values(static_cast<std::size_t>(a.columns));
  lapack_int rank = 0;
  constexpr double machine_precision = -1;
  const lapack_int info =
      LAPACKE_dgelsd(LAPACK_ROW_MAJOR, blas::to_int(a.rows), blas::to_int(a.columns), 1, matrix.data(),
                     blas::to_int(a.columns), solution.data(), 1, singular_values.data(), machine_precision, &rank);
  if (info != 0) throw std::runtime_error("LAPACK's dgelsd does not converge: info " + std::to_string(info));
  solution.resize(static_cast<std::size_t>(a.columns));
  return solution;
}

}  // namespace glinpack
