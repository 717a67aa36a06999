// The check of a solution: HPL's scaled residual, from the matrix as its source gives it again.
#pragma once

#include <span>

#include "global/original_matrix.hpp"
#include "global/process_grid.hpp"
#include "global/run.hpp"
#include "local/precision.hpp"

namespace glinpack {

/// HPL's test (HPL_pdtest.c), computed in double precision. `precision`: whose epsilon counts. x: this rank's part, one
/// element a local column of A. Collective over the grid; the same result on every rank. A NaN in x or in the residual
/// is in the result.
Residual compute_residual(OriginalMatrix& matrix, const Distribution& distribution, const ProcessGrid& grid,
                          Precision precision, std::span<const double> x);

/// The second part of it: what the ranks' sums come to. Leaves in sums.residual the whole sums over the process row.
Residual combined(LocalSums& sums, const Distribution& distribution, const ProcessGrid& grid, Precision precision,
                  std::span<const double> x);

/// The sums over all ranks of a communicator, to all of them. Collective over it.
void add_over(MPI_Comm communicator, std::span<double> values);

/// The same test for another x, whose residual vector is known: `known` has the norms of A and b. Collective over the
/// grid.
Residual test_again(const Residual& known, const Distribution& distribution, const ProcessGrid& grid,
                    std::span<const double> vector, std::span<const double> x);

}  // namespace glinpack
