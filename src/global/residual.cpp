#include "global/residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "global/communication.hpp"
#include "local/parallel_for.hpp"

namespace glinpack {

namespace {

// Larger of the two; a NaN stays.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = larger(std::fabs(value), largest);
  return largest;
}

// Rows [begin, end) of this rank's part of [A | b] as the source gives them again: body(row, elements). A few at a
// time, which stay in cache.
template <class Body>
void for_each_row_again(const Distribution& distribution, GridPosition at, const MatrixSource& source, Index begin,
                        Index end, Body body) {
  constexpr Index elements_at_once = 1 << 14;
  const Index columns = distribution.local_columns(at);
  const Index rows_at_once = std::clamp<Index>(elements_at_once / std::max<Index>(1, columns), 4, 16);
  std::vector<double> buffer(static_cast<std::size_t>(rows_at_once * columns));
  for (Index first = begin; first < end; first += rows_at_once) {
    const RowMajorView<double> part{buffer.data(), std::min(rows_at_once, end - first), columns, columns};
    source.fill(distribution, at, LocalIndex(first), part);
    for (Index i = 0; i < part.rows; ++i) body(static_cast<std::size_t>(first + i), part.row(i));
  }
}

// Sums that would wait for each other are kept four times.
constexpr std::size_t lanes = 4;
double sum_of(const double (&sums)[lanes]) { return (sums[0] + sums[1]) + (sums[2] + sums[3]); }

// body(lane, j) for all columns j < count.
template <class Body>
void for_each_column(std::size_t count, Body body) {
  const std::size_t whole = count / lanes * lanes;
  for (std::size_t j = 0; j < whole; j += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) body(lane, j + lane);
  }
  for (std::size_t j = whole; j < count; ++j) body(0, j);
}

template <class Real>
void add_row(const double* a, const std::vector<double>& x, std::size_t row, LocalSums& sums,
             std::vector<double>& column_sums, double& largest_a) {
  double product[lanes] = {};
  double row_sum[lanes] = {};
  double largest[lanes] = {};
  const double* const x_data = x.data();
  double* const column = column_sums.data();
  for_each_column(x.size(), [&](std::size_t lane, std::size_t j) {
    const auto element = static_cast<double>(static_cast<Real>(a[j]));
    const double magnitude = std::fabs(element);
    product[lane] += element * x_data[j];
    row_sum[lane] += magnitude;
    column[j] += magnitude;
    largest[lane] = std::max(largest[lane], magnitude);
  });
  sums.residual[row] = -sum_of(product);
  sums.row_sums[row] = sum_of(row_sum);
  for (const double value : largest) largest_a = std::max(largest_a, value);
}

// Rows are worth a thread from so many on.
constexpr Index rows_per_thread = 16;

double sum_of_products(const double* a, std::span<const double> x) {
  double sums[lanes] = {};
  for_each_column(x.size(), [&](std::size_t lane, std::size_t j) { sums[lane] += a[j] * x[j]; });
  return sum_of(sums);
}

// MPI_MAX may drop a NaN: it travels as a flag beside the maxima.
void maximum_over(MPI_Comm communicator, std::vector<double>& values) {
  std::vector<double> message = values;
  for (const double value : values) message.push_back(std::isnan(value) ? 1.0 : 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) message[i] = 0;
  }
  all_reduce(communicator, message.data(), static_cast<int>(message.size()), MPI_DOUBLE, MPI_MAX);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = message[values.size() + i] > 0 ? std::numeric_limits<double>::quiet_NaN() : message[i];
  }
}

double scaled(const Residual& residual, Index n) {
  const double scale = residual.norm_a_inf * residual.norm_x_inf + residual.norm_b_inf;
  return residual.norm_residual_inf / (residual.epsilon * scale * static_cast<double>(n));
}

}  // namespace

