// The memory of a rank's compute device: matrices in it, and copies between it and host memory.
//
// A local matrix is row-major. DeviceMatrix is a different type from host memory: host and device exchange data through
// HostBuffers. The device allocates them (pinned or mapped memory if that is faster); MPI and the panel arithmetic use
// them in place.
//
// Copies run in the order of the calls, with the operations of Arithmetic, and may be asynchronous. Wait for the
// returned Fence before changing a host block passed to upload or scatter_rows, or reading one passed to download or
// gather_rows. The device orders everything else.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "backend/peer_memory.hpp"
#include "base/matrix_view.hpp"
#include "base/non_copyable.hpp"

namespace glinpack {

/// A rows x columns row-major matrix in the memory of the device. Created zero-filled by DeviceMemory::allocate.
template <class Real>
class DeviceMatrix : NonCopyable {
 public:
  DeviceMatrix(Index rows, Index columns) : rows_(rows), columns_(columns) {}
  virtual ~DeviceMatrix() = default;
  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  /// The part that the driver has placed in host memory, where device access is slow; 0 if the driver does not report
  /// it.
  virtual std::int64_t displaced_bytes() const { return 0; }

 private:
  Index rows_;
  Index columns_;
};

/// A rectangle of a device matrix: rows x columns elements from (row, column) on.
template <class Real>
struct DeviceBlock {
  DeviceMatrix<Real>* matrix = nullptr;
  Index row = 0;
  Index column = 0;
  Index rows = 0;
  Index columns = 0;

  bool empty() const { return rows <= 0 || columns <= 0; }
  DeviceBlock block(Index i, Index j, Index block_rows, Index block_columns) const {
    return {matrix, row + i, column + j, block_rows, block_columns};
  }
};

/// The whole matrix as a block.
template <class Real>
DeviceBlock<Real> whole(DeviceMatrix<Real>& matrix) {
  return {&matrix, 0, 0, matrix.rows(), matrix.columns()};
}

/// Host memory that the device can transfer from and to.
template <class Real>
class HostBuffer : NonCopyable {
 public:
  HostBuffer(Real* data, Index size, PeerAddress on_device = 0) : data_(data), size_(size), on_device_(on_device) {}
  /// Owns its memory.
  HostBuffer(std::shared_ptr<Real[]> memory, Index size) : HostBuffer(memory.get(), size) {
    memory_ = std::move(memory);
  }
  virtual ~HostBuffer() = default;
  Real* data() const { return data_; }
  Index size() const { return size_; }
  /// The address of the first element, if transfers from and to the buffer end in device memory, whose messages
  /// PeerMemory copies. data() then has only what the host has written, which the device does not see. 0: they end in
  /// data().
  PeerAddress on_device() const { return on_device_; }
  /// From now on transfers end in data().
  void leave_device() { on_device_ = 0; }

 private:
  std::shared_ptr<Real[]> memory_;
  Real* data_;
  Index size_;
  PeerAddress on_device_;
};

/// A rows x columns row-major rectangle inside a host buffer, whose first element has index `offset`. If the gap
/// between rows is at most `padding` elements, downloads may overwrite it, but not in a buffer that is on_device().
template <class Real>
struct HostBlock {
  static constexpr Index padding = 31;
  HostBuffer<Real>* buffer = nullptr;
  Index offset = 0;
  Index rows = 0;
  Index columns = 0;
  Index leading_dimension = 0;

  bool empty() const { return rows <= 0 || columns <= 0; }
  RowMajorView<Real> view() const { return {buffer->data() + offset, rows, columns, leading_dimension}; }
  HostBlock block(Index i, Index j, Index block_rows, Index block_columns) const {
    return {buffer, offset + i * leading_dimension + j, block_rows, block_columns, leading_dimension};
  }
};

/// Stands for all work that the device, or one of its queues, was given before the fence was taken. Fence 0 has always
/// passed.
struct Fence {
  std::uint64_t id = 0;
  std::uint32_t queue = 0;  // the queue, as the backend numbers them
};

template <class Real>
class DeviceMemory;

/// An operand of update() and solve_unit_lower() with elements from another buffer. It is a view if the backend
/// computes in host memory, and otherwise a copy in device memory. It holds one block at a time, valid until the next
/// one.
template <class Real>
class Operand : NonCopyable {
 public:
  virtual ~Operand() = default;

