#include <algorithm>
#include <array>
#include <bit>

#include "solvers/tridiagonal/tridiagonal_batches.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index level_group = 128;  // tridiagonal_level.comp's

// Pieces of a work group, limited by registers.
constexpr Index most_pieces(Precision precision) { return precision == Precision::double_ ? 256 : 512; }
constexpr Index usual_group = 128;  // invocations, if systems are short and no number is given

constexpr Index pieces_of(Index equations) { return (equations + piece_equations - 1) / piece_equations; }

/// The extents of a level: the original systems, or the systems after some reductions.
struct LevelExtents {
  Index pieces = 0;  // of a system
  Index equations() const { return pieces * piece_equations; }
  LevelExtents next() const { return {pieces_of(2 * pieces)}; }
};

/// The systems after a reduction.
template <class Real>
struct Level {
  Level(Device& device, Index elements)
      : lower(device, elements), upper(device, elements), right(device, elements), solution(device, elements) {}
  DeviceArray<Real> lower, upper, right, solution;
};

template <class Real>
struct Pieces {
  Pieces(Device& on, const BatchLayout& largest, const TridiagonalSettings& settings) : device(on) {
    const Index most = most_pieces(precision_of<Real>);
    extents.push_back({pieces_of(largest.n)});
    while (extents.back().pieces > most) {
      extents.push_back(extents.back().next());
      levels.emplace_back(on, largest.count * extents.back().equations());
    }
    const auto invocations = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(extents.back().pieces)));
    systems = std::clamp<Index>(settings.group.value_or(usual_group) / invocations, 1, largest.count);
    const std::string types = definition("DOUBLE", precision_of<Real> == Precision::double_);
    const auto level_program = [&](bool normalized, bool expanding) {
      return on.compute_program("solvers/tridiagonal_level.comp",
                                types + definition("NORMALIZED", normalized) + definition("EXPAND", expanding));
    };
    solve = on.compute_program("solvers/tridiagonal_pieces.comp", types + definition("NORMALIZED", !levels.empty()) +
                                                                      definition("PIECES", invocations) +
                                                                      definition("SYSTEMS", systems));
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
    device.dispatch(solve, 1, (batch.layout.count + systems - 1) / systems);
    for (std::size_t k = levels.size(); k-- > 0;) expand(batch, k);
  }

  const DeviceArray<Real>& solution_of(const TridiagonalBatch<Real>& batch, std::size_t k) const {
    return k == 0 ? batch.solution : levels[k - 1].solution;
  }
  void bind_equations(const TridiagonalBatch<Real>& batch, std::size_t k) const {
    (k == 0 ? batch.lower : levels[k - 1].lower).bind(0);
    (k == 0 ? batch.upper : levels[k - 1].upper).bind(2);
    (k == 0 ? batch.right : levels[k - 1].right).bind(3);
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
    levels[k].lower.bind(4);
    levels[k].upper.bind(5);
    levels[k].right.bind(7);
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

template <class Real>
Steps make_pieces(Device& device, const TridiagonalOperands<Real>& operands, const TridiagonalSettings& settings) {
  const Index n = operands.systems->n;
  return batched_steps<Real, Pieces<Real>>(
      device, operands, settings, {.count = operands.systems->count, .n = n, .padded = round_up(n, piece_equations)});
}

template Steps make_pieces(Device&, const TridiagonalOperands<float>&, const TridiagonalSettings&);
template Steps make_pieces(Device&, const TridiagonalOperands<double>&, const TridiagonalSettings&);

}  // namespace glinpack::solvers
