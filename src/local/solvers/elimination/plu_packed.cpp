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
#include <numeric>
#include <stdexcept>

#include "base/precision.hpp"
#include "solvers/elimination/elimination.hpp"

namespace glinpack::solvers {
namespace {

using gl::Coordinates;

/// STEP of shaders/solvers/plu_packed.frag, from 1 on.
enum PluStep : std::uint8_t { copy, upper, multipliers, reduce, forward, forward_end, backward, backward_end };
constexpr int plu_steps = 8;

/// The rectangle's row r reads texel (r, r).
constexpr Coordinates diagonal{0, 0, 0, 0, 1, 1};

struct PluPacked {
  PluPacked(Device& on, DenseSystem& of, const EliminationSettings& with)
      : device(on),
        system(of),
        block(block_size(with.variant)),
        side(round_up(of.a.rows, block) / block),
        factors(on, side * block, side * block, packing_of(with.variant)),
        two_rows(on, 2 * block, side * block, packing_of(with.variant)),
        right(on, side * block, std::max<Index>(1, of.b.columns), packing_of(with.variant)),
        search(on, side, with) {
    for (int step = 1; step <= plu_steps; ++step) {
      programs.emplace_back(on, "solvers/plu_packed.frag", block_preamble(with.variant) + definition("STEP", step),
                            shaders_of(with.variant));
    }
  }

  void load() {
    PaddedMatrix matrix;
    device.clock().measure(Stage::pack, [&] { matrix = padded(system.a, {}, block); });
    least_pivot = static_cast<float>(tolerance<float>(system.a.rows)) * matrix.largest;
    factors.upload(matrix.view());
  }

  void compute() {
    factorize();
    if (system.b.columns == 0) return;
    load_right();
    device.measure(Stage::compute, [&] {
      substitute_forward();
      substitute_backward();
    });
  }

  void store() {
    if (system.b.columns > 0) right.download(system.x);
    if (system.factors.rows > 0) factors.download(system.factors);
  }

  void factorize() {
    std::vector<Index>& order = system.row_order;
    order.resize(static_cast<std::size_t>(side * block));
    std::iota(order.begin(), order.end(), Index{0});
    device.measure(Stage::compute, [&] {
      for (Index k = 0; k < side; ++k) step(k);
    });
    order.resize(static_cast<std::size_t>(system.a.rows));  // the row that makes odd n even has stayed the last
  }

  void step(Index k) {
    const Index below = side - k - 1;
    const Index p = search.find(factors, k, least_pivot).row;
    programs[upper].run(two_rows, {factors.texture()}, {0, 0, side, 1, {Coordinates::row(0, p), Coordinates{k, p}}});
    std::vector<gl::Quad> rows{{0, k, side, 1, {Coordinates::rectangle(0, 0)}}};
    if (p != k) {
      const auto order = system.row_order.begin();
      std::swap_ranges(order + k * block, order + (k + 1) * block, order + p * block);
      programs[copy].run(two_rows, {factors.texture()}, {0, 1, side, 1, {Coordinates::row(0, k)}});
      rows.push_back({0, p, side, 1, {Coordinates::rectangle(0, 1)}});
    }
    programs[copy].run(factors, {two_rows.texture()}, rows);
    if (below == 0) return;
    change(multipliers, factors, {k, k + 1, 1, below, {Coordinates::rectangle(k, k + 1), Coordinates{k, k}}});
    change(reduce, factors,
           {k + 1,
            k + 1,
            below,
            below,
            {Coordinates::rectangle(k + 1, k + 1), Coordinates::column(k, k + 1), Coordinates::row(k + 1, k)}});
  }

  /// A pass that reads its target, and the factors.
  void change(PluStep step, const TextureMatrix& target, const gl::Quad& quad) {
    programs[step].make_writes_visible();
    if (&target == &factors) return programs[step].run(target, {target.texture()}, quad);
    programs[step].run(target, {target.texture(), factors.texture()}, quad);
  }

  void load_right() {
    const RowMajorView<const float> b = system.b;
    std::vector<float> ordered(static_cast<std::size_t>(b.rows * b.columns));
    device.clock().measure(Stage::pack, [&] {
      for (Index i = 0; i < b.rows; ++i) {
        std::copy_n(b.row(system.row_order[static_cast<std::size_t>(i)]), b.columns, ordered.data() + i * b.columns);
      }
    });
    right.upload({ordered.data(), b.rows, b.columns, b.columns});
  }

  void substitute_forward() {
    for (Index k = 0; k + 1 < side; ++k) {
      change(forward, right,
             {0,
              k + 1,
              right.width(),
              side - k - 1,
              {Coordinates::rectangle(0, k + 1), Coordinates::column(k, k + 1), Coordinates::row(0, k)}});
    }
    change(forward_end, right, right.quad({Coordinates::rectangle(0, 0), diagonal}));
  }

  void substitute_backward() {
    for (Index k = side - 1; k > 0; --k) {
      change(
          backward, right,
          {0, 0, right.width(), k, {Coordinates::rectangle(0, 0), Coordinates::column(k, 0), Coordinates::row(0, k)}});
    }
    change(backward_end, right, right.quad({Coordinates::rectangle(0, 0), diagonal}));
  }

  Device& device;
  DenseSystem& system;
  Index block;
  Index side;  // of A, in texels
  float least_pivot = 0;
  TextureMatrix factors;
  TextureMatrix two_rows;  // that are exchanged
  TextureMatrix right;
  PivotSearch search;
  std::vector<TexelProgram> programs;  // by PluStep
};

}  // namespace

const Elimination plu_packed{
    .make =
        [](Device& device, DenseSystem& system, const EliminationSettings& settings) {
          check_extents(system);
          if (settings.pivoting != EliminationPivoting::partial) {
            throw std::invalid_argument("PLU factorisation exchanges rows only: full pivoting is not possible");
          }
          return steps_of(device.clock(), std::make_shared<PluPacked>(device, system, settings));
        },
    .obstacle =
        [](const DeviceDescription& device, Index n, Index right_hand_sides, const EliminationSettings& settings) {
          return texture_obstacle(device, n, std::max(n, right_hand_sides), packing_of(settings.variant));
        }};

}  // namespace glinpack::solvers
