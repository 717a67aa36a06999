#include "solvers/device/device_array.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace glinpack::solvers {
namespace {

template <class Real>
constexpr Index bytes_of(Index elements) {
  return elements * static_cast<Index>(sizeof(Real));
}

// At least a vector of four, as shaders see it.
template <class Real>
constexpr Index storage_bytes(Index elements) {
  return std::max<Index>(16, bytes_of<Real>(elements));
}

// Mapped memory is counted in floats.
constexpr Index floats_for(Index bytes) { return (bytes + 3) / 4; }

}  // namespace

template <class Real>
DeviceArray<Real>::DeviceArray(Device& device, Index elements) : device_(&device), elements_(elements) {
  const Index bytes = storage_bytes<Real>(elements);
  const Index free = device.context()->free_memory();
  buffer_ = gl::BufferHandle(device.context());
  if ((free > 0 && bytes > free) || !gl::allocate_storage(*device.context(), buffer_.id(), bytes, 0)) {
    throw std::runtime_error(
        fmt::format("an array of {} elements takes {:.2f} GiB, but {} cannot hold it: use a smaller N", elements,
                    gibibytes(bytes), device.description().renderer));
  }
  clear();
}

template <class Real>
void DeviceArray<Real>::clear() {
  device_->context()->make_current();
  device_->fences().note_commands();
  gl::fill_buffer(device_->context(), buffer_.id(), storage_bytes<Real>(elements_));
  device_->context()->throw_error("zeros in an array");
}

template <class Real>
void DeviceArray<Real>::check(Index count) const {
  if (count <= elements_) return;
  throw std::invalid_argument(fmt::format("{} elements are more than an array of {} has", count, elements_));
}

template <class Real>
void DeviceArray<Real>::upload(std::span<const Real> values) {
  upload(static_cast<Index>(values.size()),
         [&](Real* mapped) { std::memcpy(mapped, values.data(), values.size_bytes()); });
}

template <class Real>
void DeviceArray<Real>::download(std::span<Real> values) const {
  download(static_cast<Index>(values.size()),
           [&](const Real* mapped) { std::memcpy(values.data(), mapped, values.size_bytes()); });
}

template <class Real>
void DeviceArray<Real>::upload(Index count, const std::function<void(Real*)>& fill) {
  check(count);
  if (count == 0) return;
  const Index bytes = bytes_of<Real>(count);
  device_->upload(
      floats_for(bytes), [&](float* memory) { fill(reinterpret_cast<Real*>(memory)); },
      [&](const MappedBuffer<float>& staging) {
        glCopyNamedBufferSubData(staging.id(), buffer_.id(), 0, 0, static_cast<GLsizeiptr>(bytes));
        glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
      });
}

template <class Real>
void DeviceArray<Real>::download(Index count, const std::function<void(const Real*)>& take) const {
  check(count);
  if (count == 0) return;
  const Index bytes = bytes_of<Real>(count);
  device_->download(
      floats_for(bytes),
      [&](const MappedBuffer<float>& staging) {
        glCopyNamedBufferSubData(buffer_.id(), staging.id(), 0, 0, static_cast<GLsizeiptr>(bytes));
        glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
      },
      [&](const float* memory) { take(reinterpret_cast<const Real*>(memory)); });
}

template <class Real>
std::span<const Real> DeviceArray<Real>::read(Index first, Index count, const MappedBuffer<Real>& to) const {
  device_->context()->make_current();
  glCopyNamedBufferSubData(buffer_.id(), to.id(), static_cast<GLintptr>(bytes_of<Real>(first)), 0,
                           static_cast<GLsizeiptr>(bytes_of<Real>(count)));
  glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
  device_->finish();
  return {to.data(), static_cast<std::size_t>(count)};
}

template <class Real>
void DeviceArray<Real>::bind(GLuint binding, Index first, Index count) const {
  const Index limit = device_->description().storage_block;
  if (bytes_of<Real>(count) > limit) {
    throw std::runtime_error(
        fmt::format("{} elements, {:.2f} GiB, are more than a storage block of {} may have, {:.2f} "
                    "GiB: use a smaller N",
                    count, gibibytes(bytes_of<Real>(count)), device_->description().renderer, gibibytes(limit)));
  }
  device_->context()->make_current();
  glBindBufferRange(GL_SHADER_STORAGE_BUFFER, binding, buffer_.id(), static_cast<GLintptr>(bytes_of<Real>(first)),
                    static_cast<GLsizeiptr>(std::max<Index>(16, bytes_of<Real>(count))));
}

template class DeviceArray<float>;
template class DeviceArray<double>;
template class DeviceArray<std::int32_t>;

}  // namespace glinpack::solvers
