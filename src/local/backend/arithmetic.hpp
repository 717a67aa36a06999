// The arithmetic that a rank needs on blocks of matrices in device memory. Each operation is coarse enough that the
// cost of a virtual call is negligible. L is passed transposed, block_columns x rows, so that column k of L is a
// contiguous row.
#pragma once

#include <span>

#include "backend/device_memory.hpp"
#include "backend/panels.hpp"

namespace glinpack {

/// Row `from` of a matrix is to become row `to`. A set of moves is a parallel assignment: all rows are read before
/// any is written.
struct RowMove {
  Index from = 0;
  Index to = 0;
  friend bool operator==(const RowMove&, const RowMove&) = default;
};

/// Operations run in the order of the calls, and may be asynchronous (device_memory.hpp).
template <class Real>
class Arithmetic {
 public:
  virtual ~Arithmetic() = default;

  /// Row i of `to` <- row rows[i] of `from` (rows counted from the block's first).
  virtual Fence gather_rows(DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) = 0;
  /// Row rows[i] of `to` <- row i of `from`.
  virtual Fence scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real> to) = 0;
  /// Rows within a block, all moves at once. Every `to` occurs once.
  virtual void move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) = 0;
  /// Sets memory aside for move_rows of up to `moves` rows of `columns` elements, so that none is allocated while a
  /// factorisation is timed. Throws as DeviceMemory::allocate does.
  virtual void reserve_moves(Index /*moves*/, Index /*columns*/) {}
  /// The same for what update() needs besides its operands, up to depth x rows and depth x columns.
  virtual void reserve_update(Index /*depth*/, Index /*rows*/, Index /*columns*/) {}

  /// A12 <- L11^-1 A12: unit lower triangular L11 (k x k) given as L11^T (the upper triangle of l11_transposed, its
  /// diagonal and lower triangle not read), A12 k x columns.
  virtual void solve_unit_lower(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) = 0;
  /// The same, and gather_rows of other columns than a12's of its matrix. A device may do both at the same time.
  virtual Fence solve_unit_lower_and_gather(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12,
                                            DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) {
    solve_unit_lower(l11_transposed, a12);
    return gather_rows(from, rows, to);
  }
  /// A22 <- A22 - L21 U12: l21_transposed k x rows, u12 k x columns, a22 rows x columns. u12 is of an Operand: of
  /// another matrix than a22, or other rows of it.
  virtual void update(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) = 0;
  /// X <- T^-1 X for a triangle of t, k x k, and x, k x few columns (BLAS trsv, trsm): substitution with a diagonal
  /// block. The rest of t is not read. Different matrices.
  virtual void solve_triangle(Triangle triangle, DeviceBlock<Real> t, DeviceBlock<Real> x) = 0;
  /// y <- y - A x: a rows x columns, x columns x 1, y rows x 1 (BLAS gemv); substitution. x may be other rows of y's
  /// matrix.
  virtual void subtract_product(DeviceBlock<Real> a, DeviceBlock<Real> x, DeviceBlock<Real> y) = 0;
};

}  // namespace glinpack
