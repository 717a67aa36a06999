// Tridiagonal systems by compute shaders: systems in arrays on the device, as many at a time as a storage block holds.
// An invocation solves a system by Thomas's algorithm, a given one or a part of one after steps of parallel cyclic
// reduction; or the pieces of systems are reduced, level by level.
#include "solvers/tridiagonal/tridiagonal_batches.hpp"

#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <vector>

#include "solvers/device/device_array.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index max_work_groups = 65535;  // of a dispatch in each direction: what GL 4.5 guarantees
constexpr Index whole_group = 64;         // of tridiagonal_whole.comp, unless given
constexpr Index reduction_group = 128;    // of cyclic_reduction.comp
constexpr Index enough_parts = 16384;     // systems, one per invocation, that occupy a large GPU

/// Work groups for `invocations` invocations, at most what GL guarantees: shaders loop if there are fewer.
Index groups_for(Index invocations, Index group) { return std::min(max_work_groups, divide_up(invocations, group)); }

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

/// What a reduction reads and writes: all but the diagonal, which is 1 afterwards.
template <class Real>
struct SystemArrays {
  SystemArrays(Device& device, Index elements)
      : lower(device, elements), upper(device, elements), right(device, elements) {}
  void bind_read() const {
    lower.bind(0);
    upper.bind(2);
    right.bind(3);
  }
  void bind_written() const {
    lower.bind(4);
    upper.bind(5);
    right.bind(7);
  }
  DeviceArray<Real> lower, upper, right;
};

/// Systems that are solved in one dispatch, in arrays with the same bindings in all shaders.
template <class Real>
struct TridiagonalBatch {
  TridiagonalBatch(Device& device, const BatchLayout& of)
      : layout(of),
        systems(device, of.elements()),
        diagonal(device, of.elements()),
        solution(device, of.elements()),
        status(device, of.count) {}

  /// The systems from `first` on. Stages pack and upload.
  void load(const TridiagonalSystems<Real>& from, Index first) {
    load(systems.lower, from.lower, first, Real{0});
    load(diagonal, from.diagonal, first, Real{1});
    load(systems.upper, from.upper, first, Real{0});
    load(systems.right, from.right, first, Real{0});
  }
  /// Clears the status and binds the arrays.
  void begin() {
    status.clear();
    systems.bind_read();
    diagonal.bind(1);
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
  SystemArrays<Real> systems;
  DeviceArray<Real> diagonal, solution;
  DeviceArray<std::int32_t> status;
};

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

  static BatchLayout largest_of(BatchLayout layout, Index max_count) {
    layout.count = std::min(layout.count, max_count);
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

template <class Real>
gl::Program real_program(const Device& device, const char* name, Index group, const char* choice, bool value) {
  return device.compute_program(
      name,
      define("GROUP", group) + define("DOUBLE", precision_of<Real> == Precision::double_) + define(choice, value));
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
  CyclicReduction(Device& on, const BatchLayout& largest, const TridiagonalSettings& settings)
      : device(on),
        steps(*settings.steps),
        group(settings.group.value_or(reduction_group)),
        parts_group(settings.group.value_or(whole_group)),
        whole(real_program<Real>(on, "solvers/tridiagonal_whole.comp", parts_group, "NORMALIZED", steps > 0)),
        reduced{SystemArrays<Real>(on, largest.elements()), SystemArrays<Real>(on, largest.elements())} {
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
    const SystemArrays<Real>& to = reduced[static_cast<std::size_t>(step % 2)];
    to.bind_written();
    const gl::Program& program = programs[step == 0];
    program.set(0, to_int(layout.count), to_int(layout.n));
    program.set(1, to_int(distance));
    device.dispatch(program, groups_for(layout.n, group), layout.count);
    to.bind_read();
  }

  Device& device;
  Index steps;
  Index group;                          // of reductions
  Index parts_group;                    // of the systems that are left
  std::array<gl::Program, 2> programs;  // of later steps, of the first step
  gl::Program whole;
  std::array<SystemArrays<Real>, 2> reduced;
};

constexpr Index level_group = 128;  // tridiagonal_level.comp's

// Pieces of a work group, limited by registers.
constexpr Index max_pieces_of(Precision precision) { return precision == Precision::double_ ? 256 : 512; }
constexpr Index usual_group = 128;  // invocations, if systems are short and no number is given

/// The extents of a level: the original systems, or the systems after some reductions.
struct LevelExtents {
  Index pieces = 0;  // of a system
  Index equations() const { return pieces * piece_equations; }
  LevelExtents next() const { return {divide_up(2 * pieces, piece_equations)}; }
};

template <class Real>
struct Level {
  Level(Device& device, Index elements) : systems(device, elements), solution(device, elements) {}
  SystemArrays<Real> systems;
  DeviceArray<Real> solution;
};

template <class Real>
struct Pieces {
  Pieces(Device& on, const BatchLayout& largest, const TridiagonalSettings& settings) : device(on) {
    const Index max_pieces = max_pieces_of(precision_of<Real>);
    extents.push_back({divide_up(largest.n, piece_equations)});
    while (extents.back().pieces > max_pieces) {
      extents.push_back(extents.back().next());
      levels.emplace_back(on, largest.count * extents.back().equations());
    }
    const auto invocations = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(extents.back().pieces)));
    systems = std::clamp<Index>(settings.group.value_or(usual_group) / invocations, 1, largest.count);
    const std::string types = define("DOUBLE", precision_of<Real> == Precision::double_);
    const auto level_program = [&](bool normalized, bool expanding) {
      return on.compute_program("solvers/tridiagonal_level.comp",
                                types + define("NORMALIZED", normalized) + define("EXPAND", expanding));
    };
    solve = on.compute_program(
        "solvers/tridiagonal_pieces.comp",
        types + define("NORMALIZED", !levels.empty()) + define("PIECES", invocations) + define("SYSTEMS", systems));
    for (const bool normalized : {false, true}) {
      if (levels.size() < (normalized ? 2 : 1)) continue;
      reduce_level[normalized] = level_program(normalized, false);
      expand_level[normalized] = level_program(normalized, true);
    }
  }

