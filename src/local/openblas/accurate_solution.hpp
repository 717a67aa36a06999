// Solutions and residuals more accurate than double precision gives them: what errors are measured by.
#pragma once

#include <span>
#include <vector>

#include "local/matrix_view.hpp"

namespace glinpack {

/// b - A x, sums of products in twice the precision of double (Dot2: Ogita, Rump, Oishi, Accurate sum and dot product,
/// SIAM J. Sci. Comput. 26, 2005), the results rounded. x is x_high + x_low; x_low may be empty. Throws
/// std::invalid_argument where the extents do not match.
std::vector<double> accurate_residual(RowMajorView<const double> a, std::span<const double> x_high,
                                      std::span<const double> x_low, std::span<const double> b);

/// The x of A x = b to double precision's last digits: LAPACK's getrf, and refinement of x, kept in twice the
/// precision, by such residuals, until corrections are below 2^-60 of x. Empty where A is singular, or so nearly that
/// corrections do not become small. Throws std::invalid_argument where the extents do not match.
std::vector<double> accurate_solution(RowMajorView<const double> a, std::span<const double> b);

}  // namespace glinpack
