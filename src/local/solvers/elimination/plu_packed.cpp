// P A = L U on a device by Doolittle's method, L and U packed into one texture (Brodtkorb 2008, section 4.3), and the
// solution of A X = B with them.
//
// A step takes two columns (with EliminationVariant::plain one) and
//   1. finds the pivot (elimination.hpp), whose row the host notes for P;
//   2. draws two rows of U from the pivot row, the upper one as it is, the lower one reduced within the block, and the
//      top row at the position of the pivot row, also to the left of the pivot, which exchanges the rows of L;
//   3. draws the multipliers below, L = R U_kk^-1, and reduces what is right of them, R - L U.
// Everything is in one texture, except the two rows that are exchanged. Fragments read their own texel, and texels that
// no other fragment writes.
#include <algorithm>
#include <stdexcept>

#include "base/precision.hpp"
#include "base/row_interchanges.hpp"
#include "solvers/elimination/elimination.hpp"

namespace glinpack::solvers {
namespace {

using gl::Coordinates;

/// STEP of shaders/solvers/plu_packed.frag, from 1 on.
enum PluStep : std::uint8_t { copy, upper, multipliers, reduce, forward, forward_end, backward, backward_end };
constexpr int plu_steps = 8;

/// The rectangle's row r reads texel (r, r).
constexpr Coordinates diagonal{0, 0, 0, 0, 1, 1};

template <class Real>
struct PluSteps : EliminationSteps<Real> {
  PluSteps(Device& on, DenseSystem<Real>& of, const EliminationSettings& with)
      : EliminationSteps<Real>(on, of, with),
        factors(this->texture(this->side * block)),
        right(this->texture(std::max<Index>(1, of.b.columns))),
        solution(this->texture(right.columns())),
        passes(on, with) {
    passes.resize(this->side);
  }

  void load() {
    factors.upload(this->pack({}).view());
    if (system.b.columns > 0) right.upload(system.b);
  }

  void compute() {
    std::vector<Index>& rows = system.row_order;
    rows.clear();
    this->device.measure(Stage::compute, [&] {
      const std::vector<Index> order = row_order_of(passes.factorize(factors, this->min_pivot));
      if (system.b.columns > 0) passes.solve(factors, order, right, solution);
      for (const Index texel : order) {
        for (Index row = texel * block; row < (texel + 1) * block; ++row) rows.push_back(row);
      }
    });
    rows.resize(static_cast<std::size_t>(system.a.rows));  // the row that makes odd n even has stayed the last
  }

  void store() {
    if (system.b.columns > 0) solution.download(system.x);
    if (system.factors.rows > 0) factors.download(system.factors);
  }

  using EliminationSteps<Real>::block;
  using EliminationSteps<Real>::system;
  TextureMatrix factors, right, solution;
  PluPacked passes;
};

template <class Real>
Steps make_plu_packed(Device& device, DenseSystem<Real>& system, const EliminationSettings& settings) {
  if (settings.pivoting != EliminationPivoting::partial) {
    throw std::invalid_argument("PLU factorisation exchanges rows only: full pivoting is not possible");
  }
  return steps_of(device.clock(), std::make_shared<PluSteps<Real>>(device, system, settings));
}

}  // namespace

PluPacked::PluPacked(Device& device, const EliminationSettings& settings)
    : device_(&device), settings_(settings), search_(device, settings) {
  for (int step = 1; step <= plu_steps; ++step) {
    programs_.push_back(step_program(device, "solvers/plu_packed.frag", settings, step));
  }
}

void PluPacked::resize(Index side) {
  if (two_rows_ && two_rows_->width() == side) return;
  search_.resize(side);
  two_rows_.reset();
  const Packing packing = packing_of(settings_.variant);
  two_rows_.emplace(*device_, 2 * texel_rows(packing), side * texel_columns(packing), packing, format_of(settings_));
}

std::vector<Index> PluPacked::factorize(TextureMatrix& a, double min) {
  const Index side = a.height();
  resize(side);
  std::vector<Index> pivots;
  for (Index k = 0; k < side; ++k) {
    const Index below = side - k - 1;
    const Index p = pivots.emplace_back(search_.find(a, k, min).row);
    programs_[upper].run(*two_rows_, {a.texture()}, {0, 0, side, 1, {Coordinates::row(0, p), Coordinates{k, p}}});
    std::vector<gl::Quad> rows{{0, k, side, 1, {Coordinates::rectangle(0, 0)}}};
    if (p != k) {
      programs_[copy].run(*two_rows_, {a.texture()}, {0, 1, side, 1, {Coordinates::row(0, k)}});
      rows.push_back({0, p, side, 1, {Coordinates::rectangle(0, 1)}});
    }
    programs_[copy].run(a, {two_rows_->texture()}, rows);
    if (below == 0) continue;
    change(multipliers, a, a, {k, k + 1, 1, below, {Coordinates::rectangle(k, k + 1), Coordinates{k, k}}});
    change(reduce, a, a,
           {k + 1,
            k + 1,
            below,
            below,
            {Coordinates::rectangle(k + 1, k + 1), Coordinates::column(k, k + 1), Coordinates::row(k + 1, k)}});
  }
  return pivots;
}

void PluPacked::change(int step, const TextureMatrix& target, const TextureMatrix& factors, const gl::Quad& quad) {
  const TexelProgram& program = programs_[static_cast<std::size_t>(step)];
  program.make_writes_visible();
  program.run(target, {target.texture(), factors.texture()}, quad);
}

void PluPacked::solve(const TextureMatrix& factors, std::span<const Index> order, const TextureMatrix& b,
                      TextureMatrix& x) {
  const Index side = factors.height(), width = x.width();
  std::vector<gl::Quad> rows;
  for (Index k = 0; k < side; ++k) {
    rows.push_back({0, k, width, 1, {Coordinates::row(0, order[static_cast<std::size_t>(k)])}});
  }
  programs_[copy].run(x, {b.texture()}, rows);
  for (Index k = 0; k + 1 < side; ++k) {
    change(forward, x, factors,
           {0,
            k + 1,
            width,
            side - k - 1,
            {Coordinates::rectangle(0, k + 1), Coordinates::column(k, k + 1), Coordinates::row(0, k)}});
  }
  change(forward_end, x, factors, x.quad({Coordinates::rectangle(0, 0), diagonal}));
  for (Index k = side - 1; k > 0; --k) {
    change(backward, x, factors,
           {0, 0, width, k, {Coordinates::rectangle(0, 0), Coordinates::column(k, 0), Coordinates::row(0, k)}});
  }
  change(backward_end, x, factors, x.quad({Coordinates::rectangle(0, 0), diagonal}));
}

const Elimination plu_packed{.make_single = make_plu_packed<float>,
                             .make_double = make_plu_packed<double>,
                             .obstacle = [](const DeviceDescription& device, Index n, Index right_hand_sides,
                                            const EliminationSettings& settings) {
                               return texture_obstacle(device, n, std::max(n, right_hand_sides),
                                                       packing_of(settings.variant), format_of(settings));
                             }};

}  // namespace glinpack::solvers
