// The check of a solution: HPL's scaled residual, from the regenerated matrix.
#pragma once

#include <span>

#include "backend/precision.hpp"
#include "matrix/original_matrix.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack {

/// HPL's test: scaled = ||Ax-b||_oo / (eps (||A||_oo ||x||_oo + ||b||_oo) N), with the epsilon of the precision
/// (HPL_pdtest.c). Norms are those of the original matrix, which is regenerated. Always computed in double precision.
struct Residual {
  double scaled = 0;
  double epsilon = 0;
  double norm_residual_inf = 0;
  double norm_a_inf = 0;
  double norm_a_one = 0;
  double norm_x_inf = 0;
  double norm_x_one = 0;
  double norm_b_inf = 0;
  double largest_a = 0;  // max |a_ij|, for the growth
};

/// HPL's test (HPL_pdtest.c), computed in double precision. `precision` selects epsilon. x: this rank's part, one
/// element per local column of A. Collective over the grid; the same result on every rank. A NaN in x or in the
/// residual makes the result NaN.
Residual compute_residual(OriginalMatrix& matrix, const Distribution& distribution, const ProcessGrid& grid,
                          Precision precision, std::span<const double> x);

/// The second half of compute_residual(): combines the ranks' sums. sums.residual becomes the sum over the process row.
/// Collective over the grid.
Residual combine_sums(LocalSums& sums, const Distribution& distribution, const ProcessGrid& grid, Precision precision,
                      std::span<const double> x);

/// The same test without the matrix. `known` has the norms of A and b; `residual`: b - A x in this rank's local rows,
/// summed over the process row. Collective over the grid.
Residual test_with_known_norms(const Residual& known, const Distribution& distribution, const ProcessGrid& grid,
                               std::span<const double> residual, std::span<const double> x);

}  // namespace glinpack
