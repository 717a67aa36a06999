// The variants that make_tridiagonal_solver() selects from. What the compute shaders have in common: systems in arrays
// on the device, as many at a time as a storage block holds.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/threads.hpp"
#include "solvers/device/device_array.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"

namespace glinpack::solvers {

/// Calls body(system, first equation, end) for blocks of all equations of all systems, on several threads if there are
/// many. Data that is read system by system and written equation by equation, or the reverse, stays in cache.
template <class Body>
void for_system_blocks(Index systems, Index equations, Body body) {
  constexpr Index block = 64, grain = 1 << 18;  // least elements per thread
  const int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const Index bands = (systems + block - 1) / block;
  parallel_for(threads, bands, std::max<Index>(1, grain / (block * equations)), [&](Index begin, Index end) {
    for (Index first = begin * block; first < std::min(systems, end * block); first += block) {
      for (Index i = 0; i < equations; i += block) {
        for (Index s = first; s < std::min(systems, first + block); ++s) body(s, i, std::min(equations, i + block));
      }
    }
  });
}

/// The layout of equations: element (system s, equation i) at s * system_stride + i * equation_stride. Consecutive
/// systems have equation_stride 1 and may be padded; interleaved ones have system_stride 1.
struct BatchLayout {
  Index count = 0;   // systems
  Index n = 0;       // equations
  Index padded = 0;  // equations with padding, x = 0
  bool interleaved = false;

  Index system_stride() const { return interleaved ? 1 : padded; }
  Index equation_stride() const { return interleaved ? count : 1; }
  Index elements() const { return count * padded; }
};

/// The arrays with the same bindings in all shaders.
template <class Real>
class EquationArrays {
 public:
  EquationArrays(Device& device, const BatchLayout& layout);

  /// The systems from `first` on. Stages pack and upload.
  void load(const TridiagonalSystems<Real>& systems, Index first);
  /// Clears the status and binds the arrays: 0 lower, 1 diagonal, 2 upper, 3 right, 4 solution, 6 status.
  void begin();
  /// Stages download and unpack. The zero pivot's system counts from the first of the batch.
  std::optional<ZeroPivot> store(std::span<Real> solution);

  const BatchLayout& layout() const { return layout_; }
  Device& device() { return *device_; }
  const DeviceArray<Real>& lower() const { return lower_; }
  const DeviceArray<Real>& upper() const { return upper_; }
  const DeviceArray<Real>& right() const { return right_; }
  const DeviceArray<Real>& solution() const { return solution_; }

 private:
  void load(DeviceArray<Real>& array, const std::vector<Real>& elements, Index first, Real padding);

  Device* device_;
  BatchLayout layout_;
  DeviceArray<Real> lower_;
  DeviceArray<Real> diagonal_;
  DeviceArray<Real> upper_;
  DeviceArray<Real> right_;
  DeviceArray<Real> solution_;
  DeviceArray<std::int32_t> status_;
};

/// Systems that are solved in one dispatch.
template <class Real>
class TridiagonalBatch {
 public:
  TridiagonalBatch(Device& device, const BatchLayout& layout) : arrays(device, layout) {}
  virtual ~TridiagonalBatch() = default;
  /// Issues the commands, after arrays.begin().
  virtual void compute() = 0;

  EquationArrays<Real> arrays;
};

/// The number of systems of `elements_of_a_system` elements in a batch, limited by storage blocks and work groups. 0 if
/// not even one fits.
Index systems_of_a_batch(const DeviceDescription& device, const TridiagonalSettings& settings, Precision precision,
                         Index elements_of_a_system);

/// Solves batch by batch.
template <class Real>
class BatchedTridiagonal final : public TridiagonalSolver<Real> {
 public:
  using Batches = std::vector<std::unique_ptr<TridiagonalBatch<Real>>>;
  BatchedTridiagonal(Device& device, Batches batches) : device_(device), batches_(std::move(batches)) {}

  void load(const TridiagonalSystems<Real>& systems) override;
  void compute() override;
  std::optional<ZeroPivot> store(std::span<Real> solution) override;

 private:
  Device& device_;
  Batches batches_;
};

/// Calls make(layout) for each batch, with the batch's count.
template <class Real, class Make>
std::unique_ptr<TridiagonalSolver<Real>> make_batches(Device& device, const TridiagonalSettings& settings,
                                                      BatchLayout all, Make make) {
  const Index most = systems_of_a_batch(device.description(), settings, precision_of<Real>, all.padded);
  typename BatchedTridiagonal<Real>::Batches batches;
  for (Index first = 0; first < all.count; first += most) {
    BatchLayout layout = all;
    layout.count = std::min(most, all.count - first);
    batches.push_back(make(layout));
  }
  return std::make_unique<BatchedTridiagonal<Real>>(device, std::move(batches));
}

/// Work groups for `invocations` invocations, at most what GL guarantees: shaders loop if there are fewer.
Index groups_for(Index invocations, Index group);

/// Thomas's algorithm, one system per invocation (tridiagonal_whole.comp).
template <class Real>
class WholeSystems {
 public:
  /// `normalized`: the diagonal is 1 and not read.
  WholeSystems(const Device& device, bool normalized);
  /// `parts`: equations i of a system with equal i mod parts are a system, at most n. Reads bindings 0 to 3, writes 4
  /// and 6; `multipliers` is work space of the size of the solution.
  void solve(Device& device, const BatchLayout& layout, Index parts, const DeviceArray<Real>& multipliers) const;

 private:
  gl::Program program_;
};

template <class Real>
std::unique_ptr<TridiagonalSolver<Real>> make_whole_systems(Device& device, Index count, Index n,
                                                            const TridiagonalSettings& settings);

template <class Real>
std::unique_ptr<TridiagonalSolver<Real>> make_pieces(Device& device, Index count, Index n,
                                                     const TridiagonalSettings& settings);

template <class Real>
std::unique_ptr<TridiagonalSolver<Real>> make_cyclic_reduction(Device& device, Index count, Index n, Index steps,
                                                               const TridiagonalSettings& settings);

/// The steps of cyclic reduction for the settings: at most until every part is one equation.
Index reduction_steps(const TridiagonalSettings& settings, Index count, Index n);

/// `tile`: the most systems and equations in a texture.
std::unique_ptr<TridiagonalSolver<float>> make_drawn_tridiagonal(Device& device, Index count, Index n, Index tile);

}  // namespace glinpack::solvers
