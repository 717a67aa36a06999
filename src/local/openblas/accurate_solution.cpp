#include "local/openblas/accurate_solution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "local/error_free.hpp"
#include "local/openblas/host_solvers.hpp"

namespace glinpack {

namespace {

constexpr int most_corrections = 100;

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
  for (int correction = 0; correction < most_corrections; ++correction) {
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
