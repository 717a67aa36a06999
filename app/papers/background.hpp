// `glinpack-papers background` (docs/papers/coprocessor.md): problems that the host and, in the background, a device
// solve together. A new kind of problem is a function and an entry of background_operations(), in
// background_problems.cpp.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/papers/study.hpp"
#include "solvers/device/device.hpp"
#include "solvers/device/texture_matrix.hpp"

namespace glinpack::app {

/// The parameters of a set of problems.
struct BackgroundSource {
  Index count = 0;
  Index n = 0;
  std::uint64_t seed = 1;
  int threads = 1;  // of the host
  solvers::ShaderKind shaders = solvers::ShaderKind::compute;
  /// The n x n matrix A of every problem, row-major; empty: a random one for each. All other input is random.
  std::vector<float> matrix = {};
};

/// A problem's result, in the layout of its kind.
struct BackgroundAnswer {
  std::vector<float> numbers = {};
  // of factors: row i of P A is row row_order[i] of A; LAPACK's factors are column-major
  std::vector<Index> row_order = {};
  bool by_columns = false;
};

/// Problems 0 ... count - 1 of one kind and size. Several threads may call the functions at the same time.
struct BackgroundProblems {
  using Solve = std::function<BackgroundAnswer(Index problem)>;

  /// Returns the device's solver. The thread that owns the device creates, uses and destroys it. Solving includes
  /// packing and transfer. It throws NoResult, and std::runtime_error if the device fails.
  std::function<Solve(solvers::Device&)> prepare;
  /// Solves with OpenBLAS or LAPACK. Throws NoResult.
  Solve solve_on_host;
  /// The error of a host or device answer, to be compared with tolerance; not finite if the answer is not.
  std::function<double(Index problem, const BackgroundAnswer&)> error_of;
  double tolerance = 0;
  /// The matrix that --output writes.
  std::function<DenseMatrix(const BackgroundAnswer&)> matrix_of;
};

struct BackgroundOperation {
  const char* name;
  const char* summary;  // what a system is: "a product of two matrices of order N"
  const char* against;  // the reference of the error
  BackgroundProblems (*make)(const BackgroundSource& source);
  /// Floating-point operations of a problem.
  double (*flops)(Index n);
  /// Floats that a problem and its answer take.
  double (*numbers)(Index n);
  /// Why the device cannot hold a problem; empty if no limit is known.
  std::string (*obstacle)(const DeviceDescription& device, Index n, solvers::ShaderKind kind);
  /// True if elements off the three diagonals of A are refused.
  bool tridiagonal = false;
};

/// The first one is the default.
std::span<const BackgroundOperation> background_operations();

struct BackgroundOptions : ModeOptions {
  Index systems = 30;  // as in the paper's figure 5
  const BackgroundOperation* operation = &background_operations().front();
  bool raster = false;          // --variant raster: the paper's fragment shaders
  std::optional<double> ratio;  // unset: measured, and adjusted during the run
};

inline solvers::ShaderKind shaders_of(const BackgroundOptions& options) {
  return options.raster ? solvers::ShaderKind::fragment : solvers::ShaderKind::compute;
}

OptionTable background_table(BackgroundOptions& options);
/// Precedence: command line, file, default. Throws InputError.
BackgroundOptions parse_background_options(const Texts& arguments);
Study background_study(const BackgroundOptions& options);

}  // namespace glinpack::app
