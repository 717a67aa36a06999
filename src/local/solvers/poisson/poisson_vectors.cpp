#include "solvers/poisson/poisson_vectors.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "solvers/device/device_array.hpp"
#include "solvers/device/texture_matrix.hpp"

namespace glinpack::solvers {
namespace {

// texture units: poisson_memory.glsl
constexpr GLuint residual_unit = 0, direction_unit = 1;

constexpr Index row_alignment = 128;  // bytes: a line of the caches
constexpr Index vector_bytes = 16;    // precision.glsl's Vector

template <class Real>
class BufferVectors : public PoissonVectors<Real> {
 public:
  BufferVectors(Device& device, const PoissonExtents& extents, PoissonMemory memory)
      : extents_(extents),
        layout_(poisson_layout<Real>(extents, memory)),
        r_(device, layout_.elements),
        p_{DeviceArray<Real>(device, layout_.elements), DeviceArray<Real>(device, layout_.elements)} {}

  void begin(const std::function<void(Index, Real*)>& fill) override {
    for (DeviceArray<Real>& p : p_) p.clear();
    r_.upload(layout_.elements, [&](Real* row) {
      for (Index i = -1; i <= extents_.rows; ++i, row += layout_.pitch) {
        fill(i, row);
        std::fill(row + extents_.n, row + layout_.pitch, Real{0});
      }
    });
  }
  void bind_direction() override {
    r_.bind(residual_binding);
    p_[current_].bind(direction_binding);
    p_[1 - current_].bind(new_direction_binding);
  }
  void bind_update() override {
    r_.bind(residual_binding);
    p_[current_].bind(direction_binding);
  }
  void exchange() override { current_ = 1 - current_; }
  void make_writes_visible() const override {}  // Device::dispatch() synchronises storage buffers
  GLuint residual_buffer() const override { return r_.id(); }

 protected:
  const DeviceArray<Real>& r() const { return r_; }
  const std::array<DeviceArray<Real>, 2>& p() const { return p_; }
  std::size_t current() const { return current_; }

 private:
  PoissonExtents extents_;
  PoissonLayout layout_;
  DeviceArray<Real> r_;
  std::array<DeviceArray<Real>, 2> p_;
  std::size_t current_ = 0;
};

/// The same buffers, read through textures.
class TexelVectors final : public BufferVectors<float> {
 public:
  TexelVectors(Device& device, const PoissonExtents& extents)
      : BufferVectors(device, extents, PoissonMemory::texture1d), r_texels_(view(device, r())) {
    for (const DeviceArray<float>& direction : p()) p_texels_.push_back(view(device, direction));
  }

  void bind_direction() override {
    BufferVectors::bind_direction();
    bind_texels();
  }
  void bind_update() override {
    BufferVectors::bind_update();
    bind_texels();
  }
  void make_writes_visible() const override { glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT); }

 private:
  static gl::TexelBufferHandle view(const Device& device, const DeviceArray<float>& array) {
    gl::TexelBufferHandle texels(device.context());
    glTextureBuffer(texels.id(), GL_R32F, array.id());
    device.context()->throw_error("a texel buffer cannot be had");
    return texels;
  }
  void bind_texels() const {
    glBindTextureUnit(residual_unit, r_texels_.id());
    glBindTextureUnit(direction_unit, p_texels_[current()].id());
  }

  gl::TexelBufferHandle r_texels_;
  std::vector<gl::TexelBufferHandle> p_texels_;
};

/// For the whole square: the border of a texture replaces ghost rows.
class TextureVectors final : public PoissonVectors<float> {
 public:
  TextureVectors(Device& device, const PoissonExtents& extents)
      : extents_(extents), r_(device, extents.rows, extents.n, Packing::p1x1) {
    for (int copy = 0; copy < 2; ++copy) p_.emplace_back(device, extents.rows, extents.n, Packing::p1x1);
    for (const GLuint texture : {r_.texture(), p_[0].texture(), p_[1].texture()}) {
      glTextureParameteri(texture, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);  // the default border is 0
      glTextureParameteri(texture, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
    }
  }

  void begin(const std::function<void(Index, float*)>& fill) override {
    for (TextureMatrix& p : p_) p.clear();
    r_.upload_texels([&](float* texels) {
      for (Index i = 0; i < extents_.rows; ++i) fill(i, texels + i * extents_.n);
    });
  }
  void bind_direction() override {
    bind_textures();
    glBindImageTexture(0, p_[1 - current_].texture(), 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_R32F);
  }
  void bind_update() override {
    bind_textures();
    glBindImageTexture(0, r_.texture(), 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32F);
  }
  void exchange() override { current_ = 1 - current_; }
  void make_writes_visible() const override {
    glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT);
  }
  GLuint residual_buffer() const override { return 0; }

 private:
  void bind_textures() const {
    glBindTextureUnit(residual_unit, r_.texture());
    glBindTextureUnit(direction_unit, p_[current_].texture());
  }

  PoissonExtents extents_;
  TextureMatrix r_;
  std::vector<TextureMatrix> p_;
  std::size_t current_ = 0;
};

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

template <>
std::unique_ptr<PoissonVectors<float>> make_poisson_vectors(Device& device, const PoissonExtents& extents,
                                                            PoissonMemory memory) {
  if (memory == PoissonMemory::texture1d) return std::make_unique<TexelVectors>(device, extents);
  if (memory == PoissonMemory::texture2d) return std::make_unique<TextureVectors>(device, extents);
  return std::make_unique<BufferVectors<float>>(device, extents, memory);
}

template <>
std::unique_ptr<PoissonVectors<double>> make_poisson_vectors(Device& device, const PoissonExtents& extents,
                                                             PoissonMemory memory) {
  if (memory == PoissonMemory::texture1d || memory == PoissonMemory::texture2d) {
    throw std::invalid_argument("textures hold single precision");
  }
  return std::make_unique<BufferVectors<double>>(device, extents, memory);
}

template PoissonLayout poisson_layout<float>(const PoissonExtents&, PoissonMemory);
template PoissonLayout poisson_layout<double>(const PoissonExtents&, PoissonMemory);

}  // namespace glinpack::solvers
