// What `glinpack background` has the host and a device compute: a kind of problem is a class here and a line in
// background_operations().
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "local/solvers/device.hpp"

namespace glinpack::app {

/// The elements of a problem's result, in an order that its kind knows.
using Numbers = std::vector<float>;

/// Problems 0 ... count - 1 of one kind and size. Const functions may be called by several threads at a time.
class BackgroundProblems {
 public:
  /// The device's side; made, used and destroyed by the thread that owns the device. A problem includes packing and
  /// transfer.
  class OnDevice {
   public:
    virtual ~OnDevice() = default;
    virtual Numbers solve(Index problem) = 0;
  };

  virtual ~BackgroundProblems() = default;
  virtual std::unique_ptr<OnDevice> prepare(solvers::Device& device) const = 0;
  /// By OpenBLAS or LAPACK. Like OnDevice::solve, throws std::runtime_error where there is no answer (a zero pivot).
  virtual Numbers solve_on_host(Index problem) const = 0;
  /// Whoever the answer is from, to be judged by tolerance(); not a number where the answer holds such.
  virtual double error_of(Index problem, const Numbers& answer) const = 0;
  virtual double tolerance() const = 0;
};

struct BackgroundOperation {
  const char* name;
  const char* summary;  // what a system is: "a product of two matrices of order N"
  const char* against;  // what the error is measured by
  std::unique_ptr<BackgroundProblems> (*make)(Index count, Index n, std::uint64_t seed, int threads);
  /// Floating-point operations of a problem.
  double (*flops)(Index n);
  /// Floats that a problem and its answer take.
  double (*numbers)(Index n);
  /// Why the device cannot hold a problem; empty where nothing is known against it.
  std::string (*obstacle)(const gl::DeviceDescription& device, Index n);
};

/// The first one is the default.
std::span<const BackgroundOperation> background_operations();

}  // namespace glinpack::app
