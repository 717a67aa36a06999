// r and p of a strip of the elliptic test problem, in the memory that kernels read neighbours from (section 4 of the
// paper, poisson_problem.hpp), and the work groups of those kernels (shaders/solvers/poisson.glsl).
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/precision.hpp"
#include "solvers/device/device_array.hpp"
#include "solvers/device/texture_matrix.hpp"
#include "solvers/poisson/poisson_device_strip.hpp"

namespace glinpack::solvers {

// bindings of the kernels: poisson.glsl, poisson_memory.glsl
inline constexpr GLuint scalars_binding = 0, parts_binding = 1, new_parts_binding = 2, residual_binding = 3,
                        direction_binding = 4, new_direction_binding = 5, solution_binding = 6, products_binding = 7;

/// The layout of vectors: row i of a strip at (i + ghost_rows) pitch, n elements, then zeros.
struct PoissonLayout {
  Index pitch = 0;       // elements from row to row
  Index item_width = 1;  // elements that an invocation takes at a time
  Index ghost_rows = 1;  // above, and as many below; none in 2D textures
  Index elements = 0;

  Index items() const { return pitch / item_width; }  // from row to row
};

template <class Real>
PoissonLayout poisson_layout(const PoissonExtents& extents, PoissonMemory memory) {
  constexpr Index row_alignment = 128;  // bytes: a line of the caches
  constexpr Index vector_bytes = 16;    // precision.glsl's Vector
  constexpr Index bytes = static_cast<Index>(sizeof(Real));
  if (memory == PoissonMemory::texture2d) {
    return {.pitch = extents.n, .item_width = 1, .ghost_rows = 0, .elements = extents.rows * extents.n};
  }
  const Index pitch = round_up((extents.n + 1) * bytes, row_alignment) / bytes;
  return {.pitch = pitch,
          .item_width = memory == PoissonMemory::global ? vector_bytes / bytes : 1,
          .ghost_rows = 1,
          .elements = (extents.rows + 2) * pitch};
}

/// Binds r, p, and the new p for the shaders (shaders/solvers/poisson_memory.glsl).
template <class Real>
class PoissonVectors {
 public:
  /// Throws std::runtime_error if the device cannot hold them, std::invalid_argument for textures in double precision.
  PoissonVectors(Device& device, const PoissonExtents& extents, PoissonMemory memory)
      : extents_(extents), layout_(poisson_layout<Real>(extents, memory)) {
    const bool in_textures = memory == PoissonMemory::texture1d || memory == PoissonMemory::texture2d;
    if (in_textures && precision_of<Real> == Precision::double_) {
      throw std::invalid_argument("textures hold single precision");
    }
    for (int vector = 0; vector < 3; ++vector) {
      if (memory == PoissonMemory::texture2d) {
        textures_.emplace_back(device, extents.rows, extents.n, Packing::p1x1);
        for (const GLenum direction : std::array<GLenum, 2>{GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T}) {
          glTextureParameteri(textures_.back().texture(), direction, GL_CLAMP_TO_BORDER);  // the default border is 0
        }
        continue;
      }
      arrays_.emplace_back(device, layout_.elements);
      if (memory != PoissonMemory::texture1d) continue;
      texels_.emplace_back(device.context());
      glTextureBuffer(texels_.back().id(), GL_R32F, arrays_.back().id());
      device.context()->throw_error("a texel buffer cannot be had");
    }
  }

  /// r, row by row, including ghost rows if any (fill(row, r), row from -1 on); p = 0. Stages pack and upload.
  void begin(const std::function<void(Index row, Real* r)>& fill) {
    if constexpr (std::is_same_v<Real, float>) {
      if (!textures_.empty()) {
        for (std::size_t p = 1; p < 3; ++p) textures_[p].clear();
        return textures_[0].upload_texels([&](float* texels) {
          for (Index i = 0; i < extents_.rows; ++i) fill(i, texels + i * extents_.n);
        });
      }
    }
    for (std::size_t p = 1; p < 3; ++p) arrays_[p].clear();
    arrays_[0].upload(layout_.elements, [&](Real* row) {
      for (Index i = -1; i <= extents_.rows; ++i, row += layout_.pitch) {
        fill(i, row);
        std::fill(row + extents_.n, row + layout_.pitch, Real{0});
      }
    });
  }
  void bind_direction() const {
    bind_read();
    if (textures_.empty()) return arrays_[3 - current_].bind(new_direction_binding);
    glBindImageTexture(0, textures_[3 - current_].texture(), 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_R32F);
  }
  void bind_update() const {
    bind_read();
    if (textures_.empty()) return;
    glBindImageTexture(0, textures_[0].texture(), 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32F);
  }
  /// Makes the new p the current p.
  void exchange() { current_ = 3 - current_; }
  /// Call after a kernel: makes its writes visible to the next one.
  void make_writes_visible() const {
    if (!texels_.empty()) glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT);
    if (textures_.empty()) return;  // Device::dispatch() synchronises storage buffers
    glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT);
  }
  /// The buffer of r; 0 if r is in a texture.
  GLuint residual_buffer() const { return arrays_.empty() ? 0 : arrays_[0].id(); }

 private:
  static constexpr GLuint residual_unit = 0, direction_unit = 1;  // texture units: poisson_memory.glsl

  void bind_read() const {
    if (textures_.empty()) {
      arrays_[0].bind(residual_binding);
      arrays_[current_].bind(direction_binding);
      if (texels_.empty()) return;
    }
    glBindTextureUnit(residual_unit, texels_.empty() ? textures_[0].texture() : texels_[0].id());
    glBindTextureUnit(direction_unit, texels_.empty() ? textures_[current_].texture() : texels_[current_].id());
  }

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
inline Index max_poisson_groups(const DeviceDescription& device) { return device.software ? 16 : 1024; }

/// A dispatch whose invocations go down columns.
struct ColumnBlocks {
  Index rows = 1;    // of a block, which an invocation computes at a time
  Index groups = 1;  // of invocations
};

/// For rows x columns items. Blocks are as high as possible with work for all invocations, so that large grids are read
/// from memory once.
inline ColumnBlocks column_blocks(Index rows, Index columns, Index max_groups) {
  constexpr Index max_block_rows = 32;
  const Index block = std::clamp<Index>(rows * columns / (max_groups * poisson_group), 1, max_block_rows);
  return {.rows = block, .groups = std::min(divide_up(divide_up(rows, block) * columns, poisson_group), max_groups)};
}

}  // namespace glinpack::solvers
