#include "solvers/elimination/elimination.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace glinpack::solvers {
namespace {

/// Copies the rows; returns the largest magnitude.
template <class Real>
Real copy_into(RowMajorView<const Real> from, Index first_column, PaddedMatrix<Real>& to, std::string_view name) {
  Real largest = 0;
  for (Index i = 0; i < from.rows; ++i) {
    Real* row = to.elements.data() + i * to.columns + first_column;
    for (Index j = 0; j < from.columns; ++j) {
      const Real element = from(i, j);
      if (!std::isfinite(element)) {
        throw std::invalid_argument(fmt::format("row {}, column {} of {} is {}", i + 1, j + 1, name, element));
      }
      largest = std::max(largest, std::abs(element));
      row[j] = element;
    }
  }
  return largest;
}

}  // namespace

TexelProgram step_program(Device& device, const char* name, const EliminationSettings& settings, int step) {
  return {device,
          name,
          define("BLOCK", block_size(settings.variant)) + define("STEP", step),
          shaders_of(settings.variant),
          format_of(settings),
          settings.group};
}

template <class Real>
void check_extents(const DenseSystem<Real>& system) {
  const auto& [a, b, x, factors, order] = system;
  const bool fits = a.rows == a.columns && (b.columns == 0 || b.rows == a.rows) &&
                    (b.columns == x.columns && (x.columns == 0 || x.rows == a.rows)) &&
                    (factors.rows == 0 || (factors.rows == a.rows && factors.columns == a.rows));
  if (fits) return;
  throw std::invalid_argument(
      fmt::format("A is {} x {}, B {} x {}, X {} x {}, the factors {} x {}: they are not of one system", a.rows,
                  a.columns, b.rows, b.columns, x.rows, x.columns, factors.rows, factors.columns));
}
template void check_extents(const DenseSystem<float>&);
template void check_extents(const DenseSystem<double>&);

template <class Real>
PaddedMatrix<Real> padded(RowMajorView<const Real> a, RowMajorView<const Real> b, Index block) {
  PaddedMatrix<Real> matrix;
  matrix.rows = round_up(a.rows, block);
  matrix.columns = matrix.rows + b.columns;
  matrix.elements.resize(static_cast<std::size_t>(matrix.rows * matrix.columns));
  matrix.largest = copy_into(a, 0, matrix, "A");
  copy_into(b, matrix.rows, matrix, "B");
  for (Index i = a.rows; i < matrix.rows; ++i) {
    matrix.elements[static_cast<std::size_t>(i * matrix.columns + i)] = matrix.largest;
  }
  return matrix;
}
template PaddedMatrix<float> padded(RowMajorView<const float>, RowMajorView<const float>, Index);
template PaddedMatrix<double> padded(RowMajorView<const double>, RowMajorView<const double>, Index);

template <class Real>
EliminationSteps<Real>::EliminationSteps(Device& on, DenseSystem<Real>& of, const EliminationSettings& with)
    : device(on), system(of), settings(with), block(block_size(with.variant)), side(divide_up(of.a.rows, block)) {
  check_extents(of);
  const bool is_double = precision_of<Real> == Precision::double_;
  if (with.precision == precision_of<Real> && (!is_double || with.variant == EliminationVariant::compute)) return;
  throw std::invalid_argument(
      fmt::format("the variant {} does not eliminate systems in {} precision with these settings",
                  name_of(with.variant), name_of(precision_of<Real>)));
}

template <class Real>
PaddedMatrix<Real> EliminationSteps<Real>::pack(RowMajorView<const Real> right) {
  PaddedMatrix<Real> matrix = device.clock().measure(Stage::pack, [&] { return padded(system.a, right, block); });
  min_pivot = tolerance<Real>(system.a.rows) * static_cast<double>(matrix.largest);
  return matrix;
}
template struct EliminationSteps<float>;
template struct EliminationSteps<double>;

