#include "local/openblas/openblas_backend.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "local/host/host_backend.hpp"

namespace glinpack {

namespace {

// OpenBLAS as Debian builds it counts with 32-bit integers.
int blas_int(Index value) {
  if (value > std::numeric_limits<int>::max()) {
    throw std::runtime_error("an extent of " + std::to_string(value) +
                             " is more than OpenBLAS's 32-bit integers hold; more processes are needed");
  }
  return static_cast<int>(value);
}

// BLAS wants leading dimensions of at least 1, even of empty matrices.
int leading(Index value) { return std::max(1, blas_int(value)); }

// The routines by precision; names and arguments as in cblas.h and lapacke.h.
template <class Real>
struct Blas;

template <>
struct Blas<float> {
  static constexpr auto gemm = cblas_sgemm;
  static constexpr auto gemv = cblas_sgemv;
  static constexpr auto trsm = cblas_strsm;
  static constexpr auto trsv = cblas_strsv;
  static constexpr auto getrf = LAPACKE_sgetrf_work;
};

template <>
struct Blas<double> {
  static constexpr auto gemm = cblas_dgemm;
  static constexpr auto gemv = cblas_dgemv;
  static constexpr auto trsm = cblas_dtrsm;
  static constexpr auto trsv = cblas_dtrsv;
  static constexpr auto getrf = LAPACKE_dgetrf_work;
};

template <class Real>
class OpenblasPanelArithmetic final : public PanelArithmetic<Real> {
 public:
  explicit OpenblasPanelArithmetic(int threads) { openblas_set_num_threads(threads); }

  std::optional<Index> pivot(ColumnMajorView<Real> a, std::span<Index> pivots) override {
    if (a.columns == 0) return std::nullopt;
    lapack_pivots_.resize(static_cast<std::size_t>(a.columns));
    const lapack_int info = Blas<Real>::getrf(LAPACK_COL_MAJOR, blas_int(a.rows), blas_int(a.columns), a.data,
                                              leading(a.leading_dimension), lapack_pivots_.data());
    if (info < 0) throw std::runtime_error("getrf refused its argument " + std::to_string(-info));
    std::transform(lapack_pivots_.begin(), lapack_pivots_.end(), pivots.begin(),
                   [](lapack_int row) { return static_cast<Index>(row) - 1; });
    return info > 0 ? std::optional<Index>(info - 1) : std::nullopt;
  }

  void eliminate(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21) override {
    if (a21.rows == 0 || a21.columns == 0) return;
    Blas<Real>::trsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, blas_int(a21.rows),
                     blas_int(a21.columns), Real{1}, u11.data, leading(u11.leading_dimension), a21.data,
                     leading(a21.leading_dimension));
  }

  void normalize(ColumnMajorView<const Real> l11, ColumnMajorView<Real> a12) override {
    if (a12.rows == 0 || a12.columns == 0) return;
    Blas<Real>::trsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, blas_int(a12.rows),
                     blas_int(a12.columns), Real{1}, l11.data, leading(l11.leading_dimension), a12.data,
                     leading(a12.leading_dimension));
  }

  void reduce(ColumnMajorView<const Real> l21, ColumnMajorView<const Real> u12, ColumnMajorView<Real> a22) override {
    if (a22.rows == 0 || a22.columns == 0 || l21.columns == 0) return;
    Blas<Real>::gemm(CblasColMajor, CblasNoTrans, CblasNoTrans, blas_int(a22.rows), blas_int(a22.columns),
                     blas_int(l21.columns), Real{-1}, l21.data, leading(l21.leading_dimension), u12.data,
                     leading(u12.leading_dimension), Real{1}, a22.data, leading(a22.leading_dimension));
  }

  // Not BLAS's iamax: its kernels differ in what they make of a NaN. The maximum is found without branches, so that the
  // loop vectorises; where it is comes second.
  Index index_of_largest(std::span<const Real> column) override {
    if (column.empty()) return -1;
    Real largest = 0;
    bool finite = true;
    for (const Real value : column) {
      const Real magnitude = std::fabs(value);
      largest = magnitude > largest ? magnitude : largest;
      finite = finite && value == value;
    }
    const auto wanted = [&](Real value) { return finite ? std::fabs(value) == largest : value != value; };
    return std::find_if(column.begin(), column.end(), wanted) - column.begin();
  }

