#include "global/residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "global/communication.hpp"
#include "local/parallel_for.hpp"

namespace glinpack {

namespace {

// This rank's sums over its part of [A | b]; the sums over rows and columns are complete only after a reduction.
struct LocalSums {
  std::vector<double> residual;     // b - A x
  std::vector<double> row_sums;     // of |a_ij|
  std::vector<double> column_sums;  // of |a_ij|
  double largest_b = 0;
  double largest_a = 0;

  LocalSums(Index rows, Index columns)
      : residual(static_cast<std::size_t>(rows)),
        row_sums(static_cast<std::size_t>(rows)),
        column_sums(static_cast<std::size_t>(columns)) {}
};

// Larger of the two; a NaN stays.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = larger(std::fabs(value), largest);
  return largest;
}

template <class Real>
void add_row(const double* a, const std::vector<Real>& x, std::size_t row, LocalSums& sums,
             std::vector<double>& column_sums, double& largest_a) {
  double product = 0;
  double row_sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const auto element = static_cast<double>(static_cast<Real>(a[j]));
    const double magnitude = std::fabs(element);
    product += element * static_cast<double>(x[j]);
    row_sum += magnitude;
    column_sums[j] += magnitude;
    largest_a = std::max(largest_a, magnitude);
  }
  sums.residual[row] = -product;
  sums.row_sums[row] = row_sum;
}

template <class Real>
LocalSums local_sums(const Distribution& distribution, GridPosition at, const MatrixSource& source,
                     const std::vector<Real>& x, int threads) {
  const Index rows = distribution.local_rows(at);
  const Index columns = distribution.local_columns(at);
  const bool holds_b = columns > static_cast<Index>(x.size());
  LocalSums sums(rows, static_cast<Index>(x.size()));
  std::mutex mutex;
  constexpr Index rows_at_once = 16;
  parallel_for(threads, rows, rows_at_once, [&](Index begin, Index end) {
    std::vector<double> buffer(static_cast<std::size_t>(rows_at_once * columns));
    std::vector<double> column_sums(x.size());
    double largest_a = 0;
    double largest_b = 0;
    for (Index first = begin; first < end; first += rows_at_once) {
      const RowMajorView<double> part{buffer.data(), std::min(rows_at_once, end - first), columns, columns};
      source.fill(distribution, at, LocalIndex(first), part);
      for (Index i = 0; i < part.rows; ++i) {
        const auto row = static_cast<std::size_t>(first + i);
        add_row(part.row(i), x, row, sums, column_sums, largest_a);
        if (holds_b) {
          const auto b = static_cast<double>(static_cast<Real>(part(i, columns - 1)));
          sums.residual[row] += b;
          largest_b = std::max(largest_b, std::fabs(b));
        }
      }
    }
    const std::lock_guard lock(mutex);
    for (std::size_t j = 0; j < column_sums.size(); ++j) sums.column_sums[j] += column_sums[j];
    sums.largest_a = std::max(sums.largest_a, largest_a);
    sums.largest_b = std::max(sums.largest_b, largest_b);
  });
  return sums;
}

void add_over(MPI_Comm communicator, std::vector<double>& values) {
  // MPI counts to 2^31-1; a rank never holds that many rows or columns
  all_reduce(communicator, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM);
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

}  // namespace

template <class Real>
Residual compute_residual(const Distribution& distribution, const ProcessGrid& grid, const MatrixSource& source,
                          const std::vector<Real>& x, int threads) {
  LocalSums sums = local_sums(distribution, grid.position(), source, x, threads);
  add_over(grid.row(), sums.residual);
  add_over(grid.row(), sums.row_sums);
  add_over(grid.column(), sums.column_sums);
  const std::vector<double> x_double(x.begin(), x.end());
  double x_sum = 0;  // of this process column's part
  for (const double value : x_double) x_sum += std::fabs(value);
  all_reduce(grid.row(), &x_sum, 1, MPI_DOUBLE, MPI_SUM);

  std::vector<double> maxima{largest_magnitude(sums.residual),
                             largest_magnitude(sums.row_sums),
                             largest_magnitude(sums.column_sums),
                             largest_magnitude(x_double),
                             sums.largest_b,
                             sums.largest_a};
  maximum_over(grid.all(), maxima);
  Residual result;
  result.epsilon = epsilon_of(precision_of<Real>);
  result.norm_residual_inf = maxima[0];
  result.norm_a_inf = maxima[1];
  result.norm_a_one = maxima[2];
  result.norm_x_inf = maxima[3];
  result.norm_x_one = x_sum;
  result.norm_b_inf = maxima[4];
  result.largest_a = maxima[5];
  const double scale = result.norm_a_inf * result.norm_x_inf + result.norm_b_inf;
  result.scaled = result.norm_residual_inf / (result.epsilon * scale * static_cast<double>(distribution.n));
  return result;
}

template Residual compute_residual(const Distribution&, const ProcessGrid&, const MatrixSource&,
                                   const std::vector<float>&, int);
template Residual compute_residual(const Distribution&, const ProcessGrid&, const MatrixSource&,
                                   const std::vector<double>&, int);

}  // namespace glinpack
