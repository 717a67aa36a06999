// Tridiagonal systems by LAPACK, one after the other: what the solvers of src/local/solvers are measured against and
// checked by.
#pragma once

#include <optional>

#include "local/solvers/tridiagonal_systems.hpp"

namespace glinpack {

/// LAPACK gtsv (partial pivoting) in a loop; the solutions take the place of right, the coefficients are destroyed.
/// `threads`: systems that are solved side by side. Returns where U has a zero on its diagonal, of the first such
/// system; its solution is of no use then.
template <class Real>
std::optional<solvers::ZeroPivot> solve_tridiagonal_on_host(solvers::TridiagonalSystems<Real>& systems, int threads);

}  // namespace glinpack
