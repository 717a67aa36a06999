// Panels: arithmetic on column-major panels in host memory, and panels factorised in device memory.
#pragma once

#include <optional>
#include <span>

#include "base/matrix_view.hpp"
#include "base/non_copyable.hpp"

namespace glinpack {

/// An element of a column that may be its pivot. row: -1 if there are no elements.
struct PivotCandidate {
  Index row = -1;
  double magnitude = 0;
};

/// What is read of a square matrix: below its diagonal, with a diagonal of ones; or its diagonal and above.
enum class Triangle { unit_lower, upper };

/// As BLAS counts them.
constexpr double solve_triangle_flops(Triangle triangle, Index k, Index columns) {
  const Index of_a_column = triangle == Triangle::upper ? k * k : k * (k - 1);
  return static_cast<double>(of_a_column) * static_cast<double>(columns);
}

template <class Real>
class PanelArithmetic {
 public:
  virtual ~PanelArithmetic() = default;

  /// P A = L U of the panel A (rows x columns, rows >= columns) in place, with the pivot of column j in rows j ...
  /// rows-1 (LAPACK getrf; white paper 3.2.1). The unit diagonal of L is not stored. pivots[j] is the 0-based row that
  /// was exchanged with row j. Returns the first column whose pivot is exactly zero, if any; the columns after it are
  /// then unspecified.
  virtual std::optional<Index> factorize_partial(ColumnMajorView<Real> a, std::span<Index> pivots) = 0;

  /// The same with tournament pivoting (CALU: Grigori, Demmel, Xiang, SIAM J. Matrix Anal. Appl. 32, 2011): pivots are
  /// chosen for a block of columns at once, by a reduction tree whose nodes factorise candidate rows. Multipliers may
  /// be above 1. The implementation chooses the tree, and with it the pivots; calls with the same extents use the same
  /// tree.
  virtual std::optional<Index> factorize_tournament(ColumnMajorView<Real> a, std::span<Index> pivots) = 0;

  /// One reduction: rows <- min(rows, columns) rows of A in pivot order, linearly independent up to rounding if
  /// possible; factors <- L \ U of these rows. Returns the first column without a pivot in any row of A, if any; the
  /// later columns then determine the rest of the choice.
  virtual std::optional<Index> choose_rows(ColumnMajorView<const Real> a, std::span<Index> rows,
                                           ColumnMajorView<Real> factors) = 0;

  /// A21 <- A21 U11^-1 (BLAS trsm, right, upper, non-unit; white paper 3.2.3): the multipliers below a pivot block.
  virtual void solve_l21(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21) = 0;

  /// A12 <- L11^-1 A12 (BLAS trsm, left, lower, unit; white paper 3.2.2).
  virtual void solve_unit_lower(ColumnMajorView<const Real> l11, ColumnMajorView<Real> a12) = 0;

  /// A22 <- A22 - L21 U12 (BLAS gemm; white paper 3.2.4).
  virtual void update(ColumnMajorView<const Real> l21, ColumnMajorView<const Real> u12, ColumnMajorView<Real> a22) = 0;

  /// The first element of largest magnitude (BLAS iamax). A NaN counts as largest, so that it is not missed.
  virtual PivotCandidate find_pivot(std::span<const Real> column) = 0;

  /// One elimination step within a panel: l <- l / pivot, then A <- A - l u^T. l has A.rows elements; u has A.columns
  /// elements with stride `u_stride`.
  virtual void eliminate_column(Real pivot, std::span<Real> l, const Real* u, Index u_stride,
                                ColumnMajorView<Real> a) = 0;

  /// Row i of `to` <- row rows[i] of `a`, and the reverse. The same columns.
  virtual void read_rows(ColumnMajorView<const Real> a, std::span<const Index> rows, ColumnMajorView<Real> to) {
    for (Index j = 0; j < a.columns; ++j) {
      for (Index i = 0; i < to.rows; ++i) to(i, j) = a(rows[static_cast<std::size_t>(i)], j);
    }
  }
  virtual void write_rows(ColumnMajorView<const Real> from, std::span<const Index> rows, ColumnMajorView<Real> a) {
    for (Index j = 0; j < a.columns; ++j) {
      for (Index i = 0; i < from.rows; ++i) a(rows[static_cast<std::size_t>(i)], j) = from(i, j);
    }
  }

  /// X <- T^-1 X for a triangle of the square t and few columns (BLAS trsv, trsm): a step of forward or backward
  /// substitution, row-major as a local matrix is.
  virtual void solve_triangle(Triangle triangle, RowMajorView<const Real> t, RowMajorView<Real> x) = 0;
};

template <class Real>
struct DeviceBlock;

/// The device's state for factorising panels, kept between them.
template <class Real>
class DevicePanel : NonCopyable {
 public:
  virtual ~DevicePanel() = default;

  /// P A = L U of the panel A (rows x columns, rows >= columns) in place, given as A^T, columns x rows; the unit
  /// diagonal of L is not stored. Asynchronous. Call outcome() before the next panel.
  virtual void factorize(DeviceBlock<Real> a_transposed) = 0;

  /// Waits for the last panel's pivots: pivots[j] <- the 0-based row that was exchanged with row j. Returns the first
  /// column whose pivot is exactly zero, if one is; the columns after it are then unspecified.
  virtual std::optional<Index> outcome(std::span<Index> pivots) = 0;
};

/// Tournament pivoting (CALU: Grigori, Demmel, Xiang, SIAM J. Matrix Anal. Appl. 32, 2011); the leaves of the tree are
/// the rows of work groups.
template <class Real>
class DeviceTournamentPanel : public DevicePanel<Real> {
 public:
  /// L21 <- A21 U11^-1, then A22 <- A22 - L21 U12, in this rank's rows, for pivots that other ranks chose.
  /// `a_transposed` is [L11 \ U11; A21]^T, columns x (columns + rows); u12 columns x right; a22 rows x right, where
  /// right may be 0. Three different matrices, rows > 0. Asynchronous.
  virtual void solve_l21_and_update(DeviceBlock<Real> a_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) = 0;
};

}  // namespace glinpack
