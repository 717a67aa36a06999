// The operations that a rank needs from its compute device, each coarse enough that the cost of a virtual call is
// negligible. Implementations: reference/ (naive loops, the oracle), openblas/, gl/.
//
// Memory. A local matrix is row-major, in the memory of the backend: DeviceMatrix is a different type from host memory.
// Host and device exchange data through HostBuffers. The backend allocates them (pinned or mapped memory if that is
// faster); MPI and the panel arithmetic use them in place.
//
// Order and waiting. Operations run in the order of the calls and may be asynchronous. Wait for the returned Fence
// before changing a host block passed to upload or scatter_rows, or reading one passed to download or gather_rows. The
// backend orders everything else.
//
// Panels. L is passed to the device transposed: block_columns x rows, so that column k of L is a contiguous row.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "backend/panels.hpp"
#include "base/matrix_product.hpp"
#include "base/matrix_view.hpp"
#include "base/precision.hpp"
#include "base/timeline.hpp"

namespace glinpack {

/// A rows x columns row-major matrix in the memory of the device. Created zero-filled by Backend::allocate.
template <class Real>
class DeviceMatrix {
 public:
  DeviceMatrix(Index rows, Index columns) : rows_(rows), columns_(columns) {}
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;
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

/// Host memory that the backend can transfer from and to.
template <class Real>
class HostBuffer {
 public:
  HostBuffer(Real* data, Index size) : data_(data), size_(size) {}
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  virtual ~HostBuffer() = default;
  Real* data() const { return data_; }
  Index size() const { return size_; }

 private:
  Real* data_;
  Index size_;
};

/// A rows x columns row-major rectangle inside a host buffer, whose first element has index `offset`. If the gap
/// between rows is at most `padding` elements, downloads may overwrite it.
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

/// Stands for all work that the backend, or one queue of its device, was given before the fence was taken. Fence 0 has
/// always passed.
struct Fence {
  std::uint64_t id = 0;
  std::uint32_t queue = 0;  // the queue, as the backend numbers them
};

/// Row `from` of a matrix is to become row `to`. A set of moves is a parallel assignment: all rows are read before
/// any is written.
struct RowMove {
  Index from = 0;
  Index to = 0;
  friend bool operator==(const RowMove&, const RowMove&) = default;
};

/// The compute device of a backend, for reports.
struct BackendInfo {
  std::string backend;             // "openblas", "gl-compute", ...
  std::string device;              // processor or GL renderer
  std::string driver;              // GL version string, or the BLAS library
  std::string blas;                // BLAS of the host arithmetic ("OpenBLAS 0.3.21"), empty if there is none
  std::string kernels;             // its kernels ("SkylakeX"), empty if there is none
  int threads = 1;                 // host threads for arithmetic
  bool software_gl = false;        // OpenGL without a GPU
  std::string products = "plain";  // of the update, as --products names them
  int moduli = 0;                  // of double-precision products that residues of 8 bits emulate; 0: they are plain
  double product_error = 0;        // of these: bound for an element of L U, over the 2-norms of its row and column
  int device_index = -1;           // as `glinpack devices` counts; -1 without GL
  std::string device_uuid;         // of the GL device; empty if unknown
  std::int64_t free_bytes = 0;     // memory available for matrices when the backend started; 0 unknown
  Index largest_rows = 0;          // of a local matrix; 0: memory alone limits it
  Index largest_columns = 0;
};

template <class Real>
class RowByRowAlgorithm;

template <class Real>
class Backend;

/// When a device takes over work that the host can do: only if it is faster (software OpenGL is not), or always.
enum class DeviceUse { if_faster, always };

/// An operand of update() and solve_unit_lower() with elements from another buffer. It is a view if the backend
/// computes in host memory, and otherwise a copy in device memory. It holds one block at a time, valid until the next
/// one.
template <class Real>
class Operand {
 public:
  Operand() = default;
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  virtual ~Operand() = default;

