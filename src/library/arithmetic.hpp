// The arithmetic of one precision for libglinpack.so, on the processor or on an OpenGL device.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
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

/// Whether the host has this much memory. The system kills the process that touches too much. Small sizes are not
/// checked: that reads files.
bool host_has(std::int64_t bytes);

/// Zeros. Throws std::bad_alloc if the host has too little memory.
template <class Real>
std::vector<Real> host_elements(Index count) {
  if (!host_has(count * static_cast<std::int64_t>(sizeof(Real)))) throw std::bad_alloc();
  return std::vector<Real>(static_cast<std::size_t>(count));
}

enum class Elementwise { linear, multiply, divide };
/// linear: alpha a + beta b, or alpha a + beta without b; otherwise a * b or a / b.
struct Combination {
  Elementwise operation = Elementwise::linear;
  double alpha = 1;
  double beta = 0;
};

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
  /// For results that are written whole.
  MatrixPointer make_unset(Index rows, Index columns);
  MatrixPointer make(Index rows, Index columns, std::span<const Real> row_major);
  MatrixPointer copy(Matrix& a);
  MatrixPointer transpose(Matrix& a);
  void copy(const DeviceBlock<Real>& from, const DeviceBlock<Real>& to) { backend().copy(from, to); }

  /// The elements, until the next call of any function.
  virtual RowMajorView<const Real> read(Matrix& a) = 0;

  /// op(a) op(b), op being x or x^T.
  virtual MatrixPointer multiply(Matrix& a, bool transpose_a, Matrix& b, bool transpose_b) = 0;
  /// b may be null.
  virtual MatrixPointer combine(const Combination& how, Matrix& a, Matrix* b) = 0;
  /// P A = L U, in an order of elements of its own.
  struct Factors {
    MatrixPointer elements;
    std::vector<Index> pivots;  // row k was exchanged with row pivots[k], k = 0, 1, ...
    bool singular = false;      // a pivot is exactly 0; the factors are complete nevertheless
  };
  /// Kept until another matrix is factorised, or `a` is freed: systems with the same matrix factorise it once. Valid
  /// until the next call of this function.
  const Factors& factors_of(const MatrixPointer& a);
  /// L below U.
  virtual MatrixPointer in_rows(const Factors& factors) = 0;
  /// X with A X = B, A not singular.
  virtual MatrixPointer solve(const Factors& factors, Matrix& b) = 0;
  /// A^-1, A not singular.
  virtual MatrixPointer invert(const Factors& factors) = 0;
  /// LAPACK gecon, with A's norm of column sums.
  virtual double reciprocal_condition(const Factors& factors, double norm) = 0;

  virtual Backend<Real>& backend() = 0;
  /// After an operation: waits for the device.
  void finish();

 protected:
  virtual Factors factorize(Matrix& a) = 0;
  /// Waits for the device; the times of operations are not kept.
  virtual void wait() = 0;
  /// Whether there may be memory for a matrix.
  virtual bool has_room(Index /*rows*/, Index /*columns*/) { return true; }
  virtual void write(Matrix& a, std::span<const Real> row_major) = 0;
  /// As make_unset(); throws std::runtime_error if there is too little memory.
  virtual MatrixPointer allocate_unset(Index rows, Index columns) { return backend().allocate(rows, columns); }

 private:
  MatrixPointer make(Index rows, Index columns, bool zeroed);

  std::weak_ptr<Matrix> factorized_;
  Factors factors_;
};

/// On OpenBLAS.
template <class Real>
std::unique_ptr<Arithmetic<Real>> make_host_arithmetic(int threads);

/// By compute shaders on an OpenGL device. `threads`: of the host.
template <class Real>
std::unique_ptr<Arithmetic<Real>> make_gl_arithmetic(int device, int threads);

}  // namespace glinpack::library
