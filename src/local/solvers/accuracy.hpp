// Errors of factors and solutions in host memory: factors by plain loops, residuals of factors, and solutions and
// residuals more accurate than double precision, as a reference.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/matrix_view.hpp"

namespace glinpack {

/// The largest element of |A - L U| over that of |L| |U|, over eps n, in double precision with eps of single; the
/// factors are as in factors_residual() below. It is the error of each element of L U relative to the terms of its sum.
/// Gaussian elimination leaves 1 at most, if it rounds as IEEE 754 requires (Higham, "Accuracy and Stability of
/// Numerical Algorithms", theorem 9.3). Unlike a norm's, it is not hidden by large elements elsewhere.
double elementwise_residual(RowMajorView<const float> a, RowMajorView<const float> factors);

/// | P A - L U || / (eps || A || n), with maxima of row sums as norms, in double precision with eps of Real: the
/// scaled residual of factors with L below the diagonal and U on and above it. Row i of P A is row order[i] of A; an
/// empty order: P = I. Infinite if a factor is not finite. Throws std::invalid_argument if the extents do not match.
template <class Real>
double factors_residual(RowMajorView<const Real> a, RowMajorView<const Real> factors, std::span<const Index> order);

/// A = L U without pivoting, in place, right-looking, by plain loops: LAPACK has no such routine. Returns the first
/// step, from 0, whose pivot is 0 or not finite, if any; the rest of A is then unchanged.
template <class Real>
std::optional<Index> factorize_without_pivoting(RowMajorView<Real> a);

/// b - A x, with sums of products in twice the precision of double (Dot2: Ogita, Rump, Oishi, Accurate sum and dot
/// product, SIAM J. Sci. Comput. 26, 2005), rounded to double. x is x_high + x_low; x_low may be empty. Throws
/// std::invalid_argument if the extents do not match.
std::vector<double> accurate_residual(RowMajorView<const double> a, std::span<const double> x_high,
                                      std::span<const double> x_low, std::span<const double> b);

/// The x of A x = b to double precision's last digits: LAPACK's getrf, and refinement of x, stored in twice the
/// precision, by such residuals, until corrections are below 2^-60 of x. Empty if A is singular, or if corrections do
/// not become small. Throws std::invalid_argument if the extents do not match.
std::vector<double> accurate_solution(RowMajorView<const double> a, std::span<const double> b);

}  // namespace glinpack
