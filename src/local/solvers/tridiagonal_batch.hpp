// What the compute shaders for tridiagonal systems have in common: systems in arrays on the device, as many at a time
// as a storage block holds.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "local/solvers/device_array.hpp"
#include "local/solvers/tridiagonal.hpp"

namespace glinpack::solvers {

/// Where a system's equations lie: element (system s, equation i) at s * system_stride + i * equation_stride. Systems
/// that follow each other may be padded, equation_stride being 1; interleaved ones have system_stride 1.
struct BatchLayout {
  Index count = 0;   // systems
  Index n = 0;       // equations
  Index padded = 0;  // equations with padding, x = 0
  bool interleaved = false;

  Index system_stride() const { return interleaved ? 1 : padded; }
  Index equation_stride() const { return interleaved ? count : 1; }
  Index elements() const { return count * padded; }
};

/// The arrays that all of the shaders know by the same bindings.
template <class Real>
class EquationArrays {
 public:
  EquationArrays(Device& device, const BatchLayout& layout);

  /// The systems from `first` on. Stages pack and upload.
  void load(const TridiagonalSystems<Real>& systems, Index first);
  /// No zero pivots, and the arrays in their places: 0 lower, 1 diagonal, 2 upper, 3 right, 4 solution, 6 status.
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

/// Systems that are solved at a time.
template <class Real>
class TridiagonalBatch {
 public:
  TridiagonalBatch(Device& device, const BatchLayout& layout) : arrays(device, layout) {}
  virtual ~TridiagonalBatch() = default;
  /// Gives the commands; arrays.begin() has been called.
  virtual void compute() = 0;

  EquationArrays<Real> arrays;
};

/// How many systems of so many elements go into a batch: what storage blocks and the number of work groups allow. 0:
/// not even one.
Index systems_of_a_batch(const gl::DeviceDescription& device, const TridiagonalSettings& settings, Precision precision,
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

/// make(layout) for each batch, the layout's count being the batch's.
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

/// Work groups for so many invocations, no more than every device has: shaders go on where there are fewer.
Index groups_for(Index invocations, Index group);

}  // namespace glinpack::solvers
