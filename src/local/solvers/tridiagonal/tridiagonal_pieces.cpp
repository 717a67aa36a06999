#include <algorithm>
#include <array>
#include <bit>

#include "solvers/tridiagonal/tridiagonal_variants.hpp"

namespace glinpack::solvers {
namespace {

constexpr Index level_group = 128;  // tridiagonal_level.comp's

// Pieces of a work group, limited by registers.
constexpr Index most_pieces(Precision precision) { return precision == Precision::double_ ? 256 : 512; }
constexpr Index usual_group = 128;  // invocations, if systems are short

constexpr Index pieces_of(Index equations) { return (equations + piece_equations - 1) / piece_equations; }

/// The extents of a level: the original systems, or the systems after some reductions.
struct LevelExtents {
  Index pieces = 0;  // of a system
  Index equations() const { return pieces * piece_equations; }
  LevelExtents next() const { return {pieces_of(2 * pieces)}; }
};

template <class Real>
struct PiecePrograms {
  PiecePrograms(const Device& device, Index count, Index n) {
    const Index most = most_pieces(precision_of<Real>);
    LevelExtents extents{pieces_of(n)};
    while (extents.pieces > most) {
      levels.push_back(extents);
      extents = extents.next();
    }
    levels.push_back(extents);
    pieces = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(extents.pieces)));
    systems = std::clamp<Index>(usual_group / pieces, 1, count);
    const std::string types = definition("DOUBLE", precision_of<Real> == Precision::double_);
    const auto level_program = [&](bool normalized, bool expand) {
      return device.compute_program("solvers/tridiagonal_level.comp",
                                    types + definition("NORMALIZED", normalized) + definition("EXPAND", expand));
    };
    solve = device.compute_program("solvers/tridiagonal_pieces.comp",
                                   types + definition("NORMALIZED", levels.size() > 1) + definition("PIECES", pieces) +
                                       definition("SYSTEMS", systems));
    for (const bool normalized : {false, true}) {
      if (levels.size() < (normalized ? 3 : 2)) continue;
      reduce[normalized] = level_program(normalized, false);
      expand[normalized] = level_program(normalized, true);
    }
  }

  std::vector<LevelExtents> levels;  // the last one is solved by a work group
  Index pieces = 1;                  // invocations of a system in it
  Index systems = 1;                 // of a work group
  gl::Program solve;
  std::array<gl::Program, 2> reduce;  // of the systems given, and of a level with 1 on its diagonal
  std::array<gl::Program, 2> expand;
};

/// The systems after a reduction.
template <class Real>
struct Level {
  Level(Device& device, Index elements)
      : lower(device, elements), upper(device, elements), right(device, elements), solution(device, elements) {}
  DeviceArray<Real> lower, upper, right, solution;
};

template <class Real>
class PieceBatch final : public TridiagonalBatch<Real> {
 public:
  PieceBatch(Device& device, const BatchLayout& layout, std::shared_ptr<const PiecePrograms<Real>> programs)
      : TridiagonalBatch<Real>(device, layout), programs_(std::move(programs)) {
    for (std::size_t k = 1; k < programs_->levels.size(); ++k) {
      levels_.emplace_back(device, layout.count * programs_->levels[k].equations());
    }
  }

  void compute() override {
    for (std::size_t k = 0; k < levels_.size(); ++k) reduce(k);
    bind_equations(levels_.size());
    solution_of(levels_.size()).bind(4);
    const gl::Program& program = programs_->solve;
    set(program, levels_.size());
    this->arrays.device().dispatch(program, 1, (count() + programs_->systems - 1) / programs_->systems);
    for (std::size_t k = levels_.size(); k-- > 0;) expand(k);
  }

 private:
  Index count() const { return this->arrays.layout().count; }
  const DeviceArray<Real>& solution_of(std::size_t k) const {
    return k == 0 ? this->arrays.solution() : levels_[k - 1].solution;
  }
  void bind_equations(std::size_t k) const {
    (k == 0 ? this->arrays.lower() : levels_[k - 1].lower).bind(0);
    (k == 0 ? this->arrays.upper() : levels_[k - 1].upper).bind(2);
    (k == 0 ? this->arrays.right() : levels_[k - 1].right).bind(3);
  }
  void set(const gl::Program& program, std::size_t k) const {
    program.set(0, static_cast<GLint>(count()), static_cast<GLint>(programs_->levels[k].pieces));
    program.set(2, static_cast<GLint>(k));
  }
  void dispatch_level(const gl::Program& program, std::size_t k, Index pieces) {
    set(program, k);
    program.set(1, static_cast<GLint>(programs_->levels[k + 1].equations() / 2));
    this->arrays.device().dispatch(program, groups_for(pieces, level_group), count());
  }
  void reduce(std::size_t k) {
    bind_equations(k);
    levels_[k].lower.bind(4);
    levels_[k].upper.bind(5);
    levels_[k].right.bind(7);
    dispatch_level(programs_->reduce[k > 0], k, programs_->levels[k + 1].equations() / 2);
  }
  void expand(std::size_t k) {
    bind_equations(k);
    solution_of(k).bind(4);
    solution_of(k + 1).bind(5);
    dispatch_level(programs_->expand[k > 0], k, programs_->levels[k].pieces);
  }

  std::shared_ptr<const PiecePrograms<Real>> programs_;
  std::vector<Level<Real>> levels_;
};

}  // namespace

template <class Real>
std::unique_ptr<TridiagonalSolver<Real>> make_pieces(Device& device, Index count, Index n,
                                                     const TridiagonalSettings& settings) {
  const auto programs = std::make_shared<const PiecePrograms<Real>>(device, count, n);
  const BatchLayout all{.count = count, .n = n, .padded = round_up(n, piece_equations), .interleaved = false};
  return make_batches<Real>(device, settings, all, [&](const BatchLayout& layout) {
    return std::make_unique<PieceBatch<Real>>(device, layout, programs);
  });
}

template std::unique_ptr<TridiagonalSolver<float>> make_pieces(Device&, Index, Index, const TridiagonalSettings&);
template std::unique_ptr<TridiagonalSolver<double>> make_pieces(Device&, Index, Index, const TridiagonalSettings&);

}  // namespace glinpack::solvers
