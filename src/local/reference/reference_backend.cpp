#include "reference/reference_backend.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/row_interchanges.hpp"
#include "host/host_backend.hpp"

namespace glinpack {
namespace {

template <class Real>
void solve_unit_lower(RowMajorView<const Real> lt, RowMajorView<Real> a) {
  for (Index i = 0; i < a.rows; ++i) {
    for (Index k = 0; k < i; ++k) {
      for (Index j = 0; j < a.columns; ++j) a(i, j) -= lt(k, i) * a(k, j);
    }
  }
}

template <class Real>
void update(RowMajorView<const Real> lt, RowMajorView<const Real> u, RowMajorView<Real> a) {
  std::vector<Real> products(static_cast<std::size_t>(a.columns));  // of a row, rounded into it once
  for (Index i = 0; i < a.rows; ++i) {
    std::ranges::fill(products, Real(0));
    for (Index k = 0; k < u.rows; ++k) {
      for (Index j = 0; j < a.columns; ++j) products[static_cast<std::size_t>(j)] += lt(k, i) * u(k, j);
    }
    for (Index j = 0; j < a.columns; ++j) a(i, j) -= products[static_cast<std::size_t>(j)];
  }
}

template <class Real>
void subtract_product(RowMajorView<const Real> a, RowMajorView<const Real> x, RowMajorView<Real> y) {
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.columns; ++j) y(i, 0) -= a(i, j) * x(j, 0);
  }
}

template <class Real>
class ReferencePanelArithmetic final : public PanelArithmetic<Real> {
 public:
  std::optional<Index> factorize_partial(ColumnMajorView<Real> a, std::span<Index> pivots) override {
    for (Index k = 0; k < a.columns; ++k) {
      if (!pivot_column(a, k, pivots[static_cast<std::size_t>(k)])) return k;
    }
    return std::nullopt;
  }

  std::optional<Index> factorize_tournament(ColumnMajorView<Real> a, std::span<Index> pivots) override {
    for (Index first = 0; first < a.columns; first += tournament_block) {
      const Index width = std::min(tournament_block, a.columns - first);
      const Index end = first + width;
      std::vector<Index> chosen(static_cast<std::size_t>(width));
      std::vector<Real> factors(static_cast<std::size_t>(width * width));
      const ColumnMajorView<Real> l11_u11{factors.data(), width, width, width};
      const auto zero = choose_rows(a.block(first, first, a.rows - first, width), chosen, l11_u11);
      if (zero) return first + *zero;
      for (Index& row : chosen) row += first;
      const std::vector<Index> interchanged = bring_to_top(first, chosen).pivots;
      std::copy(interchanged.begin(), interchanged.end(), pivots.begin() + first);
      for (Index i = 0; i < width; ++i) {
        for (Index j = 0; j < a.columns; ++j)
          std::swap(a(first + i, j), a(pivots[static_cast<std::size_t>(first + i)], j));
      }
      for (Index j = 0; j < width; ++j) std::copy_n(l11_u11.column(j), width, a.column(first + j) + first);
      const ColumnMajorView<Real> l21 = a.block(end, first, a.rows - end, width);
      const ColumnMajorView<Real> u12 = a.block(first, end, width, a.columns - end);
      solve_l21(l11_u11, l21);
      solve_unit_lower(l11_u11, u12);
      update(l21, u12, a.block(end, end, a.rows - end, a.columns - end));
    }
    return std::nullopt;
  }

  // A binary reduction tree (TSLU): each half of the rows chooses its candidate rows, and this node chooses from both.
  std::optional<Index> choose_rows(ColumnMajorView<const Real> a, std::span<Index> rows,
                                   ColumnMajorView<Real> factors) override {
    std::vector<Index> candidates(static_cast<std::size_t>(a.rows));
    std::iota(candidates.begin(), candidates.end(), Index{0});
    if (a.rows > 4 * a.columns && a.columns > 0) {
      candidates.clear();
      for (const auto& [begin, end] : {std::pair<Index, Index>{0, a.rows / 2}, {a.rows / 2, a.rows}}) {
        std::vector<Index> half(static_cast<std::size_t>(a.columns));
        choose_rows(a.block(begin, 0, end - begin, a.columns), half, factors);
        for (const Index row : half) candidates.push_back(begin + row);
      }
    }
    const auto count = static_cast<Index>(candidates.size());
    std::vector<Real> copied(static_cast<std::size_t>(count * a.columns));
    const ColumnMajorView<Real> copy{copied.data(), count, a.columns, count};
    for (Index j = 0; j < a.columns; ++j) {
      for (Index i = 0; i < count; ++i) copy(i, j) = a(candidates[static_cast<std::size_t>(i)], j);
    }
    std::optional<Index> zero;
    for (Index k = 0; k < std::min(count, a.columns); ++k) {
      Index pivot = 0;
      if (!pivot_column(copy, k, pivot) && !zero) zero = k;
      std::swap(candidates[static_cast<std::size_t>(k)], candidates[static_cast<std::size_t>(pivot)]);
    }
    std::copy_n(candidates.begin(), rows.size(), rows.begin());
    for (Index j = 0; j < a.columns; ++j) std::copy_n(copy.column(j), rows.size(), factors.column(j));
    return zero;
  }

