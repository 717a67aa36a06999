// The problems that `glinpack background` solves on host and device. A new kind is a class and a line in
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

/// The parameters of a set of problems.
struct BackgroundSource {
  Index count = 0;
  Index n = 0;
  std::uint64_t seed = 1;
  int threads = 1;  // of the host
  /// The n x n matrix A of every problem, row-major; empty: a random one for each. All other input is random.
  std::vector<float> matrix = {};
};

/// A problem's result, in the layout of its kind.
struct BackgroundAnswer {
  std::vector<float> numbers = {};
  // only for factors: row i of P A is row row_order[i] of A; LAPACK's factors are column-major
  std::vector<Index> row_order = {};
  bool by_columns = false;
};

/// A problem has no answer, because of a singular matrix or a zero pivot.
class NoAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Problems 0 ... count - 1 of one kind and size. Several threads may call const functions at the same time.
class BackgroundProblems {
 public:
  /// The device's side. The thread that owns the device creates, uses and destroys it. Solving includes packing and
  /// transfer. solve() throws NoAnswer, and std::runtime_error if the device fails.
  class OnDevice {
   public:
    virtual ~OnDevice() = default;
    virtual BackgroundAnswer solve(Index problem) = 0;
  };

  virtual ~BackgroundProblems() = default;
  virtual std::unique_ptr<OnDevice> prepare(solvers::Device& device) const = 0;
  /// Solves with OpenBLAS or LAPACK. Throws NoAnswer.
  virtual BackgroundAnswer solve_on_host(Index problem) const = 0;
  /// The error of a host or device answer, to be compared with tolerance(); not finite if the answer is not.
  virtual double error_of(Index problem, const BackgroundAnswer& answer) const = 0;
  virtual double tolerance() const = 0;
  /// The matrix that --output writes.
  virtual DenseMatrix matrix_of(const BackgroundAnswer& answer) const = 0;
};

struct BackgroundOperation {
  const char* name;
  const char* summary;  // what a system is: "a product of two matrices of order N"
  const char* against;  // the reference of the error
  std::unique_ptr<BackgroundProblems> (*make)(const BackgroundSource& source);
  /// Floating-point operations of a problem.
  double (*flops)(Index n);
  /// Floats that a problem and its answer take.
  double (*numbers)(Index n);
  /// Why the device cannot hold a problem; empty if no limit is known.
  std::string (*obstacle)(const gl::DeviceDescription& device, Index n);
  /// True if elements off the three diagonals of A are refused.
  bool tridiagonal = false;
};

/// The first one is the default.
std::span<const BackgroundOperation> background_operations();

}  // namespace glinpack::app
