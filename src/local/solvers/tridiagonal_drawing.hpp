// Tridiagonal systems by fragment shaders.
#pragma once

#include "local/solvers/tridiagonal.hpp"

namespace glinpack::solvers {

/// `tile`: the most systems and equations in a texture.
std::unique_ptr<TridiagonalSolver<float>> make_drawn_tridiagonal(Device& device, Index count, Index n, Index tile);

}  // namespace glinpack::solvers
