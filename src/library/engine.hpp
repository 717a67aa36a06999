// What a context's thread owns: the device, and the values of matrices on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "library/arithmetic.hpp"
#include "solvers/device/device.hpp"

namespace glinpack::library {

/// The elements of a computed matrix; none if an extent is 0. The context's thread alone uses and destroys them.
class Value {
 public:
  template <class Real>
  using Pointer = std::shared_ptr<DeviceMatrix<Real>>;

  Value() = default;
  template <class Real>
  Value(Pointer<Real> matrix) : matrix_(std::move(matrix)) {}

  bool empty() const {
    return std::visit([](const auto& pointer) { return pointer == nullptr; }, matrix_);
  }
  template <class Real>
  DeviceMatrix<Real>& matrix() const {
    return *std::get<Pointer<Real>>(matrix_);
  }
  template <class Real>
  const Pointer<Real>& pointer() const {
    return std::get<Pointer<Real>>(matrix_);
  }
  /// function(DeviceMatrix<Real>&) of a value with elements.
  template <class Function>
  decltype(auto) visit(Function function) const {
    return std::visit([&](const auto& pointer) -> decltype(auto) { return function(*pointer); }, matrix_);
  }

 private:
  std::variant<Pointer<float>, Pointer<double>> matrix_;
};

/// L below U, and row i of P A is row order[i] of A.
struct FactorsOfMatrix {
  Value value;
  std::vector<Index> order;
};

/// Elements of the caller: (i, j) at data[i row_stride + j column_stride].
template <class Element>
struct Strided {
  Element* data = nullptr;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t column_stride = 0;
  Element& operator()(Index i, Index j) const { return data[i * row_stride + j * column_stride]; }
};

/// body(i, j) for all elements, by blocks that a cache holds, whatever the order of the elements in memory.
template <class Body>
void for_each_element(Index rows, Index columns, Body body) {
  constexpr Index block = 32;
  for (Index first_row = 0; first_row < rows; first_row += block) {
    const Index end_row = std::min(rows, first_row + block);
    for (Index first = 0; first < columns; first += block) {
      const Index end = std::min(columns, first + block);
      for (Index i = first_row; i < end_row; ++i) {
        for (Index j = first; j < end; ++j) body(i, j);
      }
    }
  }
}

/// Where a context computes.
struct EngineChoice {
  std::optional<int> gl_device;  // none: OpenBLAS
  int threads = 1;
  bool packed = false;  // textures of packing 2x2
};

/// "auto", "openblas", "software", or a number; threads 0: one per processor. Throws Failure.
EngineChoice choose_engine(const std::string& device, int threads);
/// Packed, on the first GPU or software OpenGL device if it is "auto". Throws Failure.
EngineChoice choose_packed_engine(const std::string& device);

/// Made, used and destroyed by one thread. The extents of operands fit, and results have elements.
class Engine {
 public:
  explicit Engine(const EngineChoice& choice);

  std::string description();
  bool on_gl() const { return choice_.gl_device.has_value(); }
  bool is_packed() const { return choice_.packed; }
  int threads() const { return choice_.threads; }
  template <class Real>
  Arithmetic<Real>& arithmetic();
  /// For the solvers of src/local/solvers, which transfer their operands. On an OpenGL device only.
  solvers::Device& device();
  /// The result of operation(), when the device has finished it.
  template <class Operation>
  auto run(Operation operation) {
    const std::shared_lock executing(forking());
    try {
      auto result = operation();
      finish();
      return result;
    } catch (...) {
      finish_after_error();
      throw;
    }
  }

 private:
  /// Locked by fork(), which therefore waits for the operation in execution.
  static std::shared_mutex& forking();
  void finish();
  void finish_after_error() noexcept;

  EngineChoice choice_;
  std::unique_ptr<solvers::Device> device_;
  std::tuple<std::unique_ptr<Arithmetic<float>>, std::unique_ptr<Arithmetic<double>>> arithmetics_;
};

}  // namespace glinpack::library
