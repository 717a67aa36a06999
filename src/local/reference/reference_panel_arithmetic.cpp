#include <cmath>
#include <utility>

#include "local/reference/reference_backend.hpp"

namespace glinpack {
namespace {

template <class Real>
class ReferencePanelArithmetic final : public PanelArithmetic<Real> {
 public:
  std::optional<Index> pivot(ColumnMajorView<Real> a, std::span<Index> pivots) override {
    for (Index k = 0; k < a.columns; ++k) {
      const Index rows_below = a.rows - k - 1;
      const Index columns_right = a.columns - k - 1;
      const Index p = k + index_of_largest({a.column(k) + k, static_cast<std::size_t>(a.rows - k)});
      pivots[static_cast<std::size_t>(k)] = p;
      if (a(p, k) == Real{0}) return k;
      for (Index j = 0; j < a.columns && p != k; ++j) std::swap(a(k, j), a(p, j));
      eliminate_column(a(k, k), {a.column(k) + k + 1, static_cast<std::size_t>(rows_below)},
                       columns_right > 0 ? &a(k, k + 1) : nullptr, a.leading_dimension,
                       a.block(k + 1, k + 1, rows_below, columns_right));
    }
    return std::nullopt;
  }

  void eliminate(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21) override {
    for (Index j = 0; j < a21.columns; ++j) {
      for (Index k = 0; k < j; ++k) {
        for (Index i = 0; i < a21.rows; ++i) a21(i, j) -= a21(i, k) * u11(k, j);
      }
      for (Index i = 0; i < a21.rows; ++i) a21(i, j) /= u11(j, j);
    }
  }

  void normalize(ColumnMajorView<const Real> l11, ColumnMajorView<Real> a12) override {
    for (Index j = 0; j < a12.columns; ++j) {
      for (Index k = 0; k < a12.rows; ++k) {
        for (Index i = k + 1; i < a12.rows; ++i) a12(i, j) -= l11(i, k) * a12(k, j);
      }
    }
  }

  void reduce(ColumnMajorView<const Real> l21, ColumnMajorView<const Real> u12, ColumnMajorView<Real> a22) override {
    for (Index j = 0; j < a22.columns; ++j) {
      for (Index k = 0; k < l21.columns; ++k) {
        for (Index i = 0; i < a22.rows; ++i) a22(i, j) -= l21(i, k) * u12(k, j);
      }
    }
  }

  Index index_of_largest(std::span<const Real> column) override {
    Index best = -1;
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (std::isnan(column[i])) return static_cast<Index>(i);
      if (best < 0 || std::abs(column[i]) > std::abs(column[static_cast<std::size_t>(best)])) {
        best = static_cast<Index>(i);
      }
    }
    return best;
  }

  void eliminate_column(Real pivot, std::span<Real> l, const Real* u, Index u_stride,
                        ColumnMajorView<Real> a) override {
    for (Real& multiplier : l) multiplier /= pivot;
    for (Index j = 0; j < a.columns; ++j) {
      for (Index i = 0; i < a.rows; ++i) a(i, j) -= l[static_cast<std::size_t>(i)] * u[j * u_stride];
    }
  }

  void back_substitute(ColumnMajorView<const Real> u, std::span<Real> x) override {
    for (Index j = u.columns - 1; j >= 0; --j) {
      Real& x_j = x[static_cast<std::size_t>(j)];
      x_j /= u(j, j);
      for (Index i = 0; i < j; ++i) x[static_cast<std::size_t>(i)] -= u(i, j) * x_j;
    }
  }
};

}  // namespace

template <class Real>
std::unique_ptr<PanelArithmetic<Real>> make_reference_panel_arithmetic() {
  return std::make_unique<ReferencePanelArithmetic<Real>>();
}

template std::unique_ptr<PanelArithmetic<float>> make_reference_panel_arithmetic();
template std::unique_ptr<PanelArithmetic<double>> make_reference_panel_arithmetic();

}  // namespace glinpack
