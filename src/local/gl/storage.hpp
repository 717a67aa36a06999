// Storage of GL objects: buffers, float textures and the framebuffers to draw into.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>

#include "base/matrix_view.hpp"
#include "device/mapped_buffer.hpp"
#include "gl/handle.hpp"

namespace glinpack::gl {

/// Allocates immutable storage with glNamedBufferStorage's flags. Returns false on failure, without an error of
/// KHR_debug.
bool allocate_storage(Context& context, GLuint buffer, std::int64_t bytes, GLbitfield flags);

/// Fills the first `bytes`, a multiple of 4, of a buffer with a word, by copies of a few on the device:
/// glClearNamedBufferSubData with a buffer makes NVIDIA's driver use twice its size of host memory. Asynchronous, after
/// previous writes of shaders. The next glGetError reports a failure.
void fill_buffer(const std::shared_ptr<Context>& context, GLuint buffer, std::int64_t bytes, std::uint32_t word = 0);

/// A texture of width x height texels, `format` as glTextureStorage2D has it (GL_RGBA32F, GL_R32F), never filtered.
/// Throws std::runtime_error when the device cannot hold it.
TextureHandle make_texture(const std::shared_ptr<Context>& context, GLenum format, Index width, Index height);

/// A framebuffer that draws into the textures, attachment by attachment. Throws std::runtime_error when it cannot.
FramebufferHandle make_framebuffer(const std::shared_ptr<Context>& context, std::initializer_list<GLuint> textures);

}  // namespace glinpack::gl
