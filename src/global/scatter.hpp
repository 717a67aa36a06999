// A dense matrix that one rank has read, dealt out over the grid.
#pragma once

#include <memory>
#include <vector>

#include "global/matrix_source.hpp"
#include "global/process_grid.hpp"

namespace glinpack {

/// Collective over the grid. The root, rank (0, 0), passes the N x N matrix, row-major; the others nullptr. The
/// right-hand side is b = A 1, so that x = 1 is known. Throws std::runtime_error on every rank when one has no memory
/// for its part.
std::unique_ptr<MatrixSource> scatter_matrix(const ProcessGrid& grid, const Distribution& distribution,
                                             const std::vector<double>* dense_on_root);

}  // namespace glinpack
