// How many invocations the kernels of the elliptic test problem are given (shaders/solvers/poisson.glsl).
#pragma once

#include <algorithm>

#include "local/gl/context.hpp"
#include "local/matrix_view.hpp"

namespace glinpack::solvers {

inline constexpr Index poisson_group = 256;  // invocations, poisson.glsl's

/// Work groups of a dispatch at most: about what GPUs hold, since the next one adds up the parts of all; few where the
/// processor computes.
inline Index most_poisson_groups(const gl::DeviceDescription& device) { return device.software ? 16 : 1024; }

/// Work whose invocations go down columns.
struct ColumnBlocks {
  Index rows = 1;    // of a block: what an invocation takes at a time
  Index groups = 1;  // of invocations
};

/// For rows x columns items. Blocks are as high as leaves enough of them for all invocations, so that large grids are
/// read from memory once.
inline ColumnBlocks column_blocks(Index rows, Index columns, Index most_groups) {
  constexpr Index most_block_rows = 32;
  const auto parts = [](Index count, Index size) { return (count + size - 1) / size; };
  const Index block = std::clamp<Index>(rows * columns / (most_groups * poisson_group), 1, most_block_rows);
  return {.rows = block, .groups = std::min(parts(parts(rows, block) * columns, poisson_group), most_groups)};
}

}  // namespace glinpack::solvers
