#include "app/model/cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

namespace glinpack::app::model {

namespace {

constexpr std::size_t unknowns = 3;
using Vector = std::array<double, unknowns>;

// The normal equations of the weighted problem; columns are scaled to length 1.
struct NormalEquations {
  std::array<Vector, unknowns> matrix{};
  Vector right{};
  Vector length{};
  double square = 0;  // of the right-hand side
};

NormalEquations normal_equations(std::span<const Sample> samples) {
  NormalEquations equations;
  for (const Sample& sample : samples) {
    const Vector row{sample.amounts.flops, sample.amounts.bytes, sample.amounts.steps};
    const bool did_something = std::any_of(row.begin(), row.end(), [](double amount) { return amount > 0; });
    if (!(sample.seconds > 0) || !did_something) continue;
    const double weight = 1 / sample.seconds;
    for (std::size_t i = 0; i < unknowns; ++i) {
      for (std::size_t j = 0; j < unknowns; ++j) equations.matrix[i][j] += weight * row[i] * row[j];
      equations.right[i] += row[i];  // weight * seconds
    }
    equations.square += sample.seconds;
  }
  for (std::size_t i = 0; i < unknowns; ++i) equations.length[i] = std::sqrt(equations.matrix[i][i]);
  for (std::size_t i = 0; i < unknowns; ++i) {
    if (equations.length[i] == 0) continue;
    equations.right[i] /= equations.length[i];
    for (std::size_t j = 0; j < unknowns; ++j) {
      if (equations.length[j] > 0) equations.matrix[i][j] /= equations.length[i] * equations.length[j];
    }
  }
  return equations;
}

// Solves by Cholesky factorisation. Empty if the chosen columns are dependent or a coefficient would be negative.
std::optional<Vector> solution_with(const NormalEquations& equations, const std::array<bool, unknowns>& chosen) {
  constexpr double independent = 1e-3;  // of the squared length of a column, orthogonal to the earlier ones
  std::array<Vector, unknowns> factor{};
  Vector y{};
  for (std::size_t i = 0; i < unknowns; ++i) {
    if (!chosen[i]) continue;
    if (equations.length[i] == 0) return std::nullopt;
    double pivot = equations.matrix[i][i];
    y[i] = equations.right[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (!chosen[j]) continue;
      double element = equations.matrix[i][j];
      for (std::size_t k = 0; k < j; ++k) element -= factor[i][k] * factor[j][k];
      factor[i][j] = element / factor[j][j];
      pivot -= factor[i][j] * factor[i][j];
      y[i] -= factor[i][j] * y[j];
    }
    if (pivot < independent) return std::nullopt;
    factor[i][i] = std::sqrt(pivot);
    y[i] /= factor[i][i];
  }
  Vector x{};
  for (std::size_t i = unknowns; i-- > 0;) {
    if (!chosen[i]) continue;
    x[i] = y[i];
    for (std::size_t j = i + 1; j < unknowns; ++j) x[i] -= factor[j][i] * x[j];
    x[i] /= factor[i][i];
    if (x[i] < 0) return std::nullopt;
  }
  return x;
}

double residual_of(const NormalEquations& equations, const Vector& x) {
  double residual = equations.square;
  for (std::size_t i = 0; i < unknowns; ++i) {
    residual -= 2 * equations.right[i] * x[i];
    for (std::size_t j = 0; j < unknowns; ++j) residual += x[i] * equations.matrix[i][j] * x[j];
  }
  return residual;
}

}  // namespace

double Cost::seconds(const Amounts& amounts) const {
  return per_flop * amounts.flops + per_byte * amounts.bytes + per_step * amounts.steps;
}

Cost fit_cost(std::span<const Sample> samples) {
  const NormalEquations equations = normal_equations(samples);
  // few unknowns first: more unknowns must reduce the residual
  constexpr std::array<std::array<bool, unknowns>, 7> subsets{{{true, false, false},
                                                               {false, true, false},
                                                               {false, false, true},
                                                               {true, true, false},
                                                               {true, false, true},
                                                               {false, true, true},
                                                               {true, true, true}}};
  constexpr double worthwhile = 1e-9;  // relative reduction of the residual
  double best = equations.square;
  Vector x{};
  for (const auto& subset : subsets) {
    const std::optional<Vector> tried = solution_with(equations, subset);
    if (!tried) continue;
    const double residual = residual_of(equations, *tried);
    if (residual >= best - worthwhile * equations.square) continue;
    best = residual;
    x = *tried;
  }
  for (std::size_t i = 0; i < unknowns; ++i) x[i] = x[i] > 0 ? x[i] / equations.length[i] : 0;
  return {.per_flop = x[0], .per_byte = x[1], .per_step = x[2]};
}

}  // namespace glinpack::app::model
