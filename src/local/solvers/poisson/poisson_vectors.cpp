#include "solvers/poisson/poisson_vectors.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <type_traits>

#include "base/precision.hpp"

namespace glinpack::solvers {
namespace {

// texture units: poisson_memory.glsl
constexpr GLuint residual_unit = 0, direction_unit = 1;

constexpr Index row_alignment = 128;  // bytes: a line of the caches
constexpr Index vector_bytes = 16;    // precision.glsl's Vector

}  // namespace

template <class Real>
PoissonLayout poisson_layout(const PoissonExtents& extents, PoissonMemory memory) {
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

template <class Real>
PoissonVectors<Real>::PoissonVectors(Device& device, const PoissonExtents& extents, PoissonMemory memory)
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

template <class Real>
void PoissonVectors<Real>::begin(const std::function<void(Index, Real*)>& fill) {
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

template <class Real>
void PoissonVectors<Real>::bind_read() const {
  if (textures_.empty()) {
    arrays_[0].bind(residual_binding);
    arrays_[current_].bind(direction_binding);
    if (texels_.empty()) return;
  }
  glBindTextureUnit(residual_unit, texels_.empty() ? textures_[0].texture() : texels_[0].id());
  glBindTextureUnit(direction_unit, texels_.empty() ? textures_[current_].texture() : texels_[current_].id());
}

template <class Real>
void PoissonVectors<Real>::bind_direction() const {
  bind_read();
  if (textures_.empty()) return arrays_[3 - current_].bind(new_direction_binding);
  glBindImageTexture(0, textures_[3 - current_].texture(), 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_R32F);
}

template <class Real>
void PoissonVectors<Real>::bind_update() const {
  bind_read();
  if (textures_.empty()) return;
  glBindImageTexture(0, textures_[0].texture(), 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32F);
}

template <class Real>
void PoissonVectors<Real>::make_writes_visible() const {
  if (!texels_.empty()) glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT);
  if (textures_.empty()) return;  // Device::dispatch() synchronises storage buffers
  glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT);
}

template class PoissonVectors<float>;
template class PoissonVectors<double>;
template PoissonLayout poisson_layout<float>(const PoissonExtents&, PoissonMemory);
template PoissonLayout poisson_layout<double>(const PoissonExtents&, PoissonMemory);

}  // namespace glinpack::solvers
