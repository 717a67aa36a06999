// What the compute shaders for tridiagonal systems have in common: systems in arrays on the device, as many at a time
// as a storage block holds.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "solvers/device/device_array.hpp"
#include "solvers/device/packing.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"

namespace glinpack::solvers {

/// Calls body(system, first equation, end) for blocks of all equations of all systems, on several threads if there are
/// many. Data that is read system by system and written equation by equation, or the reverse, stays in cache.
template <class Body>
void for_system_blocks(Index systems, Index equations, Body body) {
  constexpr Index block = 64;
  for_rows((systems + block - 1) / block, block * equations, [&](Index begin, Index end) {
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

/// Systems that are solved in one dispatch, in arrays with the same bindings in all shaders.
template <class Real>
struct TridiagonalBatch {
  TridiagonalBatch(Device& device, const BatchLayout& of)
      : layout(of),
        lower(device, of.elements()),
        diagonal(device, of.elements()),
        upper(device, of.elements()),
        right(device, of.elements()),
        solution(device, of.elements()),
        status(device, of.count) {}

  /// The systems from `first` on. Stages pack and upload.
  void load(const TridiagonalSystems<Real>& systems, Index first) {
    load(lower, systems.lower, first, Real{0});
    load(diagonal, systems.diagonal, first, Real{1});
    load(upper, systems.upper, first, Real{0});
    load(right, systems.right, first, Real{0});
  }
  /// Clears the status and binds the arrays.
  void begin() {
    status.clear();
    lower.bind(0);
    diagonal.bind(1);
    upper.bind(2);
    right.bind(3);
    solution.bind(4);
    status.bind(6);
  }
  /// Stages download and unpack. The zero pivot's system counts from the first of the batch.
  std::optional<ZeroPivot> store(Real* to) {
    solution.download(layout.elements(), [&](const Real* mapped) {
      for_system_blocks(layout.count, layout.n, [&](Index s, Index begin, Index end) {
        const Real* const source = mapped + s * layout.system_stride();
        for (Index i = begin; i < end; ++i) to[s * layout.n + i] = source[i * layout.equation_stride()];
      });
    });
    std::vector<std::int32_t> found(static_cast<std::size_t>(layout.count));
    status.download(found);
    const auto zero = std::find_if(found.begin(), found.end(), [](std::int32_t value) { return value != 0; });
    if (zero == found.end()) return std::nullopt;
    return ZeroPivot{zero - found.begin(), Index{std::numeric_limits<std::int32_t>::max()} - *zero};
  }

  void load(DeviceArray<Real>& array, const std::vector<Real>& elements, Index first, Real padding) {
    array.upload(layout.elements(), [&](Real* mapped) {
      for_system_blocks(layout.count, layout.padded, [&](Index s, Index begin, Index end) {
        const Real* const from = elements.data() + (first + s) * layout.n;
        Real* const target = mapped + s * layout.system_stride();
        for (Index i = begin; i < end; ++i) target[i * layout.equation_stride()] = i < layout.n ? from[i] : padding;
      });
    });
  }

  BatchLayout layout;
  DeviceArray<Real> lower, diagonal, upper, right, solution;
  DeviceArray<std::int32_t> status;
};

/// The number of systems of `elements_of_a_system` elements in a batch, limited by storage blocks and work groups. 0 if
/// not even one fits.
Index systems_of_a_batch(const DeviceDescription& device, const TridiagonalSettings& settings, Precision precision,
                         Index elements_of_a_system);

/// Solves batch by batch. Kernel: its programs and work space, of the largest batch; compute(batch) issues the commands
/// after batch.begin().
template <class Real, class Kernel>
struct BatchedTridiagonal {
  BatchedTridiagonal(Device& on, const TridiagonalOperands<Real>& of, const TridiagonalSettings& settings,
                     const BatchLayout& all)
      : device(on),
        operands(of),
        largest(largest_of(all, systems_of_a_batch(on.description(), settings, precision_of<Real>, all.padded))),
        kernel(on, largest, settings) {
    for (Index first = 0; first < all.count; first += largest.count) {
      BatchLayout layout = largest;
      layout.count = std::min(largest.count, all.count - first);
      batches.push_back(std::make_unique<TridiagonalBatch<Real>>(on, layout));
    }
  }

  void load() {
    Index first = 0;
    for (const auto& batch : batches) {
      batch->load(*operands.systems, first);
      first += batch->layout.count;
    }
  }
  void compute() {
    device.measure(Stage::compute, [&] {
      for (const auto& batch : batches) {
        batch->begin();
        kernel.compute(*batch);
      }
    });
  }
  void store() {
    std::optional<ZeroPivot> first_zero;
    Index first = 0;
    for (const auto& batch : batches) {
      const std::optional<ZeroPivot> zero = batch->store(operands.solution.data() + first * batch->layout.n);
      if (zero && !first_zero) first_zero = ZeroPivot{first + zero->system, zero->equation};
      first += batch->layout.count;
    }
    check_pivots(first_zero);
  }

  static BatchLayout largest_of(BatchLayout layout, Index most) {
    layout.count = std::min(layout.count, most);
    return layout;
  }

  Device& device;
  const TridiagonalOperands<Real>& operands;
  BatchLayout largest;
  Kernel kernel;
  std::vector<std::unique_ptr<TridiagonalBatch<Real>>> batches;
};

template <class Real, class Kernel>
Steps batched_steps(Device& device, const TridiagonalOperands<Real>& operands, const TridiagonalSettings& settings,
                    const BatchLayout& all) {
  return steps_of(device.clock(), std::make_shared<BatchedTridiagonal<Real, Kernel>>(device, operands, settings, all));
}

/// Work groups for `invocations` invocations, at most what GL guarantees: shaders loop if there are fewer.
Index groups_for(Index invocations, Index group);

// The variants that make_tridiagonal() selects from.
template <class Real>
Steps make_whole_systems(Device& device, const TridiagonalOperands<Real>& operands,
                         const TridiagonalSettings& settings);
template <class Real>
Steps make_pieces(Device& device, const TridiagonalOperands<Real>& operands, const TridiagonalSettings& settings);
template <class Real>
Steps make_cyclic_reduction(Device& device, const TridiagonalOperands<Real>& operands,
                            const TridiagonalSettings& settings);
/// `tile`: the most systems and equations in a texture.
Steps draw_tridiagonal(Device& device, const TridiagonalOperands<float>& operands, Index tile);

/// The steps of cyclic reduction for the settings: at most until every part is one equation.
Index reduction_steps(const TridiagonalSettings& settings, Index count, Index n);

}  // namespace glinpack::solvers
