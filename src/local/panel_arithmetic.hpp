// Arithmetic on panels in host memory, column-major: the part of a pass whose length is one block column. A backend
// names the one that fits it (Backend::panel()); the global algorithm calls only this interface.
//
// All operations are synchronous. Extents may be 0: then nothing is touched.
#pragma once

#include <optional>
#include <span>

#include "local/matrix_view.hpp"

namespace glinpack {

template <class Real>
class PanelArithmetic {
 public:
  virtual ~PanelArithmetic() = default;

  /// P A = L U of the panel A (rows x columns, rows >= columns) in place, the pivot of column j looked for in rows
  /// j ... rows-1 (LAPACK getrf; white paper 3.2.1). L has a unit diagonal that is not stored. pivots[j] is the
  /// 0-based row that was exchanged with row j. Returns the first column whose pivot is exactly zero, if one is; the
  /// columns after it are then unspecified.
  virtual std::optional<Index> pivot(ColumnMajorView<Real> a, std::span<Index> pivots) = 0;

  /// The same with tournament pivoting (CALU: Grigori, Demmel, Xiang, SIAM J. Matrix Anal. Appl. 32, 2011): pivots are
  /// chosen for a block of columns at once, among the rows that win over others in LUs of a few rows each. Multipliers
  /// may be above 1. How rows meet, and with it the pivots, is up to the implementation, but the same in every call
  /// with the same extents.
  virtual std::optional<Index> pivot_by_tournament(ColumnMajorView<Real> a, std::span<Index> pivots) = 0;

  /// One such choice: rows <- min(rows, columns) rows of A in the order in which they would be pivots, as good as
  /// independent if any are; factors <- L \ U of these rows, of as many rows. Returns the first column without a pivot
  /// among all rows of A, if there is one; the rows are then chosen with what the columns after it have.
  virtual std::optional<Index> choose_rows(ColumnMajorView<const Real> a, std::span<Index> rows,
                                           ColumnMajorView<Real> factors) = 0;

  /// A21 <- A21 U11^-1 (BLAS trsm, right, upper, non-unit; white paper 3.2.3): the multipliers below a pivot block.
  virtual void eliminate(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21) = 0;

  /// A12 <- L11^-1 A12 (BLAS trsm, left, lower, unit; white paper 3.2.2).
  virtual void normalize(ColumnMajorView<const Real> l11, ColumnMajorView<Real> a12) = 0;

  /// A22 <- A22 - L21 U12 (BLAS gemm; white paper 3.2.4).
  virtual void reduce(ColumnMajorView<const Real> l21, ColumnMajorView<const Real> u12, ColumnMajorView<Real> a22) = 0;

  /// Position of the first element of largest magnitude (BLAS iamax), -1 where there are none. A NaN counts as
  /// largest, so that it is seen and not passed over.
  virtual Index index_of_largest(std::span<const Real> column) = 0;

  /// One step of elimination within a panel: l <- l / pivot, then A <- A - l u^T, where l has A.rows elements and u
  /// has A.columns elements `u_stride` apart.
  virtual void eliminate_column(Real pivot, std::span<Real> l, const Real* u, Index u_stride,
                                ColumnMajorView<Real> a) = 0;

  /// x <- U^-1 x for the upper triangle of a square u (BLAS trsv): a step of backward substitution.
  virtual void back_substitute(ColumnMajorView<const Real> u, std::span<Real> x) = 0;
};

}  // namespace glinpack
