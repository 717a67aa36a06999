#include "solvers/elimination/plu_packed.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "base/precision.hpp"

namespace glinpack::solvers {
namespace {

using gl::Coordinates;

/// STEP of shaders/solvers/plu_packed.frag, from 1 on.
enum Step : std::uint8_t { copy, upper, multipliers, reduce, forward, forward_end, backward, backward_end, step_count };

/// The rectangle's row r reads texel (first + r, first + r).
Coordinates diagonal(Index first) { return {first, first, 0, 0, 1, 1}; }

EliminationSettings checked(const EliminationSettings& settings) {
  if (settings.pivoting != EliminationPivoting::partial) {
    throw std::invalid_argument("PLU factorisation exchanges rows only: full pivoting is not possible");
  }
  return settings;
}

}  // namespace

PluPacked::PluPacked(Device& device, Index n, Index right_hand_sides, const EliminationSettings& settings)
    : device_(device),
      n_(n),
      right_hand_sides_(right_hand_sides),
      settings_(checked(settings)),
      side_(round_up(n, block_size(settings.variant)) / block_size(settings.variant)),
      factors_(device, side_ * block_size(settings.variant), side_ * block_size(settings.variant),
               packing_of(settings.variant)),
      exchanged_(device, 2 * block_size(settings.variant), factors_.columns(), packing_of(settings.variant)),
      right_(device, factors_.rows(), std::max<Index>(1, right_hand_sides), packing_of(settings.variant)),
      search_(device, side_, settings) {
  for (int step = 1; step <= step_count; ++step) {
    programs_.emplace_back(device, "solvers/plu_packed.frag",
                           block_preamble(settings.variant) + "#define STEP " + std::to_string(step) + "\n",
                           shaders_of(settings.variant));
  }
}

std::string PluPacked::obstacle(const DeviceDescription& device, Index n, Index right_hand_sides,
                                const EliminationSettings& settings) {
  return texture_obstacle(device, n, std::max(n, right_hand_sides), packing_of(settings.variant));
}

void PluPacked::solve(RowMajorView<const float> a, RowMajorView<const float> b, RowMajorView<float> x) {
  check_right(b.rows, b.columns);
  load(a);
  factorize();
  load_right(b);
  substitute();
  store(x);
}

void PluPacked::load(RowMajorView<const float> a) {
  PaddedMatrix matrix;
  device_.clock().measure(Stage::pack, [&] { matrix = padded(a, {}, n_, block_size(settings_.variant)); });
  least_pivot_ = static_cast<float>(tolerance<float>(n_)) * matrix.largest;
  factors_.upload(matrix.view());
}

void PluPacked::factorize() {
  row_order_.resize(static_cast<std::size_t>(factors_.rows()));
  std::iota(row_order_.begin(), row_order_.end(), Index{0});
  device_.measure(Stage::compute, [&] {
    for (Index k = 0; k < side_; ++k) step(k);
  });
  row_order_.resize(static_cast<std::size_t>(n_));  // the row that makes odd n even has stayed the last
}

void PluPacked::step(Index k) {
  const Index block = block_size(settings_.variant), below = side_ - k - 1;
  const Index p = search_.find(factors_, k, least_pivot_).row;
  const GLuint factors = factors_.texture();
  programs_[upper].run(exchanged_, {factors}, {0, 0, side_, 1, {Coordinates::row(0, p), Coordinates{k, p}}});
  std::vector<gl::Quad> rows{{0, k, side_, 1, {Coordinates::rectangle(0, 0)}}};
  if (p != k) {
    std::swap_ranges(row_order_.begin() + k * block, row_order_.begin() + (k + 1) * block,
                     row_order_.begin() + p * block);
    programs_[copy].run(exchanged_, {factors}, {0, 1, side_, 1, {Coordinates::row(0, k)}});
    rows.push_back({0, p, side_, 1, {Coordinates::rectangle(0, 1)}});
  }
  programs_[copy].run(factors_, {exchanged_.texture()}, rows);
  if (below == 0) return;
  programs_[multipliers].make_writes_visible();
  programs_[multipliers].run(factors_, {factors},
                             {k, k + 1, 1, below, {Coordinates::rectangle(k, k + 1), Coordinates{k, k}}});
  programs_[reduce].make_writes_visible();
  programs_[reduce].run(
      factors_, {factors},
      {k + 1,
       k + 1,
       below,
       below,
       {Coordinates::rectangle(k + 1, k + 1), Coordinates::column(k, k + 1), Coordinates::row(k + 1, k)}});
}

void PluPacked::check_right(Index rows, Index columns) const {
  if (rows == n_ && columns == right_hand_sides_) return;
  throw std::invalid_argument("right-hand sides of " + std::to_string(rows) + " x " + std::to_string(columns) +
                              " instead of " + std::to_string(n_) + " x " + std::to_string(right_hand_sides_));
}

void PluPacked::load_right(RowMajorView<const float> b) {
  check_right(b.rows, b.columns);
  if (row_order_.size() != static_cast<std::size_t>(n_)) throw std::logic_error("nothing has been factorised");
  std::vector<float> ordered(static_cast<std::size_t>(b.rows * b.columns));
  device_.clock().measure(Stage::pack, [&] {
    for (Index i = 0; i < n_; ++i) {
      std::copy_n(b.row(row_order_[static_cast<std::size_t>(i)]), b.columns, ordered.data() + i * b.columns);
    }
  });
  right_.upload({ordered.data(), n_, b.columns, b.columns});
}

void PluPacked::substitute() {
  device_.measure(Stage::compute, [&] {
    substitute_forward();
    substitute_backward();
  });
}

void PluPacked::substitute_forward() {
  const Index width = right_.width();
  for (Index k = 0; k + 1 < side_; ++k) {
    programs_[forward].make_writes_visible();
    programs_[forward].run(right_, {right_.texture(), factors_.texture()},
                           {0,
                            k + 1,
                            width,
                            side_ - k - 1,
                            {Coordinates::rectangle(0, k + 1), Coordinates::column(k, k + 1), Coordinates::row(0, k)}});
  }
  programs_[forward_end].make_writes_visible();
  programs_[forward_end].run(right_, {right_.texture(), factors_.texture()},
                             right_.quad({Coordinates::rectangle(0, 0), diagonal(0)}));
}

void PluPacked::substitute_backward() {
  for (Index k = side_ - 1; k > 0; --k) {
    programs_[backward].make_writes_visible();
    programs_[backward].run(
        right_, {right_.texture(), factors_.texture()},
        {0, 0, right_.width(), k, {Coordinates::rectangle(0, 0), Coordinates::column(k, 0), Coordinates::row(0, k)}});
  }
  programs_[backward_end].make_writes_visible();
  programs_[backward_end].run(right_, {right_.texture(), factors_.texture()},
                              right_.quad({Coordinates::rectangle(0, 0), diagonal(0)}));
}

void PluPacked::store(RowMajorView<float> x) { right_.download(x); }

void PluPacked::store_factors(RowMajorView<float> factors) const { factors_.download(factors); }

}  // namespace glinpack::solvers