  void solve_l21(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21) override {
    for (Index j = 0; j < a21.columns; ++j) {
      for (Index k = 0; k < j; ++k) {
        for (Index i = 0; i < a21.rows; ++i) a21(i, j) -= a21(i, k) * u11(k, j);
      }
      for (Index i = 0; i < a21.rows; ++i) a21(i, j) /= u11(j, j);
    }
  }

  void solve_unit_lower(ColumnMajorView<const Real> l11, ColumnMajorView<Real> a12) override {
    for (Index j = 0; j < a12.columns; ++j) {
      for (Index k = 0; k < a12.rows; ++k) {
        for (Index i = k + 1; i < a12.rows; ++i) a12(i, j) -= l11(i, k) * a12(k, j);
      }
    }
  }

  void update(ColumnMajorView<const Real> l21, ColumnMajorView<const Real> u12, ColumnMajorView<Real> a22) override {
    for (Index j = 0; j < a22.columns; ++j) {
      for (Index k = 0; k < l21.columns; ++k) {
        for (Index i = 0; i < a22.rows; ++i) a22(i, j) -= l21(i, k) * u12(k, j);
      }
    }
  }

  PivotCandidate find_pivot(std::span<const Real> column) override {
    PivotCandidate best;
    for (std::size_t i = 0; i < column.size(); ++i) {
      const double magnitude = std::abs(static_cast<double>(column[i]));
      if (best.row < 0 || magnitude > best.magnitude || std::isnan(magnitude)) {
        best = {static_cast<Index>(i), magnitude};
      }
      if (std::isnan(magnitude)) break;
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

  void solve_triangle(Triangle triangle, RowMajorView<const Real> t, RowMajorView<Real> x) override {
    const bool upper = triangle == Triangle::upper;
    for (Index step = 0; step < x.rows; ++step) {
      const Index k = upper ? x.rows - 1 - step : step;
      const Index begin = upper ? 0 : k + 1, end = upper ? k : x.rows;
      for (Index j = 0; j < x.columns; ++j) {
        if (upper) x(k, j) /= t(k, k);
        for (Index i = begin; i < end; ++i) x(i, j) -= t(i, k) * x(k, j);
      }
    }
  }

 private:
  static constexpr Index tournament_block = 8;

  // Finds the pivot of column k, exchanges its row with row k, and eliminates. False without changes if the pivot is 0.
  bool pivot_column(ColumnMajorView<Real> a, Index k, Index& pivot) {
    const Index rows_below = a.rows - k - 1;
    const Index columns_right = a.columns - k - 1;
    pivot = k + find_pivot({a.column(k) + k, static_cast<std::size_t>(a.rows - k)}).row;
    if (a(pivot, k) == Real{0}) return false;
    for (Index j = 0; j < a.columns && pivot != k; ++j) std::swap(a(k, j), a(pivot, j));
    eliminate_column(a(k, k), {a.column(k) + k + 1, static_cast<std::size_t>(rows_below)},
                     columns_right > 0 ? &a(k, k + 1) : nullptr, a.leading_dimension,
                     a.block(k + 1, k + 1, rows_below, columns_right));
    return true;
  }
};

}  // namespace

template <class Real>
std::unique_ptr<PanelArithmetic<Real>> make_reference_panel_arithmetic() {
  return std::make_unique<ReferencePanelArithmetic<Real>>();
}

template std::unique_ptr<PanelArithmetic<float>> make_reference_panel_arithmetic();
template std::unique_ptr<PanelArithmetic<double>> make_reference_panel_arithmetic();

template <class Real>
std::unique_ptr<Backend<Real>> make_reference_backend(const BackendOptions& options, Timeline& timeline) {
  BackendInfo info;
  info.backend = reference_record.name;
  info.device = processor_name();
  info.driver = "naive loops";
  info.free_bytes = available_memory();
  return make_host_backend<Real>(timeline, info, make_reference_panel_arithmetic<Real>(),
                                 HostKernels<Real>{solve_unit_lower<Real>, update<Real>, subtract_product<Real>},
                                 options.threads);
}

template std::unique_ptr<Backend<float>> make_reference_backend(const BackendOptions&, Timeline&);
template std::unique_ptr<Backend<double>> make_reference_backend(const BackendOptions&, Timeline&);

}  // namespace glinpack
