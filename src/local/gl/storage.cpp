#include "gl/storage.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace glinpack::gl {

bool allocate_storage(Context& context, GLuint buffer, std::int64_t bytes, GLbitfield flags) {
  context.throw_gl_error("before an allocation");
  glNamedBufferStorage(buffer, static_cast<GLsizeiptr>(bytes), nullptr, flags);
  const bool allocated = glGetError() == GL_NO_ERROR;
  if (!allocated) context.discard_debug_error();
  return allocated;
}

void fill_with_zeros(const std::shared_ptr<Context>& context, GLuint buffer, std::int64_t bytes) {
  constexpr std::int64_t uploaded = 4096;
  static constexpr std::array<std::byte, uploaded> zeros{};
  const BufferHandle source(context);
  glNamedBufferStorage(source.id(), uploaded, zeros.data(), 0);
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  std::int64_t filled = std::min(bytes, uploaded);
  glCopyNamedBufferSubData(source.id(), buffer, 0, 0, static_cast<GLsizeiptr>(filled));
  while (filled < bytes) {
    const std::int64_t more = std::min(filled, bytes - filled);
    glCopyNamedBufferSubData(buffer, buffer, 0, static_cast<GLintptr>(filled), static_cast<GLsizeiptr>(more));
    filled += more;
  }
}

template <class Real>
std::unique_ptr<MappedBuffer<Real>> MappedBuffer<Real>::create(const std::shared_ptr<Context>& context, Index elements,
                                                               bool with_twin) {
  constexpr Index unit = 64;
  const Index padded = round_up(std::max<Index>(1, elements), unit);
  const std::int64_t bytes = padded * static_cast<std::int64_t>(sizeof(Real));
  constexpr GLbitfield access = GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
  BufferHandle buffer(context);
  void* data = nullptr;
  if (allocate_storage(*context, buffer.id(), bytes, access | GL_CLIENT_STORAGE_BIT)) {
    data = glMapNamedBufferRange(buffer.id(), 0, static_cast<GLsizeiptr>(bytes), access);
  }
  if (!data) {
    throw std::runtime_error(
        fmt::format("{:.2f} GiB of mapped host memory cannot be had from {}: use a smaller N or NB", gibibytes(bytes),
                    context->device().renderer));
  }
  BufferHandle twin;
  // a factorisation allocates fewer than 8 further matrices of a panel's size
  if (with_twin && context->free_memory() > 8 * bytes) {
    twin = BufferHandle(context);
    if (!allocate_storage(*context, twin.id(), bytes, 0)) twin = {};
  }
  return std::unique_ptr<MappedBuffer>(
      new MappedBuffer(std::move(buffer), std::move(twin), static_cast<Real*>(data), elements, padded));
}

template <class Real>
const MappedBuffer<Real>& mapped_buffer_of(const HostBlock<Real>& block) {
  const auto* buffer = dynamic_cast<const MappedBuffer<Real>*>(block.buffer);
  if (!buffer) throw std::invalid_argument("the host block is not of a buffer of a GL backend");
  const Index end = block.offset + (block.rows - 1) * block.leading_dimension + block.columns;
  if (block.offset < 0 || end > buffer->size() || (block.rows > 1 && block.leading_dimension < block.columns)) {
    throw std::invalid_argument(
        fmt::format("host block of {} x {} at {} (leading dimension {}) is beyond a buffer of {}", block.rows,
                    block.columns, block.offset, block.leading_dimension, buffer->size()));
  }
  return *buffer;
}

template class MappedBuffer<float>;
template class MappedBuffer<double>;
template const MappedBuffer<float>& mapped_buffer_of(const HostBlock<float>&);
template const MappedBuffer<double>& mapped_buffer_of(const HostBlock<double>&);

TextureHandle make_texture(const std::shared_ptr<Context>& context, GLenum format, Index width, Index height) {
  TextureHandle texture(context);
  context->throw_gl_error("before an allocation");
  glTextureStorage2D(texture.id(), 1, format, static_cast<GLsizei>(std::max<Index>(1, width)),
                     static_cast<GLsizei>(std::max<Index>(1, height)));
  if (glGetError() != GL_NO_ERROR) {
    context->discard_debug_error();
    const std::int64_t bytes = width * height * (format == GL_RGBA32F ? 16 : 4);
    throw std::runtime_error(fmt::format("{} cannot hold a texture of {} x {} texels ({:.2f} GiB): use a smaller N",
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

}  // namespace glinpack::gl
