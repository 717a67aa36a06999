#include "local/gl/texture.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "local/gl/mapped_buffer.hpp"

namespace glinpack::gl {

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
