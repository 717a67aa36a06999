#include "openblas/openblas_backend.hpp"

#include "host/host_backend.hpp"
#include "openblas/blas.hpp"
#include "openblas/blas_library.hpp"

namespace glinpack {
namespace {

// A <- L^-1 A, L^T given, recursive down to this: OpenBLAS's trsm for AVX-512 runs at a quarter of its gemm's rate.
constexpr Index solved_at_once = 16;

template <class Real>
void solve_unit_lower(RowMajorView<const Real> lt, RowMajorView<Real> a) {
  const Index k = a.rows;
  if (k <= solved_at_once) {
    blas::trsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasUnit, k, a.columns, lt.data, lt.leading_dimension,
               a.data, a.leading_dimension);
    return;
  }
  const Index half = round_up(k / 2, solved_at_once);
  const RowMajorView<Real> upper = a.block(0, 0, half, a.columns), lower = a.block(half, 0, k - half, a.columns);
  solve_unit_lower<Real>(lt.block(0, 0, half, half), upper);
  blas::gemm(CblasRowMajor, CblasTrans, k - half, a.columns, half, Real{-1}, lt.row(0) + half, lt.leading_dimension,
             upper.data, upper.leading_dimension, Real{1}, lower.data, lower.leading_dimension);
  solve_unit_lower<Real>(lt.block(half, half, k - half, k - half), lower);
}

template <class Real>
void update(RowMajorView<const Real> lt, RowMajorView<const Real> u, RowMajorView<Real> a) {
  blas::gemm(CblasRowMajor, CblasTrans, a.rows, a.columns, u.rows, Real{-1}, lt.data, lt.leading_dimension, u.data,
             u.leading_dimension, Real{1}, a.data, a.leading_dimension);
}

template <class Real>
void subtract_product(RowMajorView<const Real> a, RowMajorView<const Real> x, RowMajorView<Real> y) {
  blas::subtract_product(a.rows, a.columns, a.data, a.leading_dimension, x.data, x.leading_dimension, y.data,
                         y.leading_dimension);
}

}  // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_openblas_backend(const BackendOptions& options, Timeline& timeline) {
  auto panel = make_openblas_panel_arithmetic<Real>(options.threads);
  BackendInfo info;
  info.backend = openblas_record.name;
  info.device = processor_name();
  info.driver = blas_version();
  info.blas = blas_version();
  info.kernels = blas_kernels();
  info.threads = options.threads;
  info.free_bytes = available_memory();
  return std::make_unique<HostBackend<Real>>(
      timeline, info, std::move(panel), HostKernels<Real>{solve_unit_lower<Real>, update<Real>, subtract_product<Real>},
      options.threads);
}

template std::unique_ptr<Backend<float>> make_openblas_backend(const BackendOptions&, Timeline&);
template std::unique_ptr<Backend<double>> make_openblas_backend(const BackendOptions&, Timeline&);

}  // namespace glinpack
