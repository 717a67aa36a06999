// The product by the tiled kernel of gl-compute's reduce.
#pragma once

#include "local/solvers/matmul.hpp"

namespace glinpack::solvers {

/// Real: float or double.
template <class Real>
std::unique_ptr<MatrixProduct<Real>> make_computed_product(Device& device, const ProductExtents& extents,
                                                           const std::string& tile);

}  // namespace glinpack::solvers
