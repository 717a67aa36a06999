// Matrices in float textures.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "local/gl/texture.hpp"
#include "local/solvers/device.hpp"
#include "local/solvers/packing.hpp"

namespace glinpack::solvers {

/// Element (i, j) lies in texel (j / texel_columns, i / texel_rows), see Packing; single precision, RGBA32F, with
/// packing 1x1 R32F. A texture and the framebuffer that draws into it.
class TextureMatrix {
 public:
  /// Zero-filled. Throws std::runtime_error, naming the limit, when it is larger than a texture may be or than the
  /// device can hold.
  TextureMatrix(Device& device, Index rows, Index columns, Packing packing);

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  Packing packing() const { return packing_; }
  /// In texels.
  Index width() const { return width_; }
  Index height() const { return height_; }

  GLuint texture() const { return texture_.id(); }
  gl::Target target() const { return {framebuffer_.id(), width_, height_}; }
  /// All of it, or, with coordinates, what the fragments read for it.
  gl::Quad quad(const std::array<gl::Coordinates, 3>& coordinates = {}) const {
    return {0, 0, width_, height_, coordinates};
  }
  void clear();

  /// The elements; what the matrix does not have of rows() x columns() becomes 0. Takes Stage::pack and Stage::upload
  /// on the device's clock.
  void upload(RowMajorView<const float> matrix);
  /// The first elements, as many as the matrix has. Takes Stage::download and Stage::unpack.
  void download(RowMajorView<float> matrix) const;

  /// The same for texels in an order of one's own: `fill` writes, `take` reads height() rows of width() texels.
  void upload_texels(const std::function<void(float*)>& fill);
  void download_texels(const std::function<void(const float*)>& take) const;

 private:
  Index floats() const { return width_ * height_ * channels(packing_); }

  Device* device_;
  Index rows_;
  Index columns_;
  Packing packing_;
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
/// Why such a matrix does not fit into a texture of the device, naming the limit; empty where it does.
std::string texture_obstacle(const gl::DeviceDescription& device, Index rows, Index columns, Packing packing);

/// Two textures that take turns: the front one is read, the back one drawn, then they are exchanged (ping-pong).
class PingPong {
 public:
  PingPong(Device& device, Index rows, Index columns, Packing packing)
      : matrices_{TextureMatrix(device, rows, columns, packing), TextureMatrix(device, rows, columns, packing)} {}

  TextureMatrix& front() { return matrices_[front_]; }
  const TextureMatrix& front() const { return matrices_[front_]; }
  TextureMatrix& back() { return matrices_[1 - front_]; }
  void exchange() { front_ = 1 - front_; }

 private:
  std::array<TextureMatrix, 2> matrices_;
  std::size_t front_ = 0;
};

}  // namespace glinpack::solvers