  /// The elements of a block in host memory. They must not change while the operand is read, nor before waiting for
  /// `free`.
  virtual DeviceBlock<Real> from_host(const HostBlock<Real>& block, Fence& free) = 0;
  /// The elements of a block of another matrix of the backend.
  virtual DeviceBlock<Real> from_device(const DeviceBlock<Real>& block) = 0;
  /// Memory of rows x columns elements, to be written by operations of the backend.
  virtual DeviceBlock<Real> storage(Index rows, Index columns) = 0;
};

/// An operand of a backend that computes in host memory: blocks of other matrices are used in place, and `View` is a
/// matrix of elements elsewhere.
template <class Real, class View>
class OperandInPlace : public Operand<Real> {
 public:
  OperandInPlace(Backend<Real>& backend, Index rows, Index columns)
      : backend_(backend), rows_(rows), columns_(columns) {}

  DeviceBlock<Real> from_device(const DeviceBlock<Real>& block) final { return block; }
  DeviceBlock<Real> storage(Index rows, Index columns) final;

 protected:
  DeviceBlock<Real> see(std::unique_ptr<View> view) {
    view_ = std::move(view);
    return whole<Real>(*view_);
  }

 private:
  Backend<Real>& backend_;
  Index rows_;
  Index columns_;
  std::unique_ptr<View> view_;
  std::unique_ptr<DeviceMatrix<Real>> storage_;
};

/// In the memory of a device of its own.
template <class Real>
class UploadedOperand final : public Operand<Real> {
 public:
  UploadedOperand(Backend<Real>& backend, Index rows, Index columns);
  DeviceBlock<Real> from_host(const HostBlock<Real>& block, Fence& free) override;
  DeviceBlock<Real> from_device(const DeviceBlock<Real>& block) override;
  DeviceBlock<Real> storage(Index rows, Index columns) override { return whole(*matrix_).block(0, 0, rows, columns); }

 private:
  Backend<Real>& backend_;
  std::unique_ptr<DeviceMatrix<Real>> matrix_;
};

template <class Real>
class Backend {
 public:
  explicit Backend(Timeline& timeline) : timeline_(timeline) {}
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Where it records its operations.
  Timeline& timeline() const { return timeline_; }
  virtual BackendInfo info() const = 0;
  /// Whether update() is asynchronous, so that the host can factorise a panel during the update.
  virtual bool update_is_asynchronous() const = 0;
  /// Arithmetic for panels in host memory.
  virtual PanelArithmetic<Real>& panel() = 0;
  /// The white paper's local algorithm (row_by_row.hpp); null if the backend does not implement it.
  virtual RowByRowAlgorithm<Real>* row_by_row() { return nullptr; }

  /// Products with a matrix whose elements the device makes, if it can; otherwise null. The elements are rounded to
  /// single precision if that is given. The backend must outlive it. Throws as allocate does.
  virtual std::unique_ptr<MatrixProduct> make_matrix_product(const MatrixElements&, Precision, DeviceUse) {
    return nullptr;
  }

  /// Panels of up to rows x columns factorised on the device, by tournament or by partial pivoting, if it can;
  /// otherwise null. The backend must outlive it. Throws as allocate does.
  virtual std::unique_ptr<DeviceTournamentPanel<Real>> make_tournament_panel(Index /*rows*/, Index /*columns*/,
                                                                             DeviceUse) {
    return nullptr;
  }
  /// By partial pivoting, update() may run at the same time. No fence may be taken between the two.
  virtual std::unique_ptr<DevicePanel<Real>> make_partial_panel(Index /*rows*/, Index /*columns*/, DeviceUse) {
    return nullptr;
  }

  /// A zero-filled matrix. Throws std::runtime_error, naming sizes and limits, when the device cannot hold it.
  virtual std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) = 0;
  virtual std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) = 0;
  /// An operand of up to rows x columns elements. The backend must outlive it. Throws as allocate does.
  virtual std::unique_ptr<Operand<Real>> make_operand(Index rows, Index columns) {
    return std::make_unique<UploadedOperand<Real>>(*this, rows, columns);
  }

  /// to <- from, the same extents.
  virtual Fence upload(HostBlock<Real> from, DeviceBlock<Real> to) = 0;
  virtual Fence download(DeviceBlock<Real> from, HostBlock<Real> to) = 0;
  /// to <- from^T: a block column of the matrix as a column-major panel.
  virtual Fence download_transposed(DeviceBlock<Real> from, HostBlock<Real> to) = 0;
  /// to <- from^T on the device: a factorised panel back into the matrix. Different matrices.
  virtual void copy_transposed(DeviceBlock<Real> from, DeviceBlock<Real> to) = 0;
  /// to <- from on the device. Different matrices.
  virtual void copy(DeviceBlock<Real> from, DeviceBlock<Real> to) = 0;

