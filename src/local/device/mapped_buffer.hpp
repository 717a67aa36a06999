// Storage of a compute device: buffers of a size that must be had, and host memory that the device maps.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "backend/device_memory.hpp"
#include "base/matrix_view.hpp"
#include "device/compute_device.hpp"

namespace glinpack {

/// Bytes in GiB, for messages.
inline double gibibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0); }

/// Throws std::runtime_error if the device has no memory for it. The content is undefined.
std::unique_ptr<DeviceBuffer> make_buffer(ComputeDevice& device, std::int64_t bytes, Memory memory = Memory::device);

/// A device buffer of a mapped buffer's size. if_possible: copies through it overlap kernels, if the device has memory
/// for it; memory estimates exclude it. message: transfers end in it (HostBuffer::on_device()).
enum class Twin { none, if_possible, message };

/// Persistently mapped host memory; shaders and pixel transfers access it in place.
template <class Real>
class MappedBuffer final : public HostBuffer<Real> {
 public:
  /// Throws std::runtime_error when there is not that much memory.
  static std::unique_ptr<MappedBuffer> create(const std::shared_ptr<ComputeDevice>& device, Index elements,
                                              Twin with = Twin::none);
  BufferId id() const { return buffer_->id(); }
  bool has_twin() const { return twin_ != nullptr; }
  BufferId twin() const { return twin_->id(); }
  /// The allocated elements: size() rounded up to the binding granularity of storage blocks.
  Index elements() const { return elements_; }

 private:
  MappedBuffer(std::unique_ptr<DeviceBuffer> buffer, std::unique_ptr<DeviceBuffer> twin, Index size, Index elements)
      : HostBuffer<Real>(static_cast<Real*>(buffer->data()), size, twin ? twin->peer_address() : 0),
        elements_(elements),
        buffer_(std::move(buffer)),
        twin_(std::move(twin)) {}
  Index elements_;
  std::unique_ptr<DeviceBuffer> buffer_;
  std::unique_ptr<DeviceBuffer> twin_;
};

/// The buffer behind a host block. Throws std::invalid_argument when the block is beyond its buffer, or the buffer is
/// another backend's.
template <class Real>
const MappedBuffer<Real>& mapped_buffer_of(const HostBlock<Real>& block);

}  // namespace glinpack
