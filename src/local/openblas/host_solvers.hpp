// What the solvers of src/local/solvers are measured against and checked by: OpenBLAS and LAPACK, without their
// headers.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "local/matrix_view.hpp"

namespace glinpack {

/// OpenBLAS's threads: a setting of the process.
void set_openblas_threads(int threads);

/// C = A B (cblas gemm): A m x k, B k x n, C m x n. Real: float or double. Throws std::invalid_argument where the
/// extents do not match, std::runtime_error where one exceeds OpenBLAS's 32-bit integers.
template <class Real>
void multiply_on_host(RowMajorView<const Real> a, RowMajorView<const Real> b, RowMajorView<Real> c);

/// A X = B (LAPACK getrf and getrs): A n x n, B n x any number of columns, X in its place; with none, A is factorised
/// alone. A becomes the factors of A^T, row for column, since LAPACK counts by columns. Returns 0, or the order of the
/// leading part of A that is singular, getrf's info; then B is as it was. Throws std::invalid_argument where the
/// extents do not match, std::runtime_error where one exceeds OpenBLAS's 32-bit integers.
template <class Real>
Index solve_on_host(RowMajorView<Real> a, ColumnMajorView<Real> b);
/// P A = L U in the place of A, n x n (LAPACK getrf). pivots[k], n of them, is the 0-based row that changed places with
/// row k. Returns and throws as solve_on_host().
template <class Real>
Index factorize_on_host(ColumnMajorView<Real> a, std::span<Index> pivots);
/// B <- A^-1 B (LAPACK getrs), of such factors, whoever computed them. Throws as solve_on_host().
template <class Real>
void substitute_on_host(ColumnMajorView<const Real> factors, std::span<const Index> pivots, ColumnMajorView<Real> b);
/// A becomes A^-1 (LAPACK getrf and getri). Returns and throws as solve_on_host().
template <class Real>
Index invert_on_host(RowMajorView<Real> a);

/// The largest over the right-hand sides of HPL's || A x - b || / (eps (|| A || || x || + || b ||) n), the norms being
/// maxima, || A || of row sums: computed in double precision, with eps of Real. Times eps n it is the least relative
/// change of A and b that makes x exact. Infinite where x is not finite; 0 where there is nothing to solve. Throws
/// std::invalid_argument where the extents are not those of A X = B.
template <class Real>
double scaled_residual(RowMajorView<const Real> a, RowMajorView<const Real> x, RowMajorView<const Real> b);

/// The largest element of |A - L U| over that of |L| |U|, over eps n, in double precision with eps of single, the
/// factors being as in factors_residual() below: how far each element of L U is off, measured by what it is a sum of.
/// Gaussian elimination leaves 1 at most, if it rounds as IEEE 754 wants (Higham, "Accuracy and Stability of Numerical
/// Algorithms", theorem 9.3). Unlike a norm's, it is not hidden by large elements elsewhere.
double elementwise_residual(RowMajorView<const float> a, RowMajorView<const float> factors);

/// || P A - L U || / (eps || A || n), the norms being maxima of row sums, in double precision with eps of single: the
/// scaled residual of factors that have L below the diagonal and U on and above it. Row i of P A is row order[i] of A;
/// an empty order: P = I. Infinite where a factor is not finite. Throws std::invalid_argument where the extents do not
/// match.
double factors_residual(RowMajorView<const float> a, RowMajorView<const float> factors, std::span<const Index> order);

/// A = L U without pivoting in the place of A, right-looking, by plain loops: LAPACK has no such thing. Returns the
/// first step, from 0, whose pivot is 0 or not finite, where there is one; what follows it is then left as it was.
template <class Real>
std::optional<Index> factorize_without_pivoting(RowMajorView<Real> a);

/// The x that minimises || A x - b || (LAPACK dgelsd): A row-major, rows x columns, rows >= columns, b with as many
/// elements as rows. Throws std::runtime_error where the method does not converge.
std::vector<double> least_squares(RowMajorView<const double> a, std::span<const double> b);

}  // namespace glinpack