  /// Row i of `to` <- row rows[i] of `from` (rows counted from the block's first).
  virtual Fence gather_rows(DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) = 0;
  /// Row rows[i] of `to` <- row i of `from`.
  virtual Fence scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real> to) = 0;
  /// Rows within a block, all moves at once. Every `to` occurs once.
  virtual void move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) = 0;
  /// Sets memory aside for move_rows of up to `moves` rows of `columns` elements, so that none is allocated while a
  /// factorisation is timed. Throws as allocate does.
  virtual void reserve_moves(Index moves, Index columns) = 0;
  /// The same for what update() needs besides its operands, up to depth x rows and depth x columns.
  virtual void reserve_update(Index /*depth*/, Index /*rows*/, Index /*columns*/) {}

  /// A12 <- L11^-1 A12: unit lower triangular L11 (k x k) given as L11^T (the upper triangle of l11_transposed, its
  /// diagonal and lower triangle not read), A12 k x columns.
  virtual void solve_unit_lower(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) = 0;
  /// The same, and row i of `to` <- row rows[i] of `from`, other columns than a12's of its matrix. A device may do both
  /// at the same time. The fence is gather_rows's.
  virtual Fence solve_unit_lower_and_gather(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12,
                                            DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) {
    solve_unit_lower(l11_transposed, a12);
    return gather_rows(from, rows, to);
  }
  /// A22 <- A22 - L21 U12: l21_transposed k x rows, u12 k x columns, a22 rows x columns. u12 is of an Operand: of
  /// another matrix than a22, or other rows of it.
  virtual void update(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) = 0;
  /// The same for one or two rows of A22. A device takes as long as it needs to read u12.
  virtual void update_few_rows(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) {
    update(l21_transposed, u12, a22);
  }
  /// X <- T^-1 X for a triangle of t, k x k, and x, k x few columns (BLAS trsv, trsm): substitution with a diagonal
  /// block. The rest of t is not read. Different matrices.
  virtual void solve_triangle(Triangle triangle, DeviceBlock<Real> t, DeviceBlock<Real> x) = 0;
  /// y <- y - A x: a rows x columns, x columns x 1, y rows x 1 (BLAS gemv); substitution. x may be other rows of y's
  /// matrix.
  virtual void subtract_product(DeviceBlock<Real> a, DeviceBlock<Real> x, DeviceBlock<Real> y) = 0;

  /// Everything handed over so far.
  virtual Fence fence() = 0;
  /// Whether the work before the fence is known to be done. Does not wait: an asynchronous device always says false.
  virtual bool has_passed(Fence fence) = 0;
  /// Returns when the work before the fence is done. Time spent here is recorded as Phase::wait.
  virtual void wait(Fence fence) = 0;
  void wait_all() { wait(fence()); }
  /// Adds device intervals that are measured but not yet on the timeline. Call after wait_all().
  virtual void collect_timings() {}

 private:
  Timeline& timeline_;
};

template <class Real, class View>
DeviceBlock<Real> OperandInPlace<Real, View>::storage(Index rows, Index columns) {
  if (!storage_) storage_ = backend_.allocate(rows_, columns_);
  return whole(*storage_).block(0, 0, rows, columns);
}

template <class Real>
UploadedOperand<Real>::UploadedOperand(Backend<Real>& backend, Index rows, Index columns)
    : backend_(backend), matrix_(backend.allocate(rows, columns)) {}

template <class Real>
DeviceBlock<Real> UploadedOperand<Real>::from_host(const HostBlock<Real>& block, Fence& free) {
  const DeviceBlock<Real> copy = storage(block.rows, block.columns);
  free = backend_.upload(block, copy);
  return copy;
}

template <class Real>
DeviceBlock<Real> UploadedOperand<Real>::from_device(const DeviceBlock<Real>& block) {
  const DeviceBlock<Real> copy = storage(block.rows, block.columns);
  backend_.copy(block, copy);
  return copy;
}

}  // namespace glinpack
