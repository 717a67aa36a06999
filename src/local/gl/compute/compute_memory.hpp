// Memory of the compute backend: matrices on the device, and regions of them and of host memory.
#pragma once

#include <memory>
#include <vector>

#include "local/backend.hpp"
#include "local/gl/compute/region.hpp"
#include "local/gl/mapped_buffer.hpp"

namespace glinpack::gl {

/// Immutable storage out of the host's reach, in stripes (region.hpp) whose rows are padded to window_alignment; in
/// several buffers where it is large. They are made from its end on: where not all have room on the device, those of
/// the first columns, which are done with first, are displaced.
template <class Real>
class ComputeMatrix final : public DeviceMatrix<Real> {
 public:
  /// Zero-filled. Throws std::runtime_error when the device cannot hold it, nor the host what is displaced, naming
  /// sizes.
  ComputeMatrix(const std::shared_ptr<Context>& context, Index rows, Index columns, Index stripe_width,
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
  bool allocate(const std::shared_ptr<Context>& context, std::int64_t free_bytes);

  Index stripe_width_;
  Index leading_dimension_;
  Index stripes_each_;
  std::int64_t displaced_bytes_ = 0;
  std::vector<RegionBuffer> buffers_;
  std::vector<BufferHandle> handles_;  // of them
};

/// What of `bytes` that were allocated is in host memory: what the device's free memory, before and after, does not
/// account for, so that what other processes take or give back meanwhile falsifies it. 0 where the driver does not tell
/// (nothing was free), and where it is less than a sixteenth and than 512 MiB: drivers' own use.
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

}  // namespace glinpack::gl
