#include "gl/storage.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace glinpack::gl {

bool allocate_storage(Context& context, GLuint buffer, std::int64_t bytes, GLbitfield flags) {
  context.throw_error("before an allocation");
  glNamedBufferStorage(buffer, static_cast<GLsizeiptr>(bytes), nullptr, flags);
  const bool allocated = glGetError() == GL_NO_ERROR;
  if (!allocated) context.discard_debug_error();
  return allocated;
}

void fill_buffer(const std::shared_ptr<Context>& context, GLuint buffer, std::int64_t bytes, std::uint32_t word) {
  constexpr std::int64_t uploaded = 4096;
  std::array<std::uint32_t, uploaded / 4> words{};
  words.fill(word);
  const BufferHandle source(context);
  glNamedBufferStorage(source.id(), uploaded, words.data(), 0);
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  std::int64_t filled = std::min(bytes, uploaded);
  glCopyNamedBufferSubData(source.id(), buffer, 0, 0, static_cast<GLsizeiptr>(filled));
  while (filled < bytes) {
    const std::int64_t more = std::min(filled, bytes - filled);
    glCopyNamedBufferSubData(buffer, buffer, 0, static_cast<GLintptr>(filled), static_cast<GLsizeiptr>(more));
    filled += more;
  }
}

TextureHandle make_texture(const std::shared_ptr<Context>& context, GLenum format, Index width, Index height) {
  TextureHandle texture(context);
  context->throw_error("before an allocation");
  glTextureStorage2D(texture.id(), 1, format, static_cast<GLsizei>(std::max<Index>(1, width)),
                     static_cast<GLsizei>(std::max<Index>(1, height)));
  if (glGetError() != GL_NO_ERROR) {
    context->discard_debug_error();
    const std::int64_t bytes = width * height * (format == GL_RGBA32F ? 16 : 4);
    throw std::runtime_error(fmt::format("{} cannot hold a texture of {} x {} texels ({:.2f} GiB): use a smaller N",
                                         context->description().renderer, width, height, gibibytes(bytes)));
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
    throw std::runtime_error(context->description().renderer +
                             " cannot draw into float textures: use --backend gl-compute");
  }
  return framebuffer;
}

}  // namespace glinpack::gl
