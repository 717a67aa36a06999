#include "device/mapped_buffer.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <stdexcept>

namespace glinpack {

std::unique_ptr<DeviceBuffer> make_buffer(ComputeDevice& device, std::int64_t bytes, Memory memory) {
  auto buffer = device.allocate(bytes, memory);
  if (!buffer) {
    throw std::runtime_error(
        fmt::format("{} has no memory for a buffer of {} bytes", device.description().renderer, bytes));
  }
  return buffer;
}

template <class Real>
std::unique_ptr<MappedBuffer<Real>> MappedBuffer<Real>::create(const std::shared_ptr<ComputeDevice>& device,
                                                               Index elements, Twin with) {
  constexpr Index unit = 64;
  const Index padded = round_up(std::max<Index>(1, elements), unit);
  const std::int64_t bytes = padded * static_cast<std::int64_t>(sizeof(Real));
  auto buffer = device->allocate(bytes, Memory::host);
  if (!buffer) {
    throw std::runtime_error(
        fmt::format("{:.2f} GiB of mapped host memory cannot be allocated by {}: use a smaller N or NB",
                    gibibytes(bytes), device->description().renderer));
  }
  std::unique_ptr<DeviceBuffer> twin;
  // a factorisation allocates fewer than 8 further matrices of a panel's size
  if (with == Twin::if_possible && device->free_memory() > 8 * bytes) twin = device->allocate(bytes, Memory::device);
  if (with == Twin::message) twin = make_buffer(*device, bytes, Memory::message);
  return std::unique_ptr<MappedBuffer>(new MappedBuffer(std::move(buffer), std::move(twin), elements, padded));
}

template <class Real>
const MappedBuffer<Real>& mapped_buffer_of(const HostBlock<Real>& block) {
  const auto* buffer = dynamic_cast<const MappedBuffer<Real>*>(block.buffer);
  if (!buffer) throw std::invalid_argument("the host block is not of a buffer of a compute device");
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

}  // namespace glinpack
