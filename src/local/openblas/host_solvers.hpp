// Baselines and checks for the solvers of src/local/solvers: OpenBLAS and LAPACK, without their headers.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/matrix_view.hpp"
#include "solvers/tridiagonal/tridiagonal_systems.hpp"

namespace glinpack {

/// C = A B (cblas gemm): A m x k, B k x n, C m x n. Real: float or double. Throws std::invalid_argument if the extents
/// do not match, std::runtime_error if one exceeds BLAS's 32-bit integers.
template <class Real>
void multiply_on_host(RowMajorView<const Real> a, RowMajorView<const Real> b, RowMajorView<Real> c);

/// A X = B (LAPACK getrf and getrs): A n x n, B n x any number of columns, overwritten by X; without columns, A is only
/// factorised. A becomes the factors of A^T in row-major order, since LAPACK is column-major. Returns 0, or getrf's
/// info: the order of the leading part of A that is singular; B is then unchanged. Throws std::invalid_argument if the
/// extents do not match, std::runtime_error if one exceeds BLAS's 32-bit integers.
template <class Real>
Index solve_on_host(RowMajorView<Real> a, ColumnMajorView<Real> b);
/// P A = L U in the place of A, n x n (LAPACK getrf). pivots[k], n of them, is the 0-based row that was exchanged with
/// row k. Returns and throws as solve_on_host().
template <class Real>
Index factorize_on_host(ColumnMajorView<Real> a, std::span<Index> pivots);
/// B <- A^-1 B (LAPACK getrs), with such factors from any source. Throws as solve_on_host().
template <class Real>
void substitute_on_host(ColumnMajorView<const Real> factors, std::span<const Index> pivots, ColumnMajorView<Real> b);
/// 1 / (|| A || || A^-1 ||) in the norm of column sums, || A^-1 || estimated from such factors (LAPACK gecon). NaN if
/// an element is. Throws std::runtime_error as solve_on_host().
template <class Real>
double reciprocal_condition_on_host(ColumnMajorView<const Real> factors, double norm);
/// Such factors become A^-1 (LAPACK getri). Throws as solve_on_host().
template <class Real>
void invert_factors_on_host(ColumnMajorView<Real> factors, std::span<const Index> pivots);
/// A becomes A^-1 (LAPACK getrf and getri). Returns and throws as solve_on_host().
template <class Real>
Index invert_on_host(RowMajorView<Real> a);

/// P A = L U of a banded n x n matrix A. Functions throw std::runtime_error if an extent exceeds BLAS's 32-bit
/// integers.
template <class Real>
class BandedFactors {
 public:
  /// A is zero: singular.
  BandedFactors() = default;
  /// Not factorised yet. A's diagonal k has the elements A(i, i + offsets[k]) that are within A.
  BandedFactors(Index n, std::span<const Index> offsets);

  /// Rows of LAPACK's band storage, which has n columns.
  Index rows() const { return 2 * lower_ + upper_ + 1; }
  /// Factorises (LAPACK gbtrf). diagonals(i, k) is A(i, i + offsets[k]); the number of offsets is its columns.
  void factorize(RowMajorView<const Real> diagonals, std::span<const Index> offsets);
  /// Whether a pivot is 0.
  bool singular() const { return singular_; }
  /// B <- A^-1 B (LAPACK gbtrs), A not singular.
  void substitute(ColumnMajorView<Real> b) const;
  /// As reciprocal_condition_on_host() (LAPACK gbcon); 0 if A is singular.
  double reciprocal_condition() const;

 private:
  Index n_ = 0, lower_ = 0, upper_ = 0;  // diagonals of A below the main one, and above it
  std::vector<Real> elements_;
  std::vector<int> pivots_;
  double norm_ = 0;  // the largest column sum of magnitudes
  bool singular_ = true;
};

/// The largest over the right-hand sides of HPL's || A x - b || / (eps (|| A || || x || + || b ||) n). Norms are
/// maxima, || A || of row sums, computed in double precision, with eps of Real. Times eps n, it is the smallest
/// relative change of A and b that makes x exact. Infinite if x is not finite; 0 for empty systems. Throws
/// std::invalid_argument unless the extents are those of A X = B.
template <class Real>
double scaled_residual(RowMajorView<const Real> a, RowMajorView<const Real> x, RowMajorView<const Real> b);

/// A becomes its reduced row echelon form (MATLAB's rref), by Gauss-Jordan elimination in plain loops, the rows divided
/// among threads. The largest element of a column is the pivot; columns whose largest is at most max(rows, columns) eps
/// times the norm of row sums have none, and become 0 below. Returns the columns that have pivots.
template <class Real>
std::vector<Index> reduce_to_echelon_form(RowMajorView<Real> a, int threads);

/// The x that minimises || A x - b || (LAPACK dgelsd): A row-major, rows x columns, rows >= columns, b with A's number
/// of rows. Throws std::runtime_error if the method does not converge.
std::vector<double> least_squares(RowMajorView<const double> a, std::span<const double> b);

/// LAPACK gtsv (partial pivoting) in a loop; overwrites right with the solutions, and the coefficients. `threads`:
/// systems solved in parallel. Returns the position of the zero on U's diagonal in the first such system; its solution
/// is then invalid.
template <class Real>
std::optional<solvers::ZeroPivot> solve_tridiagonal_on_host(solvers::TridiagonalSystems<Real>& systems, int threads);

}  // namespace glinpack
