// The check of a solution: HPL's scaled residual, from the matrix as its source gives it again.
#pragma once

#include <vector>

#include "global/matrix_source.hpp"
#include "global/process_grid.hpp"
#include "global/run.hpp"

namespace glinpack {

/// HPL's test (HPL_pdtest.c), computed in double precision from [A | b] rounded to Real, which is what was factorised.
/// x: this rank's part, one element a local column of A. Collective over the grid; the same result on every rank. A NaN
/// in x or in the residual is in the result.
template <class Real>
Residual compute_residual(const Distribution& distribution, const ProcessGrid& grid, const MatrixSource& source,
                          const std::vector<Real>& x, int threads);

}  // namespace glinpack
