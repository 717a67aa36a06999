// r and p of a strip of the elliptic test problem, in the memory that kernels read neighbours from (section 4 of the
// paper, poisson_problem.hpp), and the work groups of those kernels (shaders/solvers/poisson.glsl).
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "base/matrix_view.hpp"
#include "solvers/device/device_array.hpp"
#include "solvers/device/texture_matrix.hpp"
#include "solvers/poisson/poisson_cg.hpp"

namespace glinpack::solvers {

// bindings of the kernels: poisson.glsl, poisson_memory.glsl
inline constexpr GLuint scalars_binding = 0, parts_binding = 1, new_parts_binding = 2, residual_binding = 3,
                        direction_binding = 4, new_direction_binding = 5, solution_binding = 6, products_binding = 7;

/// global: storage buffers, 16 bytes at a time. texture1d: texel buffers. texture2d: 2D textures, whose border holds
/// the boundary values. shared: storage buffers, in tiles with their surrounding cells in shared memory.
enum class PoissonMemory : std::uint8_t { global, texture1d, texture2d, shared };

/// The layout of vectors: row i of a strip at (i + ghost_rows) pitch, n elements, then zeros.
struct PoissonLayout {
  Index pitch = 0;       // elements from row to row
  Index item_width = 1;  // elements that an invocation takes at a time
  Index ghost_rows = 1;  // above, and as many below; none in 2D textures
  Index elements = 0;

  Index items() const { return pitch / item_width; }  // from row to row
};

template <class Real>
PoissonLayout poisson_layout(const PoissonExtents& extents, PoissonMemory memory);

/// Binds r, p, and the new p for the shaders (shaders/solvers/poisson_memory.glsl).
template <class Real>
class PoissonVectors {
 public:
  /// Throws std::runtime_error if the device cannot hold them, std::invalid_argument for textures in double precision.
  PoissonVectors(Device& device, const PoissonExtents& extents, PoissonMemory memory);

  /// r, row by row, including ghost rows if any (fill(row, r), row from -1 on); p = 0. Stages pack and upload.
  void begin(const std::function<void(Index row, Real* r)>& fill);
  void bind_direction() const;
  void bind_update() const;
  /// Makes the new p the current p.
  void exchange() { current_ = 3 - current_; }
  /// Call after a kernel: makes its writes visible to the next one.
  void make_writes_visible() const;
  /// The buffer of r; 0 if r is in a texture.
  GLuint residual_buffer() const { return arrays_.empty() ? 0 : arrays_[0].id(); }

 private:
  void bind_read() const;

  PoissonExtents extents_;
  PoissonLayout layout_;
  std::vector<DeviceArray<Real>> arrays_;      // r, and p twice; none with texture2d
  std::vector<gl::TexelBufferHandle> texels_;  // the arrays, with texture1d
  std::vector<TextureMatrix> textures_;        // with texture2d, whose border replaces ghost rows
  std::size_t current_ = 1;                    // p
};

inline constexpr Index poisson_group = 256;  // invocations, poisson.glsl's

/// The most work groups of a dispatch: about the capacity of GPUs, since the next dispatch sums the parts of all; few
/// on software devices.
inline Index most_poisson_groups(const DeviceDescription& device) { return device.software ? 16 : 1024; }

/// A dispatch whose invocations go down columns.
struct ColumnBlocks {
  Index rows = 1;    // of a block, which an invocation computes at a time
  Index groups = 1;  // of invocations
};

/// For rows x columns items. Blocks are as high as possible with work for all invocations, so that large grids are read
/// from memory once.
inline ColumnBlocks column_blocks(Index rows, Index columns, Index most_groups) {
  constexpr Index most_block_rows = 32;
  const auto parts = [](Index count, Index size) { return (count + size - 1) / size; };
  const Index block = std::clamp<Index>(rows * columns / (most_groups * poisson_group), 1, most_block_rows);
  return {.rows = block, .groups = std::min(parts(parts(rows, block) * columns, poisson_group), most_groups)};
}

}  // namespace glinpack::solvers
