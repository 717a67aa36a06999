#include "solvers/device/texture_matrix.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>

#include "base/scope_exit.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index largest_download = Index{1} << 30;  // bytes at a time

/// Binds a pixel buffer during the life of the returned object, as source or destination of texels.
[[nodiscard]] auto bound_pixels(GLenum target, GLuint buffer) {
  glBindBuffer(target, buffer);
  return ScopeExit([target] { glBindBuffer(target, 0); });
}

/// The format of TextureMatrix's texels and of images that compute shaders store, but for bytes.
GLenum image_format(Packing packing, TexelFormat format) {
  if (format == TexelFormat::doubles) return GL_RGBA32UI;
  return packing == Packing::p1x1 ? GL_R32F : GL_RGBA32F;
}

}  // namespace

TextureExtents texture_extents(Index rows, Index columns, Packing packing) {
  return {std::max<Index>(1, divide_up(columns, texel_columns(packing))),
          std::max<Index>(1, divide_up(rows, texel_rows(packing)))};
}

std::string texture_obstacle(const DeviceDescription& device, Index rows, Index columns, Packing packing,
                             TexelFormat format) {
  const Index spread = format == TexelFormat::doubles ? 2 : 1;
  TextureExtents extents = texture_extents(rows, columns, packing);
  extents.width *= spread;
  const Index side = device.texture_side;
  if (extents.width <= side && extents.height <= side) return {};
  return fmt::format(
      "a matrix of {} x {} with packing {} takes {} x {} texels, but a texture of {} has at most {} a side: {} rows, "
      "{} "
      "columns",
      rows, columns, name_of(packing), extents.width, extents.height, device.renderer, side, side * texel_rows(packing),
      side / spread * texel_columns(packing));
}

TextureMatrix::TextureMatrix(Device& device, Index rows, Index columns, Packing packing, TexelFormat format)
    : device_(&device), rows_(rows), columns_(columns), packing_(packing), format_(format) {
  if (format == TexelFormat::doubles && packing == Packing::p1x1) {
    throw std::invalid_argument("textures of doubles hold four elements in two texels: packing 1x1 is not possible");
  }
  const std::string obstacle = texture_obstacle(device.description(), rows, columns, packing, format);
  if (!obstacle.empty()) throw std::runtime_error(obstacle);
  const TextureExtents extents = texture_extents(rows, columns, packing);
  width_ = extents.width;
  height_ = extents.height;
  const GLenum bytes = packing == Packing::p1x1 ? GL_R8 : GL_RGBA8;
  texture_ = gl::make_texture(device.context(), format == TexelFormat::bytes ? bytes : image_format(packing, format),
                              spread() * width_, height_);
  framebuffer_ = gl::make_framebuffer(device.context(), {texture_.id()});
  clear();
}

GLenum TextureMatrix::pixel_format() const {
  if (format_ == TexelFormat::doubles) return GL_RGBA_INTEGER;
  return packing_ == Packing::p1x1 ? GL_RED : GL_RGBA;
}

void TextureMatrix::clear() {
  device_->context()->make_current();
  device_->fences().note_commands();
  glClearTexImage(texture_.id(), 0, pixel_format(), pixel_type(), nullptr);
}

void TextureMatrix::copy_texels(Index x, Index y, const TextureMatrix& to, Index to_x, Index to_y, Index width,
                                Index height) const {
  device_->context()->make_current();
  device_->fences().note_commands();
  glCopyImageSubData(texture_.id(), GL_TEXTURE_2D, 0, to_int(spread() * x), to_int(y), 0, to.texture(), GL_TEXTURE_2D,
                     0, to_int(spread() * to_x), to_int(to_y), 0, to_int(spread() * width), to_int(height), 1);
}

template <class Real>
void TextureMatrix::upload_elements(RowMajorView<const Real> matrix) {
  if (matrix.rows > rows_ || matrix.columns > columns_) {
    throw std::invalid_argument(fmt::format("a matrix of {} x {} does not go into one of {} x {}", matrix.rows,
                                            matrix.columns, rows_, columns_));
  }
  upload_texels([&](float* texels) { pack(matrix, packing_, width_, height_, reinterpret_cast<Real*>(texels)); });
}
template void TextureMatrix::upload_elements(RowMajorView<const float>);
template void TextureMatrix::upload_elements(RowMajorView<const double>);

