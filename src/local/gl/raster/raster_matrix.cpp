#include "gl/raster/raster_matrix.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>

#include "base/memory_count.hpp"

namespace glinpack::gl {
namespace {

void check_extents(const Context& context, Index rows, Index columns) {
  const Index side = context.description().texture_side;
  if (rows <= side && RasterMatrix::texel_of(columns + 3) <= side) return;
  throw std::runtime_error(fmt::format(
      "a local matrix of {} x {} does not fit into a texture: {} allows {} texels a side, which are {} rows "
      "of {} elements; use a smaller N, more ranks, or --backend gl-compute",
      rows, columns, context.description().renderer, side, side, 4 * (side - 1)));
}

}  // namespace

RasterMatrix::RasterMatrix(const std::shared_ptr<Context>& context, Index rows, Index columns)
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

void ElementTexture::reserve(Index width, Index height) {
  if (width <= width_ && height <= height_) return;
  width_ = std::max(width, width_);
  height_ = std::max(height, height_);
  framebuffer_ = {};
  texture_ = {};
  texture_ = make_texture(context_, GL_R32F, width_, height_);
  framebuffer_ = make_framebuffer(context_, {texture_.id()});
}

RasterMatrix& raster_matrix_of(const DeviceBlock<float>& block) {
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
