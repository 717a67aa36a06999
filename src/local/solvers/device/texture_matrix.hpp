// Matrices in float textures, passes over rectangles of their texels, and the rate at which fragments fetch texels.
#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "gl/storage.hpp"
#include "solvers/device/device.hpp"
#include "solvers/device/packing.hpp"

namespace glinpack::solvers {

/// bytes: numbers from 0 to 1, k / 255; others are rounded, and become 0 or 1 beyond (saturation). doubles: their
/// words, four elements in two texels, for compute shaders; not with packing 1x1.
enum class TexelFormat : std::uint8_t { single, bytes, doubles };

/// Element (i, j) is in texel (j / texel_columns, i / texel_rows), see Packing; RGBA32F, RGBA8 or two of RGBA32UI, with
/// packing 1x1 R32F or R8. A texture and the framebuffer that draws into it.
class TextureMatrix {
 public:
  /// Zero-filled. Throws std::runtime_error, naming the limit, when it is larger than a texture may be or than the
  /// device can hold.
  TextureMatrix(Device& device, Index rows, Index columns, Packing packing, TexelFormat format = TexelFormat::single);

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  Packing packing() const { return packing_; }
  TexelFormat format() const { return format_; }
  /// In texels; of doubles in pairs.
  Index width() const { return width_; }
  Index height() const { return height_; }

  GLuint texture() const { return texture_.id(); }
  gl::Target target() const { return {framebuffer_.id(), width_, height_}; }
  /// The whole matrix, with the coordinates that its fragments read.
  gl::Quad quad(const std::array<gl::Coordinates, 3>& coordinates = {}) const {
    return {0, 0, width_, height_, coordinates};
  }
  void clear();
  /// Fills `to`, of the same packing, with the texels from (x, y) on.
  void copy_texels(Index x, Index y, const TextureMatrix& to) const {
    copy_texels(x, y, to, 0, 0, to.width(), to.height());
  }
  void copy_texels(Index x, Index y, const TextureMatrix& to, Index to_x, Index to_y, Index width, Index height) const;

  /// The elements; what the matrix does not have of rows() x columns() becomes 0. Takes Stage::pack and Stage::upload
  /// on the device's clock.
  void upload(RowMajorView<const float> matrix) { upload_elements(matrix); }
  void upload(RowMajorView<const double> matrix) { upload_elements(matrix); }
  /// The first elements, as many as the matrix has. Takes Stage::download and Stage::unpack.
  void download(RowMajorView<float> matrix) const { download_elements(matrix); }
  void download(RowMajorView<double> matrix) const { download_elements(matrix); }

  /// The same for texels in any order: `fill` writes, `take` reads height() rows of width() texels.
  void upload_texels(const std::function<void(float*)>& fill);
  void download_texels(const std::function<void(const float*)>& take) const;

 private:
  template <class Real>
  void upload_elements(RowMajorView<const Real> matrix);
  template <class Real>
  void download_elements(RowMajorView<Real> matrix) const;
  /// Texels in the place of one.
  Index spread() const { return format_ == TexelFormat::doubles ? 2 : 1; }
  Index floats() const { return spread() * width_ * height_ * channels(packing_); }
  /// The format and type of texels in host memory.
  GLenum pixel_format() const;
  GLenum pixel_type() const { return format_ == TexelFormat::doubles ? GL_UNSIGNED_INT : GL_FLOAT; }

  Device* device_;
  Index rows_;
  Index columns_;
  Packing packing_;
  TexelFormat format_;
  Index width_;
  Index height_;
  gl::TextureHandle texture_;
  gl::FramebufferHandle framebuffer_;
};

/// Texels that a matrix of these extents takes in each direction.
struct TextureExtents {
  Index width = 0;
  Index height = 0;
};
TextureExtents texture_extents(Index rows, Index columns, Packing packing);
/// Why such a matrix does not fit into a texture of the device, with the limit; empty if it fits.
std::string texture_obstacle(const DeviceDescription& device, Index rows, Index columns, Packing packing,
                             TexelFormat format = TexelFormat::single);

/// Two textures that alternate (ping-pong): the front one is read, the back one drawn, then they are exchanged.
class PingPong {
 public:
  PingPong(Device& device, Index rows, Index columns, Packing packing, TexelFormat format = TexelFormat::single)
      : matrices_{TextureMatrix(device, rows, columns, packing, format),
                  TextureMatrix(device, rows, columns, packing, format)} {}

  TextureMatrix& front() { return matrices_[front_]; }
  const TextureMatrix& front() const { return matrices_[front_]; }
  TextureMatrix& back() { return matrices_[1 - front_]; }
  void exchange() { front_ = 1 - front_; }

 private:
  std::array<TextureMatrix, 2> matrices_;
  std::size_t front_ = 0;
};

/// fragment: as in the papers; compute: for GPUs with slow rasterisation.
enum class ShaderKind : std::uint8_t { fragment, compute };

/// A shader that includes shaders/solvers/texel.glsl: its samplers 0, 1, 2 ..., and uniforms from location 8 on.
class TexelProgram {
 public:
  /// `group`: of a compute shader, invocations of a work group, a multiple of 32; empty: 128. `name` under shaders/
  /// ("solvers/pivot.frag"). Throws std::runtime_error with the driver's log.
  TexelProgram(Device& device, const std::string& name, const std::string& preamble, ShaderKind kind,
               TexelFormat format = TexelFormat::single, std::optional<Index> group = {});

  /// Computes rectangles of the target. What one call writes, later calls read from other textures than their target;
  /// from their target after make_writes_visible().
  void run(const TextureMatrix& target, std::initializer_list<GLuint> textures, std::span<const gl::Quad> quads) const;
  void run(const TextureMatrix& target, std::initializer_list<GLuint> textures, const gl::Quad& quad) const {
    run(target, textures, {&quad, 1});
  }
  /// Call before a pass reads its target: it then reads what was written. A pass may read texels of its target that it
  /// does not write; each fragment may also read its own texel.
  void make_writes_visible() const;

  /// For uniforms.
  const gl::Program& program() const { return program_; }

 private:
  void dispatch(const TextureMatrix& target, std::initializer_list<GLuint> textures,
                std::span<const gl::Quad> quads) const;

  Device* device_;
  ShaderKind kind_;
  Index group_;
  gl::Program program_;
};

}  // namespace glinpack::solvers
