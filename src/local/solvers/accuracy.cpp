#include "solvers/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/precision.hpp"
#include "base/scaled_residual.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack {

namespace {

/// L and U in double precision, each with the zeros of its other half, row-major.
struct Triangles {
  template <class Real>
  explicit Triangles(RowMajorView<const Real> factors)
      : n(factors.rows), lower(static_cast<std::size_t>(n * n)), upper(lower.size()) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) (j < i ? lower : upper)[at(i, j)] = static_cast<double>(factors(i, j));
      lower[at(i, i)] = 1;
    }
  }
  std::size_t at(Index i, Index j) const { return static_cast<std::size_t>(i * n + j); }
  std::vector<double> product() const {
    std::vector<double> result(lower.size());
    multiply_on_host<double>({lower.data(), n, n, n}, {upper.data(), n, n, n}, {result.data(), n, n, n});
    return result;
  }
  void take_magnitudes() {
    for (std::vector<double>* elements : {&lower, &upper}) {
      for (double& element : *elements) element = std::abs(element);
    }
  }

  Index n;
  std::vector<double> lower, upper;
};

template <class Real>
void check_factors(RowMajorView<const Real> a, RowMajorView<const Real> factors) {
  const Index n = a.rows;
  if (a.columns == n && factors.rows == n && factors.columns == n) return;
  throw std::invalid_argument("the extents of A = L U do not match");
}

}  // namespace

double elementwise_residual(RowMajorView<const float> a, RowMajorView<const float> factors) {
  check_factors(a, factors);
  const Index n = a.rows;
  if (n == 0) return 0;
  Triangles triangles(factors);
  const std::vector<double> product = triangles.product();
  triangles.take_magnitudes();
  const std::vector<double> magnitude = triangles.product();
  double largest = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const std::size_t at = triangles.at(i, j);
      const double difference = std::abs(static_cast<double>(a(i, j)) - product[at]);
      if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
      if (difference > 0) largest = std::max(largest, difference / magnitude[at]);  // infinite if that is 0
    }
  }
  return largest / (epsilon_of(Precision::single) * static_cast<double>(n));
}

template <class Real>
double factors_residual(RowMajorView<const Real> a, RowMajorView<const Real> factors, std::span<const Index> order) {
  check_factors(a, factors);
  const Index n = a.rows;
  if (!order.empty() && order.size() != static_cast<std::size_t>(n)) {
    throw std::invalid_argument("the order of rows of P A = L U has another extent");
  }
  if (n == 0) return 0;
  const Triangles triangles(factors);
  const std::vector<double> product = triangles.product();
  double difference_norm = 0, norm = 0;
  for (Index i = 0; i < n; ++i) {
    const Real* row = a.row(order.empty() ? i : order[static_cast<std::size_t>(i)]);
    double difference = 0, sum = 0;
    for (Index j = 0; j < n; ++j) {
      const auto element = static_cast<double>(row[j]);
      difference += std::abs(element - product[triangles.at(i, j)]);
      sum += std::abs(element);
    }
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    difference_norm = std::max(difference_norm, difference);
    norm = std::max(norm, sum);
  }
  return scaled_residual({.residual = difference_norm, .a = norm, .x = 1}, epsilon_of(precision_of<Real>),
                         static_cast<double>(n));
}
template double factors_residual(RowMajorView<const float>, RowMajorView<const float>, std::span<const Index>);
template double factors_residual(RowMajorView<const double>, RowMajorView<const double>, std::span<const Index>);

template <class Real>
std::optional<Index> factorize_without_pivoting(RowMajorView<Real> a) {
  if (a.rows != a.columns) throw std::invalid_argument("a matrix to be factorised is not square");
  for (Index i = 0; i < a.rows; ++i) {
    const Real pivot = a(i, i);
    if (pivot == Real{0} || !std::isfinite(pivot)) return i;
    const Real* upper = a.row(i);
    for (Index j = i + 1; j < a.rows; ++j) {
      Real* row = a.row(j);
      const Real multiplier = row[i] /= pivot;
      for (Index k = i + 1; k < a.columns; ++k) row[k] -= multiplier * upper[k];
    }
  }
  return std::nullopt;
}

template std::optional<Index> factorize_without_pivoting(RowMajorView<float>);
template std::optional<Index> factorize_without_pivoting(RowMajorView<double>);

namespace {

constexpr int max_corrections = 100;

/// Sums in twice the precision.
class Sum {
 public:
  explicit Sum(double first) : high_(first) {}
  void add(double term) {
    const DoublePair pair = two_sum(high_, term);
    high_ = pair.high;
    low_ += pair.low;
  }
  void add_product(double a, double b) {
    const DoublePair pair = two_product(a, b);
    add(pair.high);
    low_ += pair.low;
  }
  double rounded() const { return high_ + low_; }

 private:
  double high_;
  double low_ = 0;
};

double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

}  // namespace

std::vector<double> accurate_residual(RowMajorView<const double> a, std::span<const double> x_high,
                                      std::span<const double> x_low, std::span<const double> b) {
  const auto rows = static_cast<std::size_t>(a.rows), columns = static_cast<std::size_t>(a.columns);
  if (x_high.size() != columns || b.size() != rows || (!x_low.empty() && x_low.size() != columns)) {
    throw std::invalid_argument("the extents of A x = b do not match");
  }
  std::vector<double> residual(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const double* row = a.row(static_cast<Index>(i));
    Sum sum(b[i]);
    for (std::size_t j = 0; j < columns; ++j) sum.add_product(-row[j], x_high[j]);
    for (std::size_t j = 0; j < x_low.size(); ++j) sum.add_product(-row[j], x_low[j]);
    residual[i] = sum.rounded();
  }
  return residual;
}

std::vector<double> accurate_solution(RowMajorView<const double> a, std::span<const double> b) {
  const double enough = std::ldexp(1, -60);
  const Index n = a.rows;
  if (a.columns != n) throw std::invalid_argument("a matrix to be solved with is not square");
  std::vector<double> factors(static_cast<std::size_t>(n * n));
  const ColumnMajorView<double> columns{factors.data(), n, n, n};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < a.columns; ++j) columns(i, j) = a(i, j);
  }
  std::vector<Index> pivots(static_cast<std::size_t>(n));
  if (factorize_on_host(columns, pivots) != 0) return {};
  std::vector<double> high(static_cast<std::size_t>(n)), low(high.size());
  for (int correction = 0; correction < max_corrections; ++correction) {
    std::vector<double> change = accurate_residual(a, high, low, b);
    substitute_on_host<double>(columns, pivots, {change.data(), n, 1, n});
    for (std::size_t i = 0; i < high.size(); ++i) {
      const DoublePair sum = two_sum(high[i], change[i]);
      const DoublePair whole = two_sum(sum.high, sum.low + low[i]);
      high[i] = whole.high;
      low[i] = whole.low;
    }
    const double size = largest_magnitude(high);
    if (!std::isfinite(size)) return {};
    if (largest_magnitude(change) <= enough * size) return high;
  }
  return {};
}

}  // namespace glinpack
