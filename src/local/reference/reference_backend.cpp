#include "local/reference/reference_backend.hpp"

#include <algorithm>
#include <cmath>

#include "local/host/host_backend.hpp"

namespace glinpack {

namespace {

template <class Real>
class ReferencePanelArithmetic final : public PanelArithmetic<Real> {
 public:
  std::optional<Index> pivot(ColumnMajorView<Real> a, std::span<Index> pivots) override {
    for (Index j = 0; j < a.columns; ++j) {
      const Index row = j + index_of_largest({a.column(j) + j, static_cast<std::size_t>(a.rows - j)});
      pivots[static_cast<std::size_t>(j)] = row;
      if (a(row, j) == Real{0}) return j;
      for (Index k = 0; k < a.columns; ++k) std::swap(a(j, k), a(row, k));
      const Index below = a.rows - j - 1;
      const Real* u = j + 1 < a.columns ? &a(j, j + 1) : nullptr;
      eliminate_column(a(j, j), {a.column(j) + j + 1, static_cast<std::size_t>(below)}, u, a.leading_dimension,
                       a.block(j + 1, j + 1, below, a.columns - j - 1));
    }
    return std::nullopt;
  }

  void eliminate(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21) override {
    for (Index j = 0; j < a21.columns; ++j) {
      for (Index i = 0; i < a21.rows; ++i) {
        for (Index k = 0; k < j; ++k) a21(i, j) -= a21(i, k) * u11(k, j);
        a21(i, j) /= u11(j, j);
      }
    }
  }

  void normalize(ColumnMajorView<const Real> l11, ColumnMajorView<Real> a12) override {
    for (Index j = 0; j < a12.columns; ++j) {
      for (Index i = 0; i < a12.rows; ++i) {
        for (Index k = 0; k < i; ++k) a12(i, j) -= l11(i, k) * a12(k, j);
      }
    }
  }

  void reduce(ColumnMajorView<const Real> l21, ColumnMajorView<const Real> u12, ColumnMajorView<Real> a22) override {
    for (Index j = 0; j < a22.columns; ++j) {
      for (Index i = 0; i < a22.rows; ++i) {
        for (Index k = 0; k < l21.columns; ++k) a22(i, j) -= l21(i, k) * u12(k, j);
      }
    }
  }

  Index index_of_largest(std::span<const Real> column) override {
    Index largest = -1;
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (std::isnan(column[i])) return static_cast<Index>(i);
      if (largest < 0 || std::fabs(column[i]) > std::fabs(column[static_cast<std::size_t>(largest)])) {
        largest = static_cast<Index>(i);
      }
    }
    return largest;
  }

  void eliminate_column(Real pivot, std::span<Real> l, const Real* u, Index u_stride,
                        ColumnMajorView<Real> a) override {
    for (Real& multiplier : l) multiplier /= pivot;
    for (Index j = 0; j < a.columns; ++j) {
      for (Index i = 0; i < a.rows; ++i) a(i, j) -= l[static_cast<std::size_t>(i)] * u[j * u_stride];
    }
  }

  void back_substitute(ColumnMajorView<const Real> u, std::span<Real> x) override {
    for (Index i = u.rows - 1; i >= 0; --i) {
      Real& value = x[static_cast<std::size_t>(i)];
      for (Index j = i + 1; j < u.columns; ++j) value -= u(i, j) * x[static_cast<std::size_t>(j)];
      value /= u(i, i);
    }
  }
};

template <class Real>
class ReferenceBackend final : public HostBackend<Real> {
 public:
  explicit ReferenceBackend(Timeline& timeline) : HostBackend<Real>(timeline, 1) {}

  BackendInfo info() const override {
    BackendInfo info;
    info.backend = "reference";
    info.device = processor_name();
    info.driver = "naive loops";
    return info;
  }

  PanelArithmetic<Real>& panel() override { return panel_; }

  void normalize(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) override {
    if (a12.empty()) return;
    const auto scope = this->computing(Phase::normalize, static_cast<double>(a12.rows * a12.rows * a12.columns));
    const RowMajorView<Real> lt = elements_of(l11_transposed);
    const RowMajorView<Real> a = elements_of(a12);
    for (Index i = 0; i < a.rows; ++i) {
      for (Index k = 0; k < i; ++k) {
        for (Index j = 0; j < a.columns; ++j) a(i, j) -= lt(k, i) * a(k, j);
      }
    }
  }

  void reduce(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) override {
    if (a22.empty() || u12.rows <= 0) return;
    const auto scope =
        this->computing(Phase::reduce, 2.0 * static_cast<double>(a22.rows * a22.columns) * static_cast<double>(u12.rows));
    const RowMajorView<Real> lt = elements_of(l21_transposed);
    const RowMajorView<Real> u = elements_of(u12);
    const RowMajorView<Real> a = elements_of(a22);
    for (Index i = 0; i < a.rows; ++i) {
      for (Index k = 0; k < u.rows; ++k) {
        for (Index j = 0; j < a.columns; ++j) a(i, j) -= lt(k, i) * u(k, j);
      }
    }
  }

  void substitute(DeviceBlock<Real> a, DeviceBlock<Real> x, DeviceBlock<Real> y) override {
    if (a.empty()) return;
    const auto scope = this->computing(Phase::substitution, 2.0 * static_cast<double>(a.rows * a.columns));
    const RowMajorView<Real> matrix = elements_of(a);
    for (Index i = 0; i < a.rows; ++i) {
      for (Index j = 0; j < a.columns; ++j) elements_of(y)(i, 0) -= matrix(i, j) * elements_of(x)(j, 0);
    }
  }

 private:
  ReferencePanelArithmetic<Real> panel_;
};

}  // namespace

template <class Real>
std::unique_ptr<PanelArithmetic<Real>> make_reference_panel_arithmetic() {
  return std::make_unique<ReferencePanelArithmetic<Real>>();
}

template <class Real>
std::unique_ptr<Backend<Real>> make_reference_backend(Timeline& timeline) {
  return std::make_unique<ReferenceBackend<Real>>(timeline);
}

template std::unique_ptr<PanelArithmetic<float>> make_reference_panel_arithmetic();
template std::unique_ptr<PanelArithmetic<double>> make_reference_panel_arithmetic();
template std::unique_ptr<Backend<float>> make_reference_backend(Timeline&);
template std::unique_ptr<Backend<double>> make_reference_backend(Timeline&);

}  // namespace glinpack
