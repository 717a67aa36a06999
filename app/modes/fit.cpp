#include "app/modes/fit.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "app/input/input_error.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::app {

namespace {

std::size_t sizes_needed(int degree) { return static_cast<std::size_t>(degree) + 2; }

void add_errors(PolynomialFit& fit, std::span<const FitPoint> points) {
  double squares = 0;
  for (const FitPoint& point : points) {
    const double error = std::abs(fit.at(point.n) - point.seconds) / point.seconds;
    squares += error * error;
    fit.largest_relative_error = std::max(fit.largest_relative_error, error);
  }
  fit.mean_relative_error = std::sqrt(squares / static_cast<double>(points.size()));
}

const PolynomialFit* rival_of(const SeriesFit& series, const std::vector<SeriesFit>& fits) {
  const PolynomialFit* first = nullptr;
  for (const SeriesFit& other : fits) {
    if (!other.is_rival) continue;
    if (other.settings == series.settings) return &other.fit;
    if (first == nullptr) first = &other.fit;
  }
  return first;
}

}  // namespace

double PolynomialFit::at(double n) const {
  double value = 0;
  for (std::size_t k = coefficients.size(); k-- > 0;) value = value * n + coefficients[k];
  return value;
}

PolynomialFit fit_polynomial(std::span<const FitPoint> points, int degree) {
  const auto terms = static_cast<std::size_t>(degree) + 1;
  if (points.size() < terms) throw std::invalid_argument("there are fewer points than coefficients");
  // fits in n / scale: the powers of n differ by many orders of magnitude
  double scale = 0;
  for (const FitPoint& point : points) scale = std::max(scale, point.n);
  std::vector<double> matrix, right;
  for (const FitPoint& point : points) {
    double power = 1;
    for (std::size_t k = 0; k < terms; ++k, power *= point.n / scale) matrix.push_back(power / point.seconds);
    right.push_back(1);
  }
  const auto rows = static_cast<Index>(points.size()), columns = static_cast<Index>(terms);
  PolynomialFit fit;
  fit.coefficients = least_squares({matrix.data(), rows, columns, columns}, right);
  double power = 1;
  for (double& coefficient : fit.coefficients) {
    coefficient /= power;
    power *= scale;
  }
  add_errors(fit, points);
  return fit;
}

std::vector<SeriesFit> fit_series(std::span<const ModeRecord> records, int degree) {
  std::vector<SeriesFit> fits;
  for (const ModeRecord& first : records) {
    const auto same = [&](const SeriesFit& fit) { return fit.series == first.series(); };
    if (std::any_of(fits.begin(), fits.end(), same)) continue;
    std::vector<FitPoint> points;
    std::set<Index> sizes;
    for (const ModeRecord& record : records) {
      if (record.series() != first.series() || !record.passed() || record.times.compute.median <= 0) continue;
      points.push_back({static_cast<double>(record.n), record.times.compute.median});
      sizes.insert(record.n);
    }
    if (sizes.size() < sizes_needed(degree)) continue;
    fits.push_back({.series = first.series(),
                    .settings = first.settings,
                    .is_rival = first.is_rival,
                    .fit = fit_polynomial(points, degree)});
  }
  for (SeriesFit& fit : fits) {
    const PolynomialFit* rival = rival_of(fit, fits);
    if (fit.is_rival || rival == nullptr || rival->dominant() <= 0 || fit.fit.dominant() <= 0) continue;
    fit.speedup = rival->dominant() / fit.fit.dominant();
  }
  return fits;
}

void check_fit(bool fit, const std::vector<Index>& sizes, int degree) {
  const std::size_t different = std::set<Index>(sizes.begin(), sizes.end()).size();
  if (!fit || different >= sizes_needed(degree)) return;
  throw InputError("--fit: " + std::to_string(different) + " size" + (different == 1 ? " is" : "s are") +
                   " too few for a polynomial of degree " + std::to_string(degree) + "; give " +
                   std::to_string(sizes_needed(degree)) + " or more, --n 64,96,128,192,256 for example");
}

}  // namespace glinpack::app
