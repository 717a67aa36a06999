// An invocation solves a system by Thomas's algorithm: a given one, or a part of one after steps of parallel cyclic
// reduction.
#include <algorithm>
#include <array>

#include "solvers/tridiagonal/tridiagonal_batches.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index most_work_groups = 65535;  // of a dispatch in each direction: what GL 4.5 guarantees
constexpr Index whole_group = 64;          // of tridiagonal_whole.comp, unless given
constexpr Index reduction_group = 128;     // of cyclic_reduction.comp
constexpr Index enough_parts = 16384;      // systems, one per invocation, that occupy a large GPU

template <class Real>
gl::Program real_program(const Device& device, const char* name, Index group, const char* define, bool value) {
  return device.compute_program(name, definition("GROUP", group) +
                                          definition("DOUBLE", precision_of<Real> == Precision::double_) +
                                          definition(define, value));
}

/// `parts`: equations i of a system with equal i mod parts are a system, at most n. Reads bindings 0 to 3, writes 4 and
/// 6; `multipliers` is work space of the size of the solution.
template <class Real>
void solve_whole(Device& device, const gl::Program& program, Index group, const BatchLayout& layout, Index parts,
                 const DeviceArray<Real>& multipliers) {
  multipliers.bind(5);
  program.set(0, to_int(layout.count), to_int(layout.n));
  program.set(1, to_int(layout.system_stride()), to_int(layout.equation_stride()));
  program.set(2, to_int(parts));
  device.dispatch(program, groups_for(layout.count * parts, group));
}

template <class Real>
struct WholeSystems {
  WholeSystems(Device& on, const BatchLayout& largest, const TridiagonalSettings& settings)
      : device(on),
        group(settings.group.value_or(whole_group)),
        program(real_program<Real>(on, "solvers/tridiagonal_whole.comp", group, "NORMALIZED", false)),
        multipliers(on, largest.elements()) {}

  void compute(const TridiagonalBatch<Real>& batch) {
    solve_whole(device, program, group, batch.layout, 1, multipliers);
  }

  Device& device;
  Index group;
  gl::Program program;
  DeviceArray<Real> multipliers;
};

template <class Real>
struct CyclicReduction {
  struct ReducedSystems {
    ReducedSystems(Device& device, Index elements)
        : lower(device, elements), upper(device, elements), right(device, elements) {}
    DeviceArray<Real> lower, upper, right;
  };

  CyclicReduction(Device& on, const BatchLayout& largest, const TridiagonalSettings& settings)
      : device(on),
        steps(*settings.steps),
        group(settings.group.value_or(reduction_group)),
        parts_group(settings.group.value_or(whole_group)),
        whole(real_program<Real>(on, "solvers/tridiagonal_whole.comp", parts_group, "NORMALIZED", steps > 0)),
        reduced{ReducedSystems(on, largest.elements()), ReducedSystems(on, largest.elements())} {
    for (const bool first : {false, true}) {
      programs[first] = real_program<Real>(on, "solvers/cyclic_reduction.comp", group, "FIRST", first);
    }
  }

  void compute(const TridiagonalBatch<Real>& batch) {
    Index distance = 1;
    for (Index step = 0; step < steps; ++step, distance *= 2) reduce(batch.layout, step, distance);
    batch.solution.bind(4);
    // one of the two alternating sets of arrays is free
    solve_whole(device, whole, parts_group, batch.layout, std::min(distance, batch.layout.n),
                reduced[static_cast<std::size_t>(steps % 2)].lower);
  }

  void reduce(const BatchLayout& layout, Index step, Index distance) {
    const ReducedSystems& to = reduced[static_cast<std::size_t>(step % 2)];
    to.lower.bind(4);
    to.upper.bind(5);
    to.right.bind(7);
    const gl::Program& program = programs[step == 0];
    program.set(0, to_int(layout.count), to_int(layout.n));
    program.set(1, to_int(distance));
    device.dispatch(program, groups_for(layout.n, group), layout.count);
    to.lower.bind(0);
    to.upper.bind(2);
    to.right.bind(3);
  }

  Device& device;
  Index steps;
  Index group;                          // of reductions
  Index parts_group;                    // of the systems that are left
  std::array<gl::Program, 2> programs;  // of later steps, of the first step
  gl::Program whole;
  std::array<ReducedSystems, 2> reduced;
};

}  // namespace

Index groups_for(Index invocations, Index group) {
  return std::min(most_work_groups, (invocations + group - 1) / group);
}

Index systems_of_a_batch(const DeviceDescription& device, const TridiagonalSettings& settings, Precision precision,
                         Index elements_of_a_system) {
  constexpr Index largest_index = std::numeric_limits<std::int32_t>::max();  // shaders count in 32 bits
  const auto bytes = static_cast<Index>(factor_bytes(precision));
  const Index most = std::min({device.storage_block / bytes, largest_index, settings.elements.value_or(largest_index)});
  return std::min(most_work_groups, most / elements_of_a_system);
}

template <class Real>
Steps make_whole_systems(Device& device, const TridiagonalOperands<Real>& operands,
                         const TridiagonalSettings& settings) {
  const Index n = operands.systems->n;
  return batched_steps<Real, WholeSystems<Real>>(
      device, operands, settings, {.count = operands.systems->count, .n = n, .padded = n, .interleaved = true});
}

Index reduction_steps(const TridiagonalSettings& settings, Index count, Index n) {
  Index steps = 0;
  for (Index parts = 1; parts < n; parts *= 2, ++steps) {
    if (settings.steps ? steps >= *settings.steps : count * parts >= enough_parts) break;
  }
  return steps;
}

template <class Real>
Steps make_cyclic_reduction(Device& device, const TridiagonalOperands<Real>& operands,
                            const TridiagonalSettings& settings) {
  const auto& [systems, solution] = operands;
  TridiagonalSettings with_steps = settings;
  with_steps.steps = reduction_steps(settings, systems->count, systems->n);
  return batched_steps<Real, CyclicReduction<Real>>(device, operands, with_steps,
                                                    {.count = systems->count, .n = systems->n, .padded = systems->n});
}

template Steps make_whole_systems(Device&, const TridiagonalOperands<float>&, const TridiagonalSettings&);
template Steps make_whole_systems(Device&, const TridiagonalOperands<double>&, const TridiagonalSettings&);
template Steps make_cyclic_reduction(Device&, const TridiagonalOperands<float>&, const TridiagonalSettings&);
template Steps make_cyclic_reduction(Device&, const TridiagonalOperands<double>&, const TridiagonalSettings&);

}  // namespace glinpack::solvers
