#include "local/solvers/texture_matrix.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>

namespace glinpack::solvers {
namespace {

constexpr Index largest_download = Index{1} << 30;  // bytes at a time

/// A pixel buffer bound for as long as it lives: what texels come from, or are read into.
class PixelBuffer {
 public:
  PixelBuffer(GLenum target, GLuint buffer) : target_(target) { glBindBuffer(target_, buffer); }
  PixelBuffer(const PixelBuffer&) = delete;
  PixelBuffer& operator=(const PixelBuffer&) = delete;
  ~PixelBuffer() { glBindBuffer(target_, 0); }

 private:
  GLenum target_;
};

GLenum pixel_format(Packing packing) { return packing == Packing::p1x1 ? GL_RED : GL_RGBA; }

}  // namespace

TextureExtents texture_extents(Index rows, Index columns, Packing packing) {
  return {std::max<Index>(1, round_up(columns, texel_columns(packing)) / texel_columns(packing)),
          std::max<Index>(1, round_up(rows, texel_rows(packing)) / texel_rows(packing))};
}

std::string texture_obstacle(const gl::DeviceDescription& device, Index rows, Index columns, Packing packing) {
  const TextureExtents extents = texture_extents(rows, columns, packing);
  const Index side = device.texture_side;
  if (extents.width <= side && extents.height <= side) return {};
  return fmt::format(
      "a matrix of {} x {} with packing {} takes {} x {} texels, but a texture of {} has at most {} a side: {} rows, "
      "{} "
      "columns",
      rows, columns, name_of(packing), extents.width, extents.height, device.renderer, side, side * texel_rows(packing),
      side * texel_columns(packing));
}

TextureMatrix::TextureMatrix(Device& device, Index rows, Index columns, Packing packing)
    : device_(&device), rows_(rows), columns_(columns), packing_(packing) {
  const std::string obstacle = texture_obstacle(device.description(), rows, columns, packing);
  if (!obstacle.empty()) throw std::runtime_error(obstacle);
  const TextureExtents extents = texture_extents(rows, columns, packing);
  width_ = extents.width;
  height_ = extents.height;
  texture_ = gl::make_texture(device.context(), packing == Packing::p1x1 ? GL_R32F : GL_RGBA32F, width_, height_);
  framebuffer_ = gl::make_framebuffer(device.context(), {texture_.id()});
  clear();
}

void TextureMatrix::clear() {
  device_->context()->make_current();
  device_->fences().work_given();
  glClearTexImage(texture_.id(), 0, pixel_format(packing_), GL_FLOAT, nullptr);
}

void TextureMatrix::upload(RowMajorView<const float> matrix) {
  if (matrix.rows > rows_ || matrix.columns > columns_) {
    throw std::invalid_argument(fmt::format("a matrix of {} x {} does not go into one of {} x {}", matrix.rows,
                                            matrix.columns, rows_, columns_));
  }
  upload_texels([&](float* texels) { pack(matrix, packing_, width_, height_, texels); });
}

void TextureMatrix::upload_texels(const std::function<void(float*)>& fill) {
  gl::MappedBuffer<float>& staging = device_->staging(floats());
  device_->clock().measure(Stage::pack, [&] { fill(staging.data()); });
  device_->measure(Stage::upload, [&] {
    device_->context()->make_current();
    const PixelBuffer bound(GL_PIXEL_UNPACK_BUFFER, staging.id());
    glTextureSubImage2D(texture_.id(), 0, 0, 0, static_cast<GLsizei>(width_), static_cast<GLsizei>(height_),
                        pixel_format(packing_), GL_FLOAT, nullptr);
  });
}

void TextureMatrix::download(RowMajorView<float> matrix) const {
  if (matrix.rows > rows_ || matrix.columns > columns_) {
    throw std::invalid_argument(
        fmt::format("{} x {} elements are not in a matrix of {} x {}", matrix.rows, matrix.columns, rows_, columns_));
  }
  download_texels([&](const float* texels) { unpack(texels, packing_, width_, matrix); });
}

void TextureMatrix::download_texels(const std::function<void(const float*)>& take) const {
  gl::MappedBuffer<float>& staging = device_->staging(floats());
  device_->measure(Stage::download, [&] {
    device_->context()->make_current();
    const PixelBuffer bound(GL_PIXEL_PACK_BUFFER, staging.id());
    // in bands of rows: the call counts bytes with 31 bits
    const Index row_bytes = width_ * channels(packing_) * static_cast<Index>(sizeof(float));
    const Index band = std::max<Index>(1, largest_download / row_bytes);
    for (Index row = 0; row < height_; row += band) {
      const Index rows = std::min(band, height_ - row);
      glGetTextureSubImage(texture_.id(), 0, 0, static_cast<GLint>(row), 0, static_cast<GLsizei>(width_),
                           static_cast<GLsizei>(rows), 1, pixel_format(packing_), GL_FLOAT,
                           static_cast<GLsizei>(rows * row_bytes), reinterpret_cast<void*>(row * row_bytes));
    }
  });
  device_->clock().measure(Stage::unpack, [&] { take(staging.data()); });
}

}  // namespace glinpack::solvers
