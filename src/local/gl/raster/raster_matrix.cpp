#include "local/gl/raster/raster_matrix.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>

#include "local/gl/mapped_buffer.hpp"

namespace glinpack::gl {
namespace {

void check_extents(const Context& context, Index rows, Index columns) {
  const Index side = context.device().texture_side;
  if (rows <= side && RasterMatrix::texel_of(columns + 3) <= side) return;
  throw std::runtime_error(fmt::format(
      "a local matrix of {} x {} does not fit into a texture: {} allows {} texels a side, which are {} rows "
      "of {} elements; use a smaller N, more ranks, or --backend gl-compute",
      rows, columns, context.device().renderer, side, side, 4 * (side - 1)));
}

}  // namespace

TextureHandle make_texture(const std::shared_ptr<Context>& context, GLenum format, Index width, Index height) {
  TextureHandle texture(context);
  context->throw_gl_error("before an allocation");
  glTextureStorage2D(texture.id(), 1, format, static_cast<GLsizei>(std::max<Index>(1, width)),
                     static_cast<GLsizei>(std::max<Index>(1, height)));
  if (glGetError() != GL_NO_ERROR) {
    context->discard_debug_error();
    const std::int64_t bytes = width * height * (format == GL_RGBA32F ? 16 : 4);
    throw std::runtime_error(
        fmt::format("{} cannot hold a texture of {} x {} texels ({:.2f} GiB): use a smaller N or more ranks",
                    context->device().renderer, width, height, gibibytes(bytes)));
  }
  glTextureParameteri(texture.id(), GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTextureParameteri(texture.id(), GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  return texture;
}

FramebufferHandle make_framebuffer(const std::shared_ptr<Context>& context, std::initializer_list<GLuint> textures) {
  FramebufferHandle framebuffer(context);
  std::vector<GLenum> attachments;
  for (const GLuint texture : textures) {
    attachments.push_back(GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(attachments.size()));
    glNamedFramebufferTexture(framebuffer.id(), attachments.back(), texture, 0);
  }
  glNamedFramebufferDrawBuffers(framebuffer.id(), static_cast<GLsizei>(attachments.size()), attachments.data());
  if (glCheckNamedFramebufferStatus(framebuffer.id(), GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    throw std::runtime_error(context->device().renderer + " cannot draw into float textures: use --backend gl-compute");
  }
  return framebuffer;
}

RasterMatrix::RasterMatrix(const std::shared_ptr<Context>& context, Index rows, Index columns)
    : DeviceMatrix<float>(rows, columns) {
  check_extents(*context, rows, columns);
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
