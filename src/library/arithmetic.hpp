// The arithmetic of one precision for libglinpack.so, on the processor or on an OpenGL device.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/backend_record.hpp"

namespace glinpack::library {

inline BackendOptions backend_options(int threads, int device = 0) {
  BackendOptions options;
  options.threads = threads;
  options.device = device;
  return options;
}

enum class Elementwise { linear, multiply, divide };

/// Called by one thread. Extents fit and are not 0. Throws Failure if memory is missing, std::runtime_error if the
/// device fails.
template <class Real>
class Arithmetic {
 public:
  using Matrix = DeviceMatrix<Real>;
  using MatrixPointer = std::shared_ptr<Matrix>;

  virtual ~Arithmetic() = default;

  /// Zero-filled.
  MatrixPointer make(Index rows, Index columns);
  MatrixPointer make(Index rows, Index columns, std::span<const Real> row_major);
  MatrixPointer copy(Matrix& a);
  MatrixPointer transpose(Matrix& a);
  void copy(const DeviceBlock<Real>& from, const DeviceBlock<Real>& to) { backend().copy(from, to); }

  /// The elements, until the next call of any function.
  virtual RowMajorView<const Real> read(Matrix& a) = 0;

  /// op(a) op(b), op being x or x^T.
  virtual MatrixPointer multiply(Matrix& a, bool transpose_a, Matrix& b, bool transpose_b) = 0;
  /// linear: alpha a + beta b, or alpha a + beta if b is null; otherwise a * b or a / b.
  virtual MatrixPointer combine(Elementwise operation, Real alpha, Matrix& a, Real beta, Matrix* b) = 0;
  /// P A = L U in place: L below U. Row i of P A is row order[i] of A. Singular matrices have factors, too.
  virtual std::vector<Index> factorize(Matrix& a) = 0;
  /// X with A X = B; null if A is singular.
  virtual MatrixPointer solve(Matrix& a, Matrix& b) = 0;
  /// By LU factors; null if A is singular.
  virtual MatrixPointer invert(Matrix& a) = 0;

  virtual Backend<Real>& backend() = 0;
  /// Waits for the device; the times of operations are not kept.
  virtual void finish() = 0;

 protected:
  /// Whether there may be memory for a matrix.
  virtual bool has_room(Index /*rows*/, Index /*columns*/) { return true; }
  virtual void write(Matrix& a, std::span<const Real> row_major) = 0;
};

/// On OpenBLAS.
template <class Real>
std::unique_ptr<Arithmetic<Real>> make_host_arithmetic(int threads);

/// By compute shaders on an OpenGL device. `threads`: of the host.
template <class Real>
std::unique_ptr<Arithmetic<Real>> make_gl_arithmetic(int device, int threads);

}  // namespace glinpack::library
