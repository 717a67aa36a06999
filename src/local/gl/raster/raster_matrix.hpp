// A matrix in float textures, as in the white paper (section 3.2): four consecutive elements of a row per texel, an
// extra column of texels at the left, and two textures that alternate as source and target.
#pragma once

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include "backend/device_memory.hpp"
#include "base/memory_count.hpp"
#include "gl/raster/raster_backend.hpp"
#include "gl/storage.hpp"

namespace glinpack::gl {

/// Element (i, j) is component j % 4 of texel (1 + j / 4, i); the last texel of a row is padded. Texel (0, i) belongs
/// to the pivot and eliminate operations: red the multiplier of row i, blue its element of the next column.
///
/// Between operations both textures hold the same elements. Within one the front texture is read and the back texture
/// drawn, then they are exchanged: no operation reads the texture that it draws.
class RasterMatrix final : public DeviceMatrix<float> {
 public:
  /// Zero-filled. Throws std::runtime_error when it is larger than a texture may be or than the device can hold, naming
  /// sizes and limit.
  RasterMatrix(const std::shared_ptr<Context>& context, Index rows, Index columns)
      : DeviceMatrix<float>(rows, columns) {
    check_extents(*context, rows, columns);
    MemoryCount::add_device(raster_matrix_bytes(rows, columns, sizeof(float)));
    for (std::size_t i = 0; i < textures_.size(); ++i) {
      textures_[i] = make_texture(context, GL_RGBA32F, texels(), rows);
      glClearTexImage(textures_[i].id(), 0, GL_RGBA, GL_FLOAT, nullptr);
      framebuffers_[i] = make_framebuffer(context, {textures_[i].id()});
    }
    both_ = make_framebuffer(context, {textures_[0].id(), textures_[1].id()});
  }

  static Index texel_of(Index column) { return 1 + column / 4; }
  Index texels() const { return texels_of_row(columns()); }

  GLuint front() const { return textures_[front_].id(); }
  GLuint back() const { return textures_[1 - front_].id(); }
  void exchange() { front_ = 1 - front_; }

  /// Framebuffers of one texture, and of both front (attachment 0) and back (attachment 1).
  GLuint draws_front() const { return framebuffers_[front_].id(); }
  GLuint draws_back() const { return framebuffers_[1 - front_].id(); }
  GLuint draws_both() const { return both_.id(); }

 private:
  static void check_extents(const Context& context, Index rows, Index columns) {
    const Index side = context.description().texture_side;
    if (rows <= side && texel_of(columns + 3) <= side) return;
    throw std::runtime_error(fmt::format(
        "a local matrix of {} x {} does not fit into a texture: {} allows {} texels a side, which are {} rows "
        "of {} elements; use a smaller N, more ranks, or --backend gl-compute",
        rows, columns, context.description().renderer, side, side, 4 * (side - 1)));
  }

  std::array<TextureHandle, 2> textures_;
  std::array<FramebufferHandle, 2> framebuffers_;
  FramebufferHandle both_;
  std::size_t front_ = 0;
};

/// A single-channel texture that grows: one element per texel; stages transfers, or holds L.
class ElementTexture {
 public:
  explicit ElementTexture(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  /// At least width x height; growing discards the content.
  void reserve(Index width, Index height) {
    if (width <= width_ && height <= height_) return;
    width_ = std::max(width, width_);
    height_ = std::max(height, height_);
    framebuffer_ = {};
    texture_ = {};
    texture_ = make_texture(context_, GL_R32F, width_, height_);
    framebuffer_ = make_framebuffer(context_, {texture_.id()});
  }
  GLuint id() const { return texture_.id(); }
  GLuint framebuffer() const { return framebuffer_.id(); }
  Index width() const { return width_; }
  Index height() const { return height_; }

 private:
  std::shared_ptr<Context> context_;
  TextureHandle texture_;
  FramebufferHandle framebuffer_;
  Index width_ = 0;
  Index height_ = 0;
};

/// The RasterMatrix behind a block. Throws std::invalid_argument when the block is no part of it, or it is another
/// backend's.
inline RasterMatrix& raster_matrix_of(const DeviceBlock<float>& block) {
  auto* matrix = dynamic_cast<RasterMatrix*>(block.matrix);
  if (!matrix) throw std::invalid_argument("the block is not of a matrix of the gl-raster backend");
  if (block.row < 0 || block.column < 0 || block.row + block.rows > matrix->rows() ||
      block.column + block.columns > matrix->columns()) {
    throw std::invalid_argument(fmt::format("block of {} x {} at ({}, {}) is beyond a matrix of {} x {}", block.rows,
                                            block.columns, block.row, block.column, matrix->rows(), matrix->columns()));
  }
  return *matrix;
}

}  // namespace glinpack::gl
