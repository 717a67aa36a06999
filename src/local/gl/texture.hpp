// Float textures, and framebuffers that draw into them.
#pragma once

#include <initializer_list>
#include <memory>

#include "local/gl/handle.hpp"
#include "local/matrix_view.hpp"

namespace glinpack::gl {

/// A texture of width x height texels, `format` as glTextureStorage2D has it (GL_RGBA32F, GL_R32F), never filtered.
/// Throws std::runtime_error when the device cannot hold it.
TextureHandle make_texture(const std::shared_ptr<Context>& context, GLenum format, Index width, Index height);

/// A framebuffer that draws into the textures, attachment by attachment. Throws std::runtime_error when it cannot.
FramebufferHandle make_framebuffer(const std::shared_ptr<Context>& context, std::initializer_list<GLuint> textures);

}  // namespace glinpack::gl
