// A X = B by Gauss-Jordan elimination on a device (Brodtkorb 2008, section 4.2).
//
// [A | B] is in two textures that alternate. A step finds the pivot (elimination.hpp), then
//   1. draws the pivot row, normalized to P^-1 S with pivot P, at the position of the top row;
//   2. draws the top row at the position of the pivot row, eliminated in the same draw;
//   3. eliminates in all other rows, above and below, with the normalized row.
// After the last one the left part would be the identity; what is known to become 0 or 1 is not drawn. X is on the
// right.
#include <algorithm>

#include "base/precision.hpp"
#include "solvers/elimination/elimination.hpp"

namespace glinpack::solvers {
namespace {

using gl::Coordinates;

/// Adjacent texels along a direction, and their source before the step.
struct Range {
  Index begin = 0;
  Index end = 0;
  Index source = 0;  // of begin
};

/// The ranges of begin ... end - 1 with `first` as the source of `second`, which is among them or is `first`.
std::vector<Range> exchanged(Index begin, Index end, Index first, Index second) {
  if (second == first) return {{begin, end, begin}};
  return {{begin, second, begin}, {second, second + 1, first}, {second + 1, end, second + 1}};
}

constexpr const char* shader = "solvers/gauss_jordan.frag";

template <class Real>
struct GaussJordanSteps : EliminationSteps<Real> {
  GaussJordanSteps(Device& on, DenseSystem<Real>& of, const EliminationSettings& with)
      : EliminationSteps<Real>(on, of, with),
        textures(on, side * block, side * block + of.b.columns, packing_of(with.variant), format_of(with)),
        solution(this->texture(of.b.columns)),
        passes(on, with) {
    passes.resize(side);
  }

  void load() { textures.front().upload(this->pack(system.b).view()); }
  void compute() {
    device.measure(Stage::compute, [&] {
      pivots = passes.eliminate(textures, side, this->min_pivot);
      textures.front().copy_texels(side, 0, solution);
    });
  }

  void store() {
    if (this->settings.pivoting == EliminationPivoting::partial) return solution.download(system.x);
    // Columns were exchanged, whole blocks of them, with the row that makes odd n even: so are the rows of X.
    std::vector<Real> rows(static_cast<std::size_t>(solution.rows() * system.x.columns));
    const RowMajorView<Real> all{rows.data(), solution.rows(), system.x.columns, system.x.columns};
    solution.download(all);
    device.clock().measure(Stage::unpack, [&] {
      for (Index k = side; k-- > 0;) {
        const Index other = pivots[static_cast<std::size_t>(k)].column;
        if (other == k) continue;
        std::swap_ranges(all.row(k * block), all.row((k + 1) * block), all.row(other * block));
      }
      for (Index i = 0; i < system.x.rows; ++i) std::copy_n(all.row(i), all.columns, system.x.row(i));
    });
  }

  using EliminationSteps<Real>::block;
  using EliminationSteps<Real>::device;
  using EliminationSteps<Real>::side;
  using EliminationSteps<Real>::system;
  std::vector<BlockPivot> pivots;
  PingPong textures;
  TextureMatrix solution;
  GaussJordan passes;
};

template <class Real>
Steps make_gauss_jordan(Device& device, DenseSystem<Real>& system, const EliminationSettings& settings) {
  return steps_of(device.clock(), std::make_shared<GaussJordanSteps<Real>>(device, system, settings));
}

}  // namespace

GaussJordan::GaussJordan(Device& device, const EliminationSettings& settings)
    : search_(device, settings),
      normalize_(step_program(device, shader, settings, 1)),
      exchange_(step_program(device, shader, settings, 2)),
      eliminate_(step_program(device, shader, settings, 3)) {}

std::vector<BlockPivot> GaussJordan::eliminate(PingPong& system, Index side, double min) {
  resize(side);
  std::vector<BlockPivot> pivots;
  for (Index k = 0; k < side; ++k) pivots.push_back(step(system, side, k, min));
  return pivots;
}

BlockPivot GaussJordan::step(PingPong& system, Index side, Index k, double min) {
  const TextureMatrix& source = system.front();
  const TextureMatrix& target = system.back();
  const BlockPivot pivot = search_.find(source, k, min);
  const Index p = pivot.row, q = pivot.column;
  std::vector<gl::Quad> normalized, top, rest;
  for (const Range& columns : exchanged(k + 1, source.width(), k, q)) {
    const Index x = columns.begin, width = columns.end - columns.begin;
    if (width <= 0) continue;
    const Coordinates pivot_row = Coordinates::row(columns.source, p);
    normalized.push_back({x, k, width, 1, {pivot_row, Coordinates{q, p}}});
    if (p != k) top.push_back({x, p, width, 1, {Coordinates::row(columns.source, k), Coordinates{q, k}, pivot_row}});
    for (const auto& [begin, end] : {std::pair{Index{0}, k}, {k + 1, p}, {std::max(k, p) + 1, side}}) {
      if (begin >= end) continue;
      rest.push_back(
          {x,
           begin,
           width,
           end - begin,
           {Coordinates::rectangle(columns.source, begin), Coordinates::column(q, begin), Coordinates::row(x, k)}});
    }
  }
  normalize_.run(target, {source.texture()}, normalized);
  exchange_.run(target, {source.texture()}, top);
  eliminate_.make_writes_visible();
  eliminate_.run(target, {source.texture(), target.texture()}, rest);
  system.exchange();
  return pivot;
}

const Elimination gauss_jordan{.make_single = make_gauss_jordan<float>,
                               .make_double = make_gauss_jordan<double>,
                               .obstacle = [](const DeviceDescription& device, Index n, Index right_hand_sides,
                                              const EliminationSettings& settings) {
                                 const Index columns = round_up(n, block_size(settings.variant)) + right_hand_sides;
                                 return texture_obstacle(device, n, columns, packing_of(settings.variant),
                                                         format_of(settings));
                               }};

}  // namespace glinpack::solvers
