// The arithmetic of one precision for libglinpack.so, on the processor or on an OpenGL device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/backend_record.hpp"
#include "glinpack.h"
#include "openblas/host_solvers.hpp"
#include "solvers/device/device.hpp"

namespace glinpack::library {

/// An error with its status.
class Failure : public std::runtime_error {
 public:
  Failure(glinpack_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  glinpack_status status() const { return status_; }

 private:
  glinpack_status status_;
};

/// No memory for a matrix of this shape.
Failure too_little_memory(Index rows, Index columns, std::size_t bytes_of_element);

/// The status and text of any exception.
Failure failure_of(const std::exception_ptr& error);

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

enum class Factor { permutation, lower, upper };

/// Called by one thread. Extents fit and are not 0. Throws Failure if memory is missing or a matrix to be solved with
/// is singular, std::runtime_error if the device fails.
template <class Real>
class Arithmetic {
 public:
  using Matrix = DeviceMatrix<Real>;
  using MatrixPointer = std::shared_ptr<Matrix>;

  virtual ~Arithmetic() = default;

  /// Zero-filled.
  MatrixPointer make(Index rows, Index columns) { return make(rows, columns, true); }
  /// For results that are written whole.
  MatrixPointer make_unset(Index rows, Index columns) { return make(rows, columns, false); }
  MatrixPointer make(Index rows, Index columns, std::span<const Real> row_major) {
    const MatrixPointer matrix = make_unset(rows, columns);
    write(*matrix, row_major);
    return matrix;
  }
  MatrixPointer copy(Matrix& a) {
    const MatrixPointer result = make_unset(a.rows(), a.columns());
    copy(whole(a), whole(*result));
    return result;
  }
  virtual void copy(const DeviceBlock<Real>& from, const DeviceBlock<Real>& to) = 0;
  virtual MatrixPointer transpose(Matrix& a) = 0;

  /// The elements, until the next call of any function.
  virtual RowMajorView<const Real> read(Matrix& a) = 0;

  /// op(a) op(b), op being x or x^T.
  virtual MatrixPointer multiply(Matrix& a, bool transpose_a, Matrix& b, bool transpose_b) = 0;
  /// b may be null.
  virtual MatrixPointer combine(const Combination& how, Matrix& a, Matrix* b) = 0;
  /// P A = L U, in an order of elements of its own.
  struct Factors {
    MatrixPointer elements;     // null: not complete, since the matrix is singular
    std::vector<Index> pivots;  // row k was exchanged with row pivots[k], k = 0, 1, ...
    bool singular = false;      // a pivot is 0
  };
  /// Kept until another matrix is factorised, or `a` is freed: systems with the same matrix factorise it once. Valid
  /// until the next call of this function.
  const Factors& factors_of(const MatrixPointer& a) {
    if (factorized_.lock() != a) {
      factorized_.reset();
      factors_ = {};
      factors_ = factorize(*a);
      factorized_ = a;
    }
    return factors_;
  }
  /// L below U.
  virtual MatrixPointer in_rows(const Factors& factors) { return factors.elements; }
  /// `in_rows`: L below U; row i of P A is row order[i] of A.
  virtual MatrixPointer factor(Matrix& in_rows, std::span<const Index> order, Factor which) {
    const Index n = in_rows.rows();
    std::vector<Real> elements = host_elements<Real>(n * n);
    const RowMajorView<Real> to{elements.data(), n, n, n};
    if (which == Factor::permutation) {
      for (Index i = 0; i < n; ++i) to(i, order[static_cast<std::size_t>(i)]) = 1;
    } else {
      const bool lower = which == Factor::lower;
      const RowMajorView<const Real> from = read(in_rows);
      for (Index i = 0; i < n; ++i) {
        std::copy_n(from.row(i) + (lower ? 0 : i), lower ? i : n - i, to.row(i) + (lower ? 0 : i));
        if (lower) to(i, i) = 1;
      }
    }
    return make(n, n, elements);
  }
  /// X with A X = B.
  MatrixPointer solve(const MatrixPointer& a, Matrix& b) { return solve_with(regular_factors(a, "solved with"), b); }
  virtual MatrixPointer invert(const MatrixPointer& a) { return invert_with(regular_factors(a, "inverted")); }
  /// As reduce_to_echelon_form().
  virtual MatrixPointer reduced_row_echelon_form(Matrix& a, int threads) {
    const RowMajorView<const Real> from = read(a);
    std::vector<Real> elements = host_elements<Real>(a.rows() * a.columns());
    const RowMajorView<Real> to{elements.data(), a.rows(), a.columns(), a.columns()};
    for (Index i = 0; i < a.rows(); ++i) std::copy_n(from.row(i), a.columns(), to.row(i));
    reduce_to_echelon_form(to, threads);
    return make(a.rows(), a.columns(), elements);
  }
  /// LAPACK gecon, with A's norm of column sums.
  virtual double reciprocal_condition(const Factors& factors, double norm) {
    const MatrixPointer by_columns = transpose(*factors.elements);
    return reciprocal_condition_on_host<Real>(read(*by_columns).transposed(), norm);
  }

