#include "local/gl/mapped_buffer.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
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
  constexpr std::int64_t largest_step = std::int64_t{16} << 20;
  const std::int64_t step = std::min(bytes, largest_step);
  const std::vector<std::byte> zeros(static_cast<std::size_t>(step));
  const BufferHandle source(context);
  glNamedBufferStorage(source.id(), static_cast<GLsizeiptr>(step), zeros.data(), 0);
  glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  for (std::int64_t begin = 0; begin < bytes; begin += step) {
    glCopyNamedBufferSubData(source.id(), buffer, 0, static_cast<GLintptr>(begin),
                             static_cast<GLsizeiptr>(std::min(step, bytes - begin)));
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
  // 8: what a factorisation allocates after a panel are fewer matrices of its size
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

}  // namespace glinpack::gl