template <class Real>
LocalSums local_sums(const Distribution& distribution, GridPosition at, const MatrixSource& source,
                     const std::vector<double>& x, int threads) {
  const Index rows = distribution.local_rows(at);
  const bool holds_b = distribution.local_columns(at) > static_cast<Index>(x.size());
  LocalSums sums(rows, static_cast<Index>(x.size()));
  std::mutex mutex;
  parallel_for(threads, rows, rows_per_thread, [&](Index begin, Index end) {
    std::vector<double> column_sums(x.size());
    double largest_a = 0;
    double largest_b = 0;
    for_each_row_again(distribution, at, source, begin, end, [&](std::size_t row, const double* elements) {
      add_row<Real>(elements, x, row, sums, column_sums, largest_a);
      if (!holds_b) return;
      const auto b = static_cast<double>(static_cast<Real>(elements[x.size()]));
      sums.residual[row] += b;
      largest_b = std::max(largest_b, std::fabs(b));
    });
    const std::lock_guard lock(mutex);
    for (std::size_t j = 0; j < column_sums.size(); ++j) sums.column_sums[j] += column_sums[j];
    sums.largest_a = std::max(sums.largest_a, largest_a);
    sums.largest_b = std::max(sums.largest_b, largest_b);
  });
  return sums;
}

Residual combined(LocalSums& sums, const Distribution& distribution, const ProcessGrid& grid, Precision precision,
                  const std::vector<double>& x) {
  add_over(grid.row(), sums.residual);
  add_over(grid.row(), sums.row_sums);
  add_over(grid.column(), sums.column_sums);
  std::vector<double> maxima{largest_magnitude(sums.row_sums), largest_magnitude(sums.column_sums), sums.largest_b,
                             sums.largest_a};
  maximum_over(grid.all(), maxima);
  Residual known;
  known.epsilon = epsilon_of(precision);
  known.norm_a_inf = maxima[0];
  known.norm_a_one = maxima[1];
  known.norm_b_inf = maxima[2];
  known.largest_a = maxima[3];
  return test_again(known, distribution, grid, sums.residual, x);
}

template <class Real>
Residual compute_residual(const Distribution& distribution, const ProcessGrid& grid, const MatrixSource& source,
                          const std::vector<double>& x, int threads) {
  LocalSums sums = local_sums<Real>(distribution, grid.position(), source, x, threads);
  return combined(sums, distribution, grid, precision_of<Real>, x);
}

std::vector<double> local_residual(const Distribution& distribution, GridPosition at, const MatrixSource& source,
                                   std::span<const double> x, double beta, int threads) {
  const Index rows = distribution.local_rows(at);
  const bool holds_b = distribution.local_columns(at) > static_cast<Index>(x.size());
  std::vector<double> residual(static_cast<std::size_t>(rows));
  parallel_for(threads, rows, rows_per_thread, [&](Index begin, Index end) {
    for_each_row_again(distribution, at, source, begin, end, [&](std::size_t row, const double* elements) {
      residual[row] = (holds_b ? beta * elements[x.size()] : 0.0) - sum_of_products(elements, x);
    });
  });
  return residual;
}

void add_over(MPI_Comm communicator, std::span<double> values) {
  // MPI counts to 2^31-1; a rank never holds that many rows or columns
  all_reduce(communicator, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM);
}

Residual test_again(const Residual& known, const Distribution& distribution, const ProcessGrid& grid,
                    std::span<const double> vector, std::span<const double> x) {
  double x_sum = 0;  // of this process column's part
  for (const double value : x) x_sum += std::fabs(value);
  all_reduce(grid.row(), &x_sum, 1, MPI_DOUBLE, MPI_SUM);
  std::vector<double> maxima{largest_magnitude(vector), largest_magnitude(x)};
  maximum_over(grid.all(), maxima);
  Residual result = known;
  result.norm_residual_inf = maxima[0];
  result.norm_x_inf = maxima[1];
  result.norm_x_one = x_sum;
  result.scaled = scaled(result, distribution.n);
  return result;
}

template LocalSums local_sums<float>(const Distribution&, GridPosition, const MatrixSource&, const std::vector<double>&,
                                     int);
template LocalSums local_sums<double>(const Distribution&, GridPosition, const MatrixSource&,
                                      const std::vector<double>&, int);
template Residual compute_residual<float>(const Distribution&, const ProcessGrid&, const MatrixSource&,
                                          const std::vector<double>&, int);
template Residual compute_residual<double>(const Distribution&, const ProcessGrid&, const MatrixSource&,
                                           const std::vector<double>&, int);

}  // namespace glinpack