  /// After an operation: waits for the device.
  void finish() {
    if (factorized_.expired()) factors_ = {};
    wait();
  }

 protected:
  virtual Factors factorize(Matrix& a) = 0;
  /// A not singular.
  virtual MatrixPointer solve_with(const Factors& factors, Matrix& b) = 0;
  virtual MatrixPointer invert_with(const Factors& factors) = 0;
  /// Waits for the device; the times of operations are not kept.
  virtual void wait() = 0;
  /// Whether there may be memory for a matrix.
  virtual bool has_room(Index /*rows*/, Index /*columns*/) { return true; }
  virtual void write(Matrix& a, std::span<const Real> row_major) = 0;
  /// Throw std::runtime_error if there is too little memory.
  virtual MatrixPointer allocate(Index rows, Index columns) = 0;
  virtual MatrixPointer allocate_unset(Index rows, Index columns) { return allocate(rows, columns); }

 private:
  MatrixPointer make(Index rows, Index columns, bool zeroed) {
    if (has_room(rows, columns)) {
      try {
        if (zeroed) return allocate(rows, columns);
        return allocate_unset(rows, columns);
      } catch (const Failure&) {
        throw;
      } catch (const std::runtime_error&) {
        // its advice is for the program
      }
    }
    throw too_little_memory(rows, columns, sizeof(Real));
  }
  /// Throws Failure if the matrix is singular, which "is to be `used`".
  const Factors& regular_factors(const MatrixPointer& a, const std::string& used) {
    const Factors& factors = factors_of(a);
    if (!factors.singular) return factors;
    throw Failure(GLINPACK_SINGULAR, "a matrix to be " + used + " is singular: a pivot is " +
                                         (factors.elements ? "exactly 0" : "0, or nearly so"));
  }

  std::weak_ptr<Matrix> factorized_;
  Factors factors_;
};

/// On a backend of src/local.
template <class Real>
class BackendArithmetic : public Arithmetic<Real> {
 public:
  using typename Arithmetic<Real>::Matrix;
  using typename Arithmetic<Real>::MatrixPointer;

  using Arithmetic<Real>::copy;
  void copy(const DeviceBlock<Real>& from, const DeviceBlock<Real>& to) override { backend().copy(from, to); }
  MatrixPointer transpose(Matrix& a) override {
    const MatrixPointer result = this->make_unset(a.columns(), a.rows());
    backend().copy_transposed(whole(a), whole(*result));
    return result;
  }

  virtual Backend<Real>& backend() = 0;

 protected:
  MatrixPointer allocate(Index rows, Index columns) override { return backend().allocate(rows, columns); }
};

/// On OpenBLAS.
template <class Real>
std::unique_ptr<Arithmetic<Real>> make_host_arithmetic(int threads);

/// By compute shaders on an OpenGL device. `threads`: of the host.
template <class Real>
std::unique_ptr<Arithmetic<Real>> make_gl_arithmetic(int device, int threads);

/// In textures of packing 2x2 by fragment shaders (Brodtkorb 2008, section 4); no matrix passes through host memory
/// but by make() and read(). The device outlives it.
std::unique_ptr<Arithmetic<float>> make_packed_arithmetic(solvers::Device& device);
/// X of tridiagonal systems in columns, without pivoting, of such matrices.
std::shared_ptr<DeviceMatrix<float>> solve_packed_tridiagonal(Arithmetic<float>& packed, DeviceMatrix<float>& lower,
                                                              DeviceMatrix<float>& diagonal, DeviceMatrix<float>& upper,
                                                              DeviceMatrix<float>& right);

}  // namespace glinpack::library
