#include "openblas/openblas_backend.hpp"

#include "base/timeline.hpp"
#include "host/host_backend.hpp"
#include "openblas/blas.hpp"
#include "openblas/blas_library.hpp"

namespace glinpack {
namespace {

// A <- L^-1 A, L^T given, recursive down to this: OpenBLAS's trsm for AVX-512 runs at a quarter of its gemm's rate.
constexpr Index solved_at_once = 16;

template <class Real>
void solve_in_halves(const RowMajorView<const Real>& lt, const RowMajorView<Real>& a) {
  const Index k = a.rows;
  if (k <= solved_at_once) {
    blas::trsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasUnit, k, a.columns, lt.data, lt.leading_dimension,
               a.data, a.leading_dimension);
    return;
  }
  const Index half = round_up(k / 2, solved_at_once);
  const RowMajorView<Real> upper = a.block(0, 0, half, a.columns), lower = a.block(half, 0, k - half, a.columns);
  solve_in_halves<Real>(lt.block(0, 0, half, half), upper);
  blas::gemm(CblasRowMajor, CblasTrans, k - half, a.columns, half, Real{-1}, lt.row(0) + half, lt.leading_dimension,
             upper.data, upper.leading_dimension, Real{1}, lower.data, lower.leading_dimension);
  solve_in_halves<Real>(lt.block(half, half, k - half, k - half), lower);
}

template <class Real>
class OpenblasBackend final : public HostBackend<Real> {
 public:
  using HostBackend<Real>::HostBackend;

  void solve_unit_lower(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) override {
    if (a12.empty()) return;
    const auto scope =
        this->timeline().scope(Lane::cpu, Phase::normalize, 0, solve_unit_lower_flops(a12.rows, a12.columns));
    const RowMajorView<const Real> lt = view_of(l11_transposed);
    const RowMajorView<Real> a = view_of(a12);
    solve_in_halves(lt, a);
  }

  void update(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) override {
    if (a22.empty() || u12.empty()) return;
    const auto scope =
        this->timeline().scope(Lane::cpu, Phase::reduce, 0, product_flops(a22.rows, a22.columns, u12.rows));
    const RowMajorView<const Real> lt = view_of(l21_transposed);
    const RowMajorView<const Real> u = view_of(u12);
    const RowMajorView<Real> a = view_of(a22);
    blas::gemm(CblasRowMajor, CblasTrans, a.rows, a.columns, u.rows, Real{-1}, lt.data, lt.leading_dimension, u.data,
               u.leading_dimension, Real{1}, a.data, a.leading_dimension);
  }

  void subtract_product(DeviceBlock<Real> a, DeviceBlock<Real> x, DeviceBlock<Real> y) override {
    if (a.empty()) return;
    const auto scope = this->timeline().scope(Lane::cpu, Phase::substitution, 0, substitute_flops(a.rows, a.columns));
    const RowMajorView<const Real> matrix = view_of(a);
    const RowMajorView<const Real> x_view = view_of(x);
    const RowMajorView<Real> y_view = view_of(y);
    blas::subtract_product(matrix.rows, matrix.columns, matrix.data, matrix.leading_dimension, x_view.data,
                           x_view.leading_dimension, y_view.data, y_view.leading_dimension);
  }
};

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
  return std::make_unique<OpenblasBackend<Real>>(timeline, std::move(info), std::move(panel), options.threads);
}

template std::unique_ptr<Backend<float>> make_openblas_backend(const BackendOptions&, Timeline&);
template std::unique_ptr<Backend<double>> make_openblas_backend(const BackendOptions&, Timeline&);

}  // namespace glinpack
