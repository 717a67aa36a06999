// The linear system that every rival solves, and the check of its answer: glinpack's own for both.
#pragma once

#include <vector>

#include "matrix/distribution.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack::rivals {

/// What HPL counts for factors and solution: 2/3 n^3 + 3/2 n^2.
double solve_flops(Index n);

/// This rank's part of HPL's A, rounded to Real; column-major without gaps, as LAPACK and ScaLAPACK have it.
/// Throws std::runtime_error where it has more elements than their 32-bit integers can count.
template <class Real>
std::vector<Real> local_matrix(const Distribution& distribution, GridPosition at);

/// HPL's b, all n elements, rounded to Real.
template <class Real>
std::vector<Real> right_hand_side(Index n);

/// Columns of A, without b, that a process column holds.
Index local_columns_of_a(const Distribution& distribution, int process_column);

/// HPL's scaled residual of x, all n elements, the same on every rank. Collective.
template <class Real>
double scaled_residual(const Distribution& distribution, const ProcessGrid& grid, const std::vector<Real>& x);

}  // namespace glinpack::rivals
