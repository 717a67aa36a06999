// Memory of the compute backend: matrices on the device, and regions of them and of host memory.
#pragma once

#include <memory>

#include "local/backend.hpp"
#include "local/gl/compute/region.hpp"
#include "local/gl/mapped_buffer.hpp"

namespace glinpack::gl {

/// Immutable storage out of the host's reach; the leading dimension is padded to window_alignment, and the buffer's end
/// by `overrun`.
template <class Real>
class ComputeMatrix final : public DeviceMatrix<Real> {
 public:
  /// Zero-filled. Throws std::runtime_error when the device cannot hold it, naming sizes.
  ComputeMatrix(const std::shared_ptr<Context>& context, Index rows, Index columns);
  Region region() const { return {buffer_.id(), elements_, 0, this->rows(), this->columns(), leading_dimension_}; }

 private:
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

}  // namespace glinpack::gl