  void eliminate_column(Real pivot, std::span<Real> l, const Real* u, Index u_stride,
                        ColumnMajorView<Real> a) override {
    for (Real& multiplier : l) multiplier /= pivot;
    for (Index j = 0; j < a.columns; ++j) {
      const Real factor = u[j * u_stride];
      Real* const column = a.column(j);
      for (Index i = 0; i < a.rows; ++i) column[i] -= l[static_cast<std::size_t>(i)] * factor;
    }
  }

  void back_substitute(ColumnMajorView<const Real> u, std::span<Real> x) override {
    if (x.empty()) return;
    Blas<Real>::trsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, blas_int(u.rows), u.data,
                     leading(u.leading_dimension), x.data(), 1);
  }

 private:
  std::vector<lapack_int> lapack_pivots_;
};

template <class Real>
class OpenblasBackend final : public HostBackend<Real> {
 public:
  OpenblasBackend(const BackendOptions& options, Timeline& timeline)
      : HostBackend<Real>(timeline, options.threads), panel_(options.threads) {}

  BackendInfo info() const override {
    BackendInfo info;
    info.backend = "openblas";
    info.device = processor_name();
    info.driver = openblas_version();
    info.kernels = openblas_kernels();
    info.threads = this->threads();
    return info;
  }

  PanelArithmetic<Real>& panel() override { return panel_; }

  void normalize(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) override {
    if (a12.empty()) return;
    const auto scope = this->computing(Phase::normalize, static_cast<double>(a12.rows * a12.rows * a12.columns));
    const RowMajorView<Real> lt = elements_of(l11_transposed);
    const RowMajorView<Real> a = elements_of(a12);
    Blas<Real>::trsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasUnit, blas_int(a.rows),
                     blas_int(a.columns), Real{1}, lt.data, leading(lt.leading_dimension), a.data,
                     leading(a.leading_dimension));
  }

  void reduce(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) override {
    if (a22.empty() || u12.rows <= 0) return;
    const auto scope =
        this->computing(Phase::reduce, 2.0 * static_cast<double>(a22.rows * a22.columns) * static_cast<double>(u12.rows));
    const RowMajorView<Real> lt = elements_of(l21_transposed);
    const RowMajorView<Real> u = elements_of(u12);
    const RowMajorView<Real> a = elements_of(a22);
    Blas<Real>::gemm(CblasRowMajor, CblasTrans, CblasNoTrans, blas_int(a.rows), blas_int(a.columns), blas_int(u.rows),
                     Real{-1}, lt.data, leading(lt.leading_dimension), u.data, leading(u.leading_dimension), Real{1},
                     a.data, leading(a.leading_dimension));
  }

  void substitute(DeviceBlock<Real> a, DeviceBlock<Real> x, DeviceBlock<Real> y) override {
    if (a.empty()) return;
    const auto scope = this->computing(Phase::substitution, 2.0 * static_cast<double>(a.rows * a.columns));
    const RowMajorView<Real> matrix = elements_of(a);
    const RowMajorView<Real> from = elements_of(x);
    const RowMajorView<Real> to = elements_of(y);
    Blas<Real>::gemv(CblasRowMajor, CblasNoTrans, blas_int(matrix.rows), blas_int(matrix.columns), Real{-1}, matrix.data,
                     leading(matrix.leading_dimension), from.data, blas_int(from.leading_dimension), Real{1}, to.data,
                     blas_int(to.leading_dimension));
  }

 private:
  OpenblasPanelArithmetic<Real> panel_;
};

}  // namespace

template <class Real>
std::unique_ptr<PanelArithmetic<Real>> make_openblas_panel_arithmetic(int threads) {
  return std::make_unique<OpenblasPanelArithmetic<Real>>(threads);
}

template <class Real>
std::unique_ptr<Backend<Real>> make_openblas_backend(const BackendOptions& options, Timeline& timeline) {
  return std::make_unique<OpenblasBackend<Real>>(options, timeline);
}

std::string openblas_kernels() { return openblas_get_corename(); }

std::string openblas_version() { return openblas_get_config(); }

template std::unique_ptr<PanelArithmetic<float>> make_openblas_panel_arithmetic(int);
template std::unique_ptr<PanelArithmetic<double>> make_openblas_panel_arithmetic(int);
template std::unique_ptr<Backend<float>> make_openblas_backend(const BackendOptions&, Timeline&);
template std::unique_ptr<Backend<double>> make_openblas_backend(const BackendOptions&, Timeline&);

}  // namespace glinpack
