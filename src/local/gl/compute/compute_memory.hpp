// Memory of the compute backend: matrices on the device, and regions of them and of host memory.
#pragma once

#include <memory>

#include "local/backend.hpp"
#include "local/gl/compute/region.hpp"
#include "local/gl/mapped_buffer.hpp"

namespace glinpack::gl {

/// Immutable storage out of the host's reach, in stripes (region.hpp) whose rows are padded to window_alignment.
template <class Real>
class ComputeMatrix final : public DeviceMatrix<Real> {
 public:
  /// Zero-filled. Throws std::runtime_error when the device cannot hold it, naming sizes.
  ComputeMatrix(const std::shared_ptr<Context>& context, Index rows, Index columns, Index stripe_width);
  Region region() const {
    return {buffer_.id(),
            elements_,
            0,
            0,
            this->rows(),
            this->columns(),
            leading_dimension_,
            stripe_width_,
            this->rows() * leading_dimension_};
  }

 private:
  Index stripe_width_;
  Index leading_dimension_;
  Index elements_;
  BufferHandle buffer_;
};

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
