// Memory of the compute backend: matrices on the device, and host memory that the device reaches.
#pragma once

#include <memory>

#include "local/backend.hpp"
#include "local/gl/compute/region.hpp"
#include "local/gl/handle.hpp"

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

/// Host memory, mapped for good; the shaders read and write it in place.
template <class Real>
class MappedBuffer final : public HostBuffer<Real> {
 public:
  /// Throws std::runtime_error when there is not that much memory.
  static std::unique_ptr<MappedBuffer> create(const std::shared_ptr<Context>& context, Index elements);
  Region region() const { return {buffer_.id(), elements_, 0, 1, this->size(), elements_}; }

 private:
  MappedBuffer(BufferHandle buffer, Real* data, Index size, Index elements)
      : HostBuffer<Real>(data, size), elements_(elements), buffer_(std::move(buffer)) {}
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