  /// The elements of a block in host memory. They must not change while the operand is read, nor before waiting for
  /// `free`.
  virtual DeviceBlock<Real> from_host(const HostBlock<Real>& block, Fence& free) = 0;
  /// The elements of a block of another matrix of the backend.
  virtual DeviceBlock<Real> from_device(const DeviceBlock<Real>& block) = 0;
  /// Memory of rows x columns elements, to be written by operations of the backend.
  virtual DeviceBlock<Real> storage(Index rows, Index columns) = 0;
};

/// An operand of a backend that computes in host memory: all blocks are used in place.
template <class Real>
class OperandInPlace final : public Operand<Real> {
 public:
  /// A matrix of the elements of the block.
  using MakeView = std::unique_ptr<DeviceMatrix<Real>> (*)(const HostBlock<Real>& block);
  OperandInPlace(DeviceMemory<Real>& memory, Index rows, Index columns, MakeView make_view)
      : memory_(memory), rows_(rows), columns_(columns), make_view_(make_view) {}

  DeviceBlock<Real> from_host(const HostBlock<Real>& block, Fence&) override {
    view_ = make_view_(block);
    return whole(*view_);
  }
  DeviceBlock<Real> from_device(const DeviceBlock<Real>& block) override { return block; }
  DeviceBlock<Real> storage(Index rows, Index columns) override {
    if (!storage_) storage_ = memory_.allocate(rows_, columns_);
    return whole(*storage_).block(0, 0, rows, columns);
  }

 private:
  DeviceMemory<Real>& memory_;
  Index rows_;
  Index columns_;
  MakeView make_view_;
  std::unique_ptr<DeviceMatrix<Real>> view_, storage_;
};

/// In the memory of a device of its own.
template <class Real>
class UploadedOperand final : public Operand<Real> {
 public:
  UploadedOperand(DeviceMemory<Real>& memory, Index rows, Index columns)
      : memory_(memory), matrix_(memory.allocate(rows, columns)) {}
  DeviceBlock<Real> from_host(const HostBlock<Real>& block, Fence& free) override {
    const DeviceBlock<Real> copy = storage(block.rows, block.columns);
    free = memory_.upload(block, copy);
    return copy;
  }
  DeviceBlock<Real> from_device(const DeviceBlock<Real>& block) override {
    const DeviceBlock<Real> copy = storage(block.rows, block.columns);
    memory_.copy(block, copy);
    return copy;
  }
  DeviceBlock<Real> storage(Index rows, Index columns) override { return whole(*matrix_).block(0, 0, rows, columns); }

 private:
  DeviceMemory<Real>& memory_;
  std::unique_ptr<DeviceMatrix<Real>> matrix_;
};

template <class Real>
class DeviceMemory : NonCopyable {
 public:
  virtual ~DeviceMemory() = default;

  /// A zero-filled matrix. Throws std::runtime_error, naming sizes and limits, when the device cannot hold it.
  virtual std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) = 0;
  virtual std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) = 0;
  /// Copies between this device and those of other processes; null if there are none. Throws std::runtime_error with
  /// the reason if they fail here.
  virtual PeerMemory* open_peers() { return nullptr; }
  /// A buffer whose transfers end in device memory (HostBuffer::on_device()). Only if peers are open.
  virtual std::unique_ptr<HostBuffer<Real>> allocate_message(Index elements) { return allocate_host(elements); }
  /// An operand of up to rows x columns elements. The memory must outlive it. Throws as allocate does.
  virtual std::unique_ptr<Operand<Real>> make_operand(Index rows, Index columns) {
    return std::make_unique<UploadedOperand<Real>>(*this, rows, columns);
  }

  /// to <- from, the same extents.
  virtual Fence upload(HostBlock<Real> from, DeviceBlock<Real> to) = 0;
  virtual Fence download(DeviceBlock<Real> from, HostBlock<Real> to) = 0;
  /// to <- from^T: a block column of the matrix as a column-major panel.
  virtual Fence download_transposed(DeviceBlock<Real> from, HostBlock<Real> to) = 0;
  /// to <- from on the device. Different matrices.
  virtual void copy(DeviceBlock<Real> from, DeviceBlock<Real> to) = 0;
  /// to <- from^T on the device: a factorised panel back into the matrix. Different matrices.
  virtual void copy_transposed(DeviceBlock<Real> from, DeviceBlock<Real> to) = 0;

  /// All copies and operations so far.
  virtual Fence fence() = 0;
  /// Returns when the work before the fence is done. Time spent here is recorded as Phase::wait.
  virtual void wait(Fence fence) = 0;
  void wait_all() { wait(fence()); }
};

}  // namespace glinpack
