#include "solve/residual.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "base/scaled_residual.hpp"

namespace glinpack {

namespace {

// The larger value; NaN if either is NaN.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = larger(std::fabs(value), largest);
  return largest;
}

// MPI_MAX may drop a NaN, so the message has a flag for NaN after the maxima.
void maximum_over(const Communicator& communicator, std::vector<double>& values) {
  std::vector<double> message = values;
  for (const double value : values) message.push_back(std::isnan(value) ? 1.0 : 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) message[i] = 0;
  }
  communicator.all_reduce(message, Reduction::max);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = message[values.size() + i] > 0 ? std::numeric_limits<double>::quiet_NaN() : message[i];
  }
}

// Residual::columnwise. Scaled by powers of two, neither sum overflows.
double columnwise(const Residual& norms, const LocalSums& sums, const Grid& grid, std::span<const double> x, Index n) {
  const bool has_scale = norms.norm_a_one > 0 && std::isfinite(norms.norm_a_one) && norms.norm_x_inf > 0 &&
                         std::isfinite(norms.norm_x_inf);
  if (!has_scale) return norms.scaled;
  const int of_a = std::ilogb(norms.norm_a_one), of_x = std::ilogb(norms.norm_x_inf);
  double residual = 0, scale = 0;
  for (const double value : sums.residual) residual += std::scalbn(std::fabs(value), -of_a - of_x);
  for (std::size_t j = 0; j < x.size(); ++j) {
    scale += std::scalbn(sums.column_sums[j], -of_a) * std::scalbn(std::fabs(x[j]), -of_x);
  }
  residual = all_reduced(grid.column(), residual, Reduction::sum);
  scale = all_reduced(grid.row(), scale, Reduction::sum);
  return scaled_residual({.residual = residual, .a = scale, .x = 1}, norms.epsilon, static_cast<double>(n));
}

}  // namespace

Residual combine_sums(LocalSums& sums, const Distribution& distribution, const Grid& grid, Precision precision,
                      std::span<const double> x) {
  grid.row().all_reduce(sums.residual, Reduction::sum);
  grid.row().all_reduce(sums.row_sums, Reduction::sum);
  grid.column().all_reduce(sums.column_sums, Reduction::sum);
  std::vector<double> maxima{largest_magnitude(sums.row_sums), largest_magnitude(sums.column_sums), sums.largest_b,
                             sums.largest_a};
  maximum_over(grid.all(), maxima);
  Residual known;
  known.epsilon = epsilon_of(precision);
  known.norm_a_inf = maxima[0];
  known.norm_a_one = maxima[1];
  known.norm_b_inf = maxima[2];
  known.largest_a = maxima[3];
  Residual result = test_with_known_norms(known, distribution, grid, sums.residual, x);
  result.columnwise = columnwise(result, sums, grid, x, distribution.n);
  return result;
}

Residual compute_residual(OriginalMatrix& matrix, const Distribution& distribution, const Grid& grid,
                          Precision precision, std::span<const double> x) {
  LocalSums sums = matrix.sums(x);
  return combine_sums(sums, distribution, grid, precision, x);
}

Residual test_with_known_norms(const Residual& known, const Distribution& distribution, const Grid& grid,
                               std::span<const double> residual, std::span<const double> x) {
  double x_sum = 0;  // of this process column's part
  for (const double value : x) x_sum += std::fabs(value);
  x_sum = all_reduced(grid.row(), x_sum, Reduction::sum);
  std::vector<double> maxima{largest_magnitude(residual), largest_magnitude(x)};
  maximum_over(grid.all(), maxima);
  Residual result = known;
  result.norm_residual_inf = maxima[0];
  result.norm_x_inf = maxima[1];
  result.norm_x_one = x_sum;
  result.scaled = scaled_residual(
      {.residual = result.norm_residual_inf, .a = result.norm_a_inf, .x = result.norm_x_inf, .b = result.norm_b_inf},
      result.epsilon, static_cast<double>(distribution.n));
  return result;
}

}  // namespace glinpack