void TextureMatrix::upload_texels(const std::function<void(float*)>& fill) {
  device_->upload(floats(), fill, [&](const MappedBuffer<float>& staging) {
    const auto bound = bound_pixels(GL_PIXEL_UNPACK_BUFFER, staging.id());
    glTextureSubImage2D(texture_.id(), 0, 0, 0, static_cast<GLsizei>(spread() * width_), static_cast<GLsizei>(height_),
                        pixel_format(), pixel_type(), nullptr);
  });
}

template <class Real>
void TextureMatrix::download_elements(RowMajorView<Real> matrix) const {
  if (matrix.rows > rows_ || matrix.columns > columns_) {
    throw std::invalid_argument(
        fmt::format("{} x {} elements are not in a matrix of {} x {}", matrix.rows, matrix.columns, rows_, columns_));
  }
  download_texels(
      [&](const float* texels) { unpack(reinterpret_cast<const Real*>(texels), packing_, width_, matrix); });
}
template void TextureMatrix::download_elements(RowMajorView<float>) const;
template void TextureMatrix::download_elements(RowMajorView<double>) const;

void TextureMatrix::download_texels(const std::function<void(const float*)>& take) const {
  const auto read = [&](const MappedBuffer<float>& staging) {
    const auto bound = bound_pixels(GL_PIXEL_PACK_BUFFER, staging.id());
    // in bands of rows: the call counts bytes in 31 bits
    const Index row_bytes = spread() * width_ * channels(packing_) * static_cast<Index>(sizeof(float));
    const Index band = std::max<Index>(1, largest_download / row_bytes);
    for (Index row = 0; row < height_; row += band) {
      const Index rows = std::min(band, height_ - row);
      glGetTextureSubImage(texture_.id(), 0, 0, static_cast<GLint>(row), 0, static_cast<GLsizei>(spread() * width_),
                           static_cast<GLsizei>(rows), 1, pixel_format(), pixel_type(),
                           static_cast<GLsizei>(rows * row_bytes), reinterpret_cast<void*>(row * row_bytes));
    }
  };
  device_->download(floats(), read, take);
}

namespace {

constexpr Index group_width = 32;  // of shaders/solvers/texel.glsl
constexpr Index usual_group = 128;
constexpr GLint rectangle_location = 1, first_coordinate_location = 2;

gl::Program make_program(Device& device, const std::string& name, const std::string& preamble, ShaderKind kind,
                         TexelFormat format, Index group) {
  const bool computes = kind == ShaderKind::compute;
  const std::string all = preamble + define("COMPUTE", computes) + define("GROUP", group) +
                          define("DOUBLE", format == TexelFormat::doubles);
  return computes ? device.compute_program(name, all) : device.fragment_program(name, all);
}

}  // namespace

TexelProgram::TexelProgram(Device& device, const std::string& name, const std::string& preamble, ShaderKind kind,
                           TexelFormat format, std::optional<Index> group)
    : device_(&device),
      kind_(kind),
      group_(group.value_or(usual_group)),
      program_(make_program(device, name, preamble, kind, format, group_)) {}

void TexelProgram::run(const TextureMatrix& target, std::initializer_list<GLuint> textures,
                       std::span<const gl::Quad> quads) const {
  if (kind_ == ShaderKind::fragment) {
    device_->draw(program_, target.target(), textures, quads);
  } else {
    dispatch(target, textures, quads);
  }
}

void TexelProgram::make_writes_visible() const {
  if (kind_ == ShaderKind::fragment) device_->texture_barrier();
}

void TexelProgram::dispatch(const TextureMatrix& target, std::initializer_list<GLuint> textures,
                            std::span<const gl::Quad> quads) const {
  device_->context()->make_current();
  const Index group_height = group_ / group_width;
  GLuint unit = 0;
  for (const GLuint texture : textures) glBindTextureUnit(unit++, texture);
  glBindImageTexture(0, target.texture(), 0, GL_FALSE, 0, GL_WRITE_ONLY,
                     image_format(target.packing(), target.format()));
  for (const gl::Quad& quad : quads) {
    program_.set(rectangle_location, to_int(quad.x), to_int(quad.y), to_int(quad.width), to_int(quad.height));
    GLint location = first_coordinate_location;
    for (const gl::Coordinates& c : quad.coordinates) {
      program_.set(location++, to_int(c.x), to_int(c.y));
      program_.set(location++, c.x_along_width, c.y_along_width, c.x_along_height, c.y_along_height);
    }
    device_->dispatch(program_, divide_up(quad.width, group_width), divide_up(quad.height, group_height));
  }
  // later calls read by samplers, copy, or draw
  glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT |
                  GL_FRAMEBUFFER_BARRIER_BIT | GL_PIXEL_BUFFER_BARRIER_BIT);
}

}  // namespace glinpack::solvers