namespace {

constexpr Index fan = 16;  // candidates that a fragment reduces to one
constexpr GLint bounds_location = 8, direction_location = 9;

Index reduced(Index candidates) { return divide_up(candidates, fan); }

std::string preamble(const EliminationSettings& settings, bool measure) {
  return define("BLOCK", block_size(settings.variant)) + define("FAN", fan) + define("MEASURE", measure) +
         define("SIGNED", settings.measure == PivotMeasure::as_signed) +
         define("LARGEST", settings.measure == PivotMeasure::largest);
}

Index columns_of(Index side, const EliminationSettings& settings) {
  return settings.pivoting == EliminationPivoting::full ? side : 1;
}

std::array<double, 4> first_texel(const TextureMatrix& matrix) {
  if (matrix.format() == TexelFormat::doubles) {
    std::array<double, 4> words{};
    glGetTextureSubImage(matrix.texture(), 0, 0, 0, 0, 2, 1, 1, GL_RGBA_INTEGER, GL_UNSIGNED_INT, sizeof(words),
                         words.data());
    return words;
  }
  std::array<float, 4> texel{};
  glGetTextureSubImage(matrix.texture(), 0, 0, 0, 0, 1, 1, 1, GL_RGBA, GL_FLOAT, sizeof(texel), texel.data());
  return {texel[0], texel[1], texel[2], texel[3]};
}

}  // namespace

PivotSearch::PivotSearch(Device& device, const EliminationSettings& settings)
    : device_(&device),
      settings_(settings),
      measure_(device, "solvers/pivot.frag", preamble(settings, true), shaders_of(settings.variant),
               format_of(settings), settings.group),
      reduce_(device, "solvers/pivot.frag", preamble(settings, false), shaders_of(settings.variant),
              format_of(settings), settings.group) {}

void PivotSearch::resize(Index side) {
  if (side == side_) return;
  side_ = side;
  candidates_.reset();
  candidates_.emplace(*device_, reduced(side), columns_of(side, settings_) * texel_columns(Packing::p1x4),
                      Packing::p1x4, format_of(settings_));
}

TextureExtents PivotSearch::reduce(const TexelProgram& program, GLuint source, Index x, Index y,
                                   TextureExtents candidates, bool downwards) {
  const TextureExtents results = downwards ? TextureExtents{candidates.width, reduced(candidates.height)}
                                           : TextureExtents{reduced(candidates.width), candidates.height};
  program.program().set(bounds_location, static_cast<GLint>(x), static_cast<GLint>(y),
                        static_cast<GLint>(x + candidates.width - 1), static_cast<GLint>(y + candidates.height - 1));
  program.program().set(direction_location, downwards ? 0 : 1, downwards ? 1 : 0);
  program.run(candidates_->back(), {source}, {0, 0, results.width, results.height, {gl::Coordinates::rectangle(0, 0)}});
  candidates_->exchange();
  return results;
}

BlockPivot PivotSearch::find(const TextureMatrix& matrix, Index step, double min) {
  TextureExtents candidates{columns_of(side_ - step, settings_), side_ - step};
  candidates = reduce(measure_, matrix.texture(), step, step, candidates, true);
  const auto again = [&](bool downwards) {
    candidates = reduce(reduce_, candidates_->front().texture(), 0, 0, candidates, downwards);
  };
  while (candidates.height > 1) again(true);
  while (candidates.width > 1) again(false);
  const auto [norm, row, column, unused] = first_texel(candidates_->front());
  if (!(norm > min)) {
    const Index block = block_size(settings_.variant);
    throw SingularMatrixError(
        fmt::format("singular, or nearly so: step {} of {} ({} {}) has no pivot, the largest candidate being {:.3g}, "
                    "where more than {:.3g} is needed",
                    step + 1, side_,
                    settings_.pivoting == EliminationPivoting::full ? "full pivoting, from column"
                    : block == 1                                    ? "column"
                                                                    : "columns from",
                    step * block + 1, norm, min),
        step);
  }
  return {static_cast<Index>(row), static_cast<Index>(column), norm};
}

}  // namespace glinpack::solvers
