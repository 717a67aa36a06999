#include "solvers/elimination/gauss_jordan.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/precision.hpp"

namespace glinpack::solvers {
namespace {

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

Index blocks(Index elements, Index block) { return round_up(elements, block) / block; }

std::string step_preamble(EliminationVariant variant, int step) {
  return block_preamble(variant) + "#define STEP " + std::to_string(step) + "\n";
}

TexelProgram step_program(Device& device, EliminationVariant variant, int step) {
  return {device, "solvers/gauss_jordan.frag", step_preamble(variant, step), shaders_of(variant)};
}

Index system_columns(Index n, Index right_hand_sides, EliminationVariant variant) {
  return round_up(n, block_size(variant)) + right_hand_sides;
}

}  // namespace

GaussJordan::GaussJordan(Device& device, Index n, Index right_hand_sides, const EliminationSettings& settings)
    : device_(device),
      n_(n),
      right_hand_sides_(right_hand_sides),
      settings_(settings),
      side_(blocks(n, block_size(settings.variant))),
      system_(device, side_ * block_size(settings.variant), system_columns(n, right_hand_sides, settings.variant),
              packing_of(settings.variant)),
      solution_(device, side_ * block_size(settings.variant), right_hand_sides, packing_of(settings.variant)),
      search_(device, side_, settings),
      normalize_(step_program(device, settings.variant, 1)),
      exchange_(step_program(device, settings.variant, 2)),
      eliminate_(step_program(device, settings.variant, 3)) {}

GaussJordan::~GaussJordan() = default;

std::string GaussJordan::obstacle(const DeviceDescription& device, Index n, Index right_hand_sides,
                                  const EliminationSettings& settings) {
  return texture_obstacle(device, n, system_columns(n, right_hand_sides, settings.variant),
                          packing_of(settings.variant));
}

void GaussJordan::solve(RowMajorView<const float> a, RowMajorView<const float> b, RowMajorView<float> x) {
  load(a, b);
  compute();
  store(x);
}

void GaussJordan::invert(RowMajorView<const float> a, RowMajorView<float> inverse) {
  load_to_invert(a);
  compute();
  store(inverse);
}

void GaussJordan::load(RowMajorView<const float> a, RowMajorView<const float> b) {
  if (b.columns != right_hand_sides_) {
    throw std::invalid_argument(std::to_string(b.columns) + " right-hand sides instead of " +
                                std::to_string(right_hand_sides_));
  }
  PaddedMatrix matrix;
  device_.clock().measure(Stage::pack, [&] { matrix = padded(a, b, n_, block_size(settings_.variant)); });
  least_pivot_ = static_cast<float>(tolerance<float>(n_)) * matrix.largest;
  system_.front().upload(matrix.view());
}

void GaussJordan::load_to_invert(RowMajorView<const float> a) {
  std::vector<float> identity(static_cast<std::size_t>(n_ * n_));
  for (Index i = 0; i < n_; ++i) identity[static_cast<std::size_t>(i * n_ + i)] = 1;
  load(a, {identity.data(), n_, n_, n_});
}

void GaussJordan::compute() {
  pivots_.clear();
  device_.measure(Stage::compute, [&] {
    for (Index k = 0; k < side_; ++k) step(k);
    glCopyImageSubData(system_.front().texture(), GL_TEXTURE_2D, 0, static_cast<GLint>(side_), 0, 0,
                       solution_.texture(), GL_TEXTURE_2D, 0, 0, 0, 0, static_cast<GLsizei>(solution_.width()),
                       static_cast<GLsizei>(solution_.height()), 1);
  });
}

void GaussJordan::step(Index k) {
  const TextureMatrix& source = system_.front();
  const TextureMatrix& target = system_.back();
  const BlockPivot pivot = search_.find(source, k, least_pivot_);
  pivots_.push_back(pivot);
  const Index p = pivot.row, q = pivot.column;
  std::vector<gl::Quad> normalized, top, rest;
  for (const Range& columns : exchanged(k + 1, source.width(), k, q)) {
    const Index width = columns.end - columns.begin;
    if (width <= 0) continue;
    const gl::Coordinates pivot_row = gl::Coordinates::row(columns.source, p);
    normalized.push_back({columns.begin, k, width, 1, {pivot_row, gl::Coordinates{q, p}}});
    if (p != k) {
      top.push_back(
          {columns.begin, p, width, 1, {gl::Coordinates::row(columns.source, k), gl::Coordinates{q, k}, pivot_row}});
    }
    for (const auto& [begin, end] : {std::pair{Index{0}, k}, {k + 1, p}, {std::max(k, p) + 1, side_}}) {
      if (begin >= end) continue;
      rest.push_back({columns.begin,
                      begin,
                      width,
                      end - begin,
                      {gl::Coordinates::rectangle(columns.source, begin), gl::Coordinates::column(q, begin),
                       gl::Coordinates::row(columns.begin, k)}});
    }
  }
  normalize_.run(target, {source.texture()}, normalized);
  exchange_.run(target, {source.texture()}, top);
  eliminate_.make_writes_visible();
  eliminate_.run(target, {source.texture(), target.texture()}, rest);
  system_.exchange();
}

void GaussJordan::store(RowMajorView<float> x) {
  if (x.rows != n_ || x.columns != right_hand_sides_) {
    throw std::invalid_argument("X is " + std::to_string(x.rows) + " x " + std::to_string(x.columns) + " instead of " +
                                std::to_string(n_) + " x " + std::to_string(right_hand_sides_));
  }
  if (settings_.pivoting == EliminationPivoting::partial) return solution_.download(x);
  // Columns were exchanged, whole blocks of them, with the row that makes odd n even: so are the rows of X.
  std::vector<float> rows(static_cast<std::size_t>(solution_.rows() * x.columns));
  const RowMajorView<float> all{rows.data(), solution_.rows(), x.columns, x.columns};
  solution_.download(all);
  device_.clock().measure(Stage::unpack, [&] {
    exchange_rows_of(all);
    for (Index i = 0; i < x.rows; ++i) std::copy_n(all.row(i), x.columns, x.row(i));
  });
}

void GaussJordan::exchange_rows_of(RowMajorView<float> x) const {
  const Index block = block_size(settings_.variant);
  for (Index k = side_; k-- > 0;) {
    const Index other = pivots_[static_cast<std::size_t>(k)].column;
    if (other == k) continue;
    for (Index i = 0; i < block; ++i) {
      std::swap_ranges(x.row(k * block + i), x.row(k * block + i) + x.columns, x.row(other * block + i));
    }
  }
}

}  // namespace glinpack::solvers