  void compute(const TridiagonalBatch<Real>& batch) {
    for (std::size_t k = 0; k < levels.size(); ++k) reduce(batch, k);
    bind_equations(batch, levels.size());
    solution_of(batch, levels.size()).bind(4);
    set(solve, batch, levels.size());
    device.dispatch(solve, 1, divide_up(batch.layout.count, systems));
    for (std::size_t k = levels.size(); k-- > 0;) expand(batch, k);
  }

  const DeviceArray<Real>& solution_of(const TridiagonalBatch<Real>& batch, std::size_t k) const {
    return k == 0 ? batch.solution : levels[k - 1].solution;
  }
  void bind_equations(const TridiagonalBatch<Real>& batch, std::size_t k) const {
    (k == 0 ? batch.systems : levels[k - 1].systems).bind_read();
  }
  void set(const gl::Program& program, const TridiagonalBatch<Real>& batch, std::size_t k) const {
    program.set(0, to_int(batch.layout.count), to_int(extents[k].pieces));
    program.set(2, static_cast<GLint>(k));
  }
  void dispatch_level(const gl::Program& program, const TridiagonalBatch<Real>& batch, std::size_t k, Index pieces) {
    set(program, batch, k);
    program.set(1, to_int(extents[k + 1].equations() / 2));
    device.dispatch(program, groups_for(pieces, level_group), batch.layout.count);
  }
  void reduce(const TridiagonalBatch<Real>& batch, std::size_t k) {
    bind_equations(batch, k);
    levels[k].systems.bind_written();
    dispatch_level(reduce_level[k > 0], batch, k, extents[k + 1].equations() / 2);
  }
  void expand(const TridiagonalBatch<Real>& batch, std::size_t k) {
    bind_equations(batch, k);
    solution_of(batch, k).bind(4);
    solution_of(batch, k + 1).bind(5);
    dispatch_level(expand_level[k > 0], batch, k, extents[k].pieces);
  }

  Device& device;
  std::vector<LevelExtents> extents;  // of the systems given, and of levels; the last is solved by a work group
  std::vector<Level<Real>> levels;
  Index systems = 1;  // of a work group
  gl::Program solve;
  std::array<gl::Program, 2> reduce_level;  // of the systems given, and of a level with 1 on its diagonal
  std::array<gl::Program, 2> expand_level;
};

}  // namespace

Index systems_of_a_batch(const DeviceDescription& device, const TridiagonalSettings& settings, Precision precision,
                         Index elements_of_a_system) {
  constexpr Index largest_index = std::numeric_limits<std::int32_t>::max();  // shaders count in 32 bits
  const auto bytes = static_cast<Index>(factor_bytes(precision));
  const Index max_elements =
      std::min({device.storage_block / bytes, largest_index, settings.elements.value_or(largest_index)});
  return std::min(max_work_groups, max_elements / elements_of_a_system);
}

Index reduction_steps(const TridiagonalSettings& settings, Index count, Index n) {
  Index steps = 0;
  for (Index parts = 1; parts < n; parts *= 2, ++steps) {
    if (settings.steps ? steps >= *settings.steps : count * parts >= enough_parts) break;
  }
  return steps;
}

template <class Real>
Steps make_batched(Device& device, const TridiagonalOperands<Real>& operands, const TridiagonalSettings& settings,
                   bool pieces) {
  const Index n = operands.systems->n, count = operands.systems->count;
  if (pieces) {
    return batched_steps<Real, Pieces<Real>>(device, operands, settings,
                                             {.count = count, .n = n, .padded = round_up(n, piece_equations)});
  }
  if (settings.variant == TridiagonalVariant::compute) {
    return batched_steps<Real, WholeSystems<Real>>(device, operands, settings,
                                                   {.count = count, .n = n, .padded = n, .interleaved = true});
  }
  TridiagonalSettings with_steps = settings;
  with_steps.steps = reduction_steps(settings, count, n);
  return batched_steps<Real, CyclicReduction<Real>>(device, operands, with_steps,
                                                    {.count = count, .n = n, .padded = n});
}

template Steps make_batched(Device&, const TridiagonalOperands<float>&, const TridiagonalSettings&, bool);
template Steps make_batched(Device&, const TridiagonalOperands<double>&, const TridiagonalSettings&, bool);

}  // namespace glinpack::solvers
