// What `glinpack background` has the host and a device compute: a kind of problem is a class and a line in
// background_operations().
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/input/matrix_file.hpp"
#include "solvers/device/device.hpp"

namespace glinpack::app {

/// Problems of one kind and size are made of this.
struct BackgroundSource {
  Index count = 0;
  Index n = 0;
  std::uint64_t seed = 1;
  int threads = 1;  // of the host
  /// A of every problem, n x n, row-major; empty: a random one for each. What else a problem needs is random.
  std::vector<float> matrix = {};
};

/// A problem's result, in an order that its kind knows.
struct BackgroundAnswer {
  std::vector<float> numbers = {};
  // of factors: row i of P A is row row_order[i] of A; LAPACK's lie column after column
  std::vector<Index> row_order = {};
  bool by_columns = false;
};

/// A problem has no answer: a singular matrix, a zero pivot.
class NoAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Problems 0 ... count - 1 of one kind and size. Const functions may be called by several threads at a time.
class BackgroundProblems {
 public:
  /// The device's side; made, used and destroyed by the thread that owns the device. A problem includes packing and
  /// transfer. solve() throws NoAnswer, and std::runtime_error where the device fails.
  class OnDevice {
   public:
    virtual ~OnDevice() = default;
    virtual BackgroundAnswer solve(Index problem) = 0;
  };

  virtual ~BackgroundProblems() = default;
  virtual std::unique_ptr<OnDevice> prepare(solvers::Device& device) const = 0;
  /// By OpenBLAS or LAPACK. Throws NoAnswer.
  virtual BackgroundAnswer solve_on_host(Index problem) const = 0;
  /// Whoever the answer is from, to be judged by tolerance(); not finite where the answer is not.
  virtual double error_of(Index problem, const BackgroundAnswer& answer) const = 0;
  virtual double tolerance() const = 0;
  /// What --output writes.
  virtual DenseMatrix matrix_of(const BackgroundAnswer& answer) const = 0;
};

struct BackgroundOperation {
  const char* name;
  const char* summary;  // what a system is: "a product of two matrices of order N"
  const char* against;  // what the error is measured by
  std::unique_ptr<BackgroundProblems> (*make)(const BackgroundSource& source);
  /// Floating-point operations of a problem.
  double (*flops)(Index n);
  /// Floats that a problem and its answer take.
  double (*numbers)(Index n);
  /// Why the device cannot hold a problem; empty where nothing is known against it.
  std::string (*obstacle)(const gl::DeviceDescription& device, Index n);
  /// Whether elements beside the three diagonals of A are refused.
  bool tridiagonal = false;
};

/// The first one is the default.
std::span<const BackgroundOperation> background_operations();

}  // namespace glinpack::app
