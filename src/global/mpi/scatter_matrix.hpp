// A matrix that one rank has read, distributed over the grid.
#pragma once

#include <memory>
#include <vector>

#include "matrix/matrix_source.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack {

/// Distributes a dense matrix over the grid. Collective over it. The root, rank (0, 0), passes the N x N matrix,
/// row-major; the others nullptr. The right-hand side is b = A 1, so that x = 1 is known. Every rank throws
/// std::runtime_error if any has no memory for its part.
std::unique_ptr<MatrixSource> scatter_matrix(const ProcessGrid& grid, const Distribution& distribution,
                                             const std::vector<double>* dense_on_root);

}  // namespace glinpack
