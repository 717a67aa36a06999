// Memory of the compute backend: matrices on the device, and regions of them and of host memory.
#pragma once

#include <memory>
#include <vector>

#include "backend/device_memory.hpp"
#include "device/mapped_buffer.hpp"
#include "kernels/region.hpp"

namespace glinpack::compute {

/// Immutable device storage, in stripes (region.hpp) whose rows are padded to window_alignment, and in several buffers
/// if it is large. Buffers are allocated from the last to the first. If the device has no room for all, the first
/// columns, which are finished first, are displaced to host memory.
template <class Real>
class ComputeMatrix final : public DeviceMatrix<Real> {
 public:
  /// Zero-filled. Throws std::runtime_error with sizes if the device cannot
  /// hold it, or the host its displaced part.
  ComputeMatrix(ComputeDevice& device, Index rows, Index columns, Index stripe_width,
                std::int64_t buffer_bytes = largest_buffer_bytes);
  Region region() const {
    const bool several = buffers_.size() > 1;
    return {.buffer = buffers_.front().id,
            .buffer_elements = buffers_.front().elements,
            .rows = this->rows(),
            .columns = this->columns(),
            .leading_dimension = leading_dimension_,
            .stripe_width = stripe_width_,
            .stripe_stride = this->rows() * leading_dimension_,
            .buffers = several ? buffers_.data() : nullptr,
            .stripes_each = stripes_each_};
  }
  std::int64_t displaced_bytes() const override { return displaced_bytes_; }

 private:
  bool allocate(ComputeDevice& device, std::int64_t free_bytes);

  Index stripe_width_;
  Index leading_dimension_;
  Index stripes_each_;
  std::int64_t displaced_bytes_ = 0;
  std::vector<RegionBuffer> buffers_;
  std::vector<std::unique_ptr<DeviceBuffer>> storage_;  // of the buffers
};

/// The part of `bytes` allocated bytes that is in host memory: the part that the change of the device's free memory
/// does not account for. Allocations by other processes falsify it. 0 if the driver does not report free memory, and if
/// it is less than a sixteenth and than 512 MiB, for the driver's own use.
std::int64_t displaced_bytes(std::int64_t bytes, std::int64_t free_before, std::int64_t free_after);

/// The block as a region of its buffer. Throws std::invalid_argument when the block is no part of the matrix, or its
/// memory is another backend's.
template <class Real>
Region region_of(const DeviceBlock<Real>& block);
template <class Real>
Region region_of(const HostBlock<Real>& block);
/// The same elements in the buffer's twin.
template <class Real>
Region twin_region_of(const HostBlock<Real>& block);

}  // namespace glinpack::compute
