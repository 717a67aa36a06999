// Storage of GL objects: buffers, host memory that the device maps, float textures and the framebuffers to draw into.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>

#include "backend/backend.hpp"
#include "base/matrix_view.hpp"
#include "gl/handle.hpp"

namespace glinpack::gl {

/// Allocates immutable storage with glNamedBufferStorage's flags. Returns false on failure, without an error of
/// KHR_debug.
bool allocate_storage(Context& context, GLuint buffer, std::int64_t bytes, GLbitfield flags);

/// Fills the first `bytes` of a buffer with zeros, by copies of a few zeros on the device: glClearNamedBufferSubData
/// with a buffer makes NVIDIA's driver use twice its size of host memory. Asynchronous, after previous writes of
/// shaders. The next glGetError reports a failure.
void fill_with_zeros(const std::shared_ptr<Context>& context, GLuint buffer, std::int64_t bytes);

/// Bytes in GiB, for messages.
inline double gibibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0); }

/// Persistently mapped host memory; shaders and pixel transfers access it in place. If the device has room, it may have
/// a twin: a device buffer of the same size, through which copies overlap kernels. Memory estimates exclude it.
template <class Real>
class MappedBuffer final : public HostBuffer<Real> {
 public:
  /// Throws std::runtime_error when there is not that much memory.
  static std::unique_ptr<MappedBuffer> create(const std::shared_ptr<Context>& context, Index elements,
                                              bool with_twin = false);
  GLuint id() const { return buffer_.id(); }
  /// 0 without a twin.
  GLuint twin() const { return twin_.id(); }
  /// The allocated elements: size() rounded up to the binding granularity of storage blocks.
  Index elements() const { return elements_; }

 private:
  MappedBuffer(BufferHandle buffer, BufferHandle twin, Real* data, Index size, Index elements)
      : HostBuffer<Real>(data, size), elements_(elements), buffer_(std::move(buffer)), twin_(std::move(twin)) {}
  Index elements_;
  BufferHandle buffer_;
  BufferHandle twin_;
};

/// The buffer behind a host block. Throws std::invalid_argument when the block is beyond its buffer, or the buffer is
/// another backend's.
template <class Real>
const MappedBuffer<Real>& mapped_buffer_of(const HostBlock<Real>& block);

/// A texture of width x height texels, `format` as glTextureStorage2D has it (GL_RGBA32F, GL_R32F), never filtered.
/// Throws std::runtime_error when the device cannot hold it.
TextureHandle make_texture(const std::shared_ptr<Context>& context, GLenum format, Index width, Index height);

/// A framebuffer that draws into the textures, attachment by attachment. Throws std::runtime_error when it cannot.
FramebufferHandle make_framebuffer(const std::shared_ptr<Context>& context, std::initializer_list<GLuint> textures);

}  // namespace glinpack::gl
