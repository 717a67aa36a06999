// Storage of GL buffers, and host memory that the device reaches.
#pragma once

#include <cstdint>
#include <memory>

#include "local/backend.hpp"
#include "local/gl/handle.hpp"

namespace glinpack::gl {

/// Whether the buffer got its immutable storage (glNamedBufferStorage's flags). A failure is an answer here, so that
/// KHR_debug must not report it again.
bool allocate_storage(Context& context, GLuint buffer, std::int64_t bytes, GLbitfield flags);

/// Zeros in the first `bytes` of a buffer, by copies of a few zeros on the device: where glClearNamedBufferSubData is
/// given a buffer, NVIDIA's driver takes twice its size of host memory for it meanwhile. Asynchronous, after what
/// shaders have written. What fails is the next glGetError's to tell.
void fill_with_zeros(const std::shared_ptr<Context>& context, GLuint buffer, std::int64_t bytes);

/// Bytes in GiB, for messages.
inline double gibibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0); }

/// Host memory, mapped for good; shaders and pixel transfers read and write it in place. It may have a twin, where
/// the device has room to spare: as much memory there, through which its elements go where a copy is to run beside
/// kernels. Nobody plans for it.
template <class Real>
class MappedBuffer final : public HostBuffer<Real> {
 public:
  /// Throws std::runtime_error when there is not that much memory.
  static std::unique_ptr<MappedBuffer> create(const std::shared_ptr<Context>& context, Index elements,
                                              bool with_twin = false);
  GLuint id() const { return buffer_.id(); }
  /// 0 where there is none.
  GLuint twin() const { return twin_.id(); }
  /// What was allocated: size() rounded up to what storage blocks are bound by.
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

}  // namespace glinpack::gl
