// The products that fragment shaders make.
#pragma once

#include "local/solvers/matmul.hpp"

namespace glinpack::solvers {

std::unique_ptr<MatrixProduct<float>> make_drawn_product(Device& device, const ProductExtents& extents,
                                                         const MatmulSettings& settings);

}  // namespace glinpack::solvers
