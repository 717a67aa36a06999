// What the backends that compute on the processor share: matrices in host memory, and all operations that only move
// data. They are synchronous: when a call returns its work is done, so that every fence is passed.
#pragma once

#include <memory>
#include <vector>

#include "local/backend.hpp"
#include "local/host/host_memory.hpp"

namespace glinpack {

/// Row-major. Its own memory has the leading dimension that padded_leading_dimension() gives; or somebody else's.
template <class Real>
class HostMatrix final : public DeviceMatrix<Real> {
 public:
  HostMatrix(Index rows, Index columns, int threads)
      : DeviceMatrix<Real>(rows, columns),
        leading_dimension_(padded_leading_dimension<Real>(columns)),
        owned_(allocate_zeroed<Real>(rows * leading_dimension_, threads)),
        first_(owned_.get()) {}
  explicit HostMatrix(const RowMajorView<Real>& elements)
      : DeviceMatrix<Real>(elements.rows, elements.columns),
        leading_dimension_(elements.leading_dimension),
        first_(elements.data) {}

  RowMajorView<Real> view() const { return {first_, this->rows(), this->columns(), leading_dimension_}; }

 private:
  Index leading_dimension_;
  AlignedArray<Real> owned_;
  Real* first_;
};

/// The elements of a block of a HostMatrix.
template <class Real>
RowMajorView<Real> view_of(const DeviceBlock<Real>& block) {
  return static_cast<const HostMatrix<Real>*>(block.matrix)
      ->view()
      .block(block.row, block.column, block.rows, block.columns);
}

/// Intervals: lane cpu; copies of any kind are Phase::transfer with their bytes, rows are Phase::swap.
template <class Real>
class HostBackend : public Backend<Real> {
 public:
  /// `threads` for moving data, >= 1.
  HostBackend(Timeline& timeline, int threads) : Backend<Real>(timeline), threads_(threads) {}

  bool asynchronous() const final { return false; }
  std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) final;
  std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) final;
  bool computes_in_host_memory() const final { return true; }
  std::unique_ptr<DeviceMatrix<Real>> in_place(const HostBlock<Real>& block) final {
    return std::make_unique<HostMatrix<Real>>(block.view());
  }

  Fence upload(HostBlock<Real> from, DeviceBlock<Real> to) final;
  Fence download(DeviceBlock<Real> from, HostBlock<Real> to) final;
  Fence download_transposed(DeviceBlock<Real> from, HostBlock<Real> to) final;
  void copy_transposed(DeviceBlock<Real> from, DeviceBlock<Real> to) final;
  void copy(DeviceBlock<Real> from, DeviceBlock<Real> to) final;

  Fence gather_rows(DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) final;
  Fence scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real> to) final;
  void move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) final;
  /// Strips of the rows are kept in cache while they move: there is nothing to set aside.
  void reserve_moves(Index, Index) final {}

  Fence fence() final { return {}; }
  void wait(Fence) final {}

 protected:
  int threads() const { return threads_; }

 private:
  void copy_block(RowMajorView<const Real> from, RowMajorView<Real> to) const;
  void transpose_block(RowMajorView<const Real> from, RowMajorView<Real> to) const;

  int threads_;
};

}  // namespace glinpack
