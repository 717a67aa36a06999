#include "matrix/original_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "base/threads.hpp"

namespace glinpack {

namespace {

bool holds_right_hand_side(const Distribution& distribution, GridPosition at) {
  return distribution.columns.owner(distribution.right_hand_side()) == at.column;
}

// Four independent partial sums, so that additions do not wait for each other.
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

// The fewest rows for which a thread pays off.
constexpr Index rows_per_thread = 16;

// Elements are rounded to Rounded.
template <class Rounded>
class MatrixOnHost final : public OriginalMatrix {
 public:
  MatrixOnHost(const LocalPart& part, int threads, Timeline& timeline)
      : part_(part),
        threads_(threads),
        timeline_(timeline),
        rows_(part.distribution.local_rows(part.at)),
        holds_b_(holds_right_hand_side(part.distribution, part.at)) {}

  std::vector<double> residual(std::span<const double> x, double beta) override {
    const auto scope = timed(x);
    std::vector<double> residual(static_cast<std::size_t>(rows_));
    parallel_for(threads_, rows_, rows_per_thread, [&](Index begin, Index end) {
      for_each_regenerated_row(begin, end, [&](std::size_t row, const double* elements) {
        residual[row] = (holds_b_ ? beta * rounded(elements[x.size()]) : 0.0) - product(elements, x);
      });
    });
    return residual;
  }

  LocalSums sums(std::span<const double> x) override {
    const auto scope = timed(x);
    LocalSums sums(rows_, static_cast<Index>(x.size()));
    std::mutex mutex;
    parallel_for(threads_, rows_, rows_per_thread, [&](Index begin, Index end) {
      ColumnSums columns{std::vector<double>(x.size())};
      for_each_regenerated_row(begin, end, [&](std::size_t row, const double* elements) {
        add_row(elements, x, row, sums, columns);
        if (!holds_b_) return;
        const double b = rounded(elements[x.size()]);
        sums.residual[row] += b;
        columns.largest_b = std::max(columns.largest_b, std::fabs(b));
      });
      const std::lock_guard lock(mutex);
      for (std::size_t j = 0; j < x.size(); ++j) sums.column_sums[j] += columns.sums[j];
      sums.largest_a = std::max(sums.largest_a, columns.largest_a);
      sums.largest_b = std::max(sums.largest_b, columns.largest_b);
    });
    return sums;
  }

 private:
  struct ColumnSums {
    std::vector<double> sums;
    double largest_a = 0, largest_b = 0;
  };

  static double rounded(double element) { return static_cast<double>(static_cast<Rounded>(element)); }

  Timeline::Scope timed(std::span<const double> x) {
    return timeline_.scope(Lane::cpu, Phase::refinement, 0,
                           2.0 * static_cast<double>(rows_) * static_cast<double>(x.size()));
  }

  // body(row, elements) for rows [begin, end) of [A | b], a few at a time, which stay in cache.
  template <class Body>
  void for_each_regenerated_row(Index begin, Index end, Body body) {
    constexpr Index elements_at_once = 1 << 14;
    const Index columns = part_.distribution.local_columns(part_.at);
    const Index rows_at_once = std::clamp<Index>(elements_at_once / std::max<Index>(1, columns), 4, 16);
    std::vector<double> buffer(static_cast<std::size_t>(rows_at_once * columns));
    for (Index first = begin; first < end; first += rows_at_once) {
      const RowMajorView<double> rows{buffer.data(), std::min(rows_at_once, end - first), columns, columns};
      part_.source.fill(part_.distribution, part_.at, LocalIndex(first), rows);
      for (Index i = 0; i < rows.rows; ++i) body(static_cast<std::size_t>(first + i), rows.row(i));
      timeline_.step();
    }
  }

  static double product(const double* a, std::span<const double> x) {
    double sums[lanes] = {};
    for_each_column(x.size(), [&](std::size_t lane, std::size_t j) { sums[lane] += rounded(a[j]) * x[j]; });
    return sum_of(sums);
  }

  static void add_row(const double* a, std::span<const double> x, std::size_t row, LocalSums& sums,
                      ColumnSums& columns) {
    double product[lanes] = {};
    double row_sum[lanes] = {};
    double largest[lanes] = {};
    double* const column = columns.sums.data();
    for_each_column(x.size(), [&](std::size_t lane, std::size_t j) {
      const double element = rounded(a[j]);
      const double magnitude = std::fabs(element);
      product[lane] += element * x[j];
      row_sum[lane] += magnitude;
      column[j] += magnitude;
      largest[lane] = std::max(largest[lane], magnitude);
    });
    sums.residual[row] = -sum_of(product);
    sums.row_sums[row] = sum_of(row_sum);
    for (const double value : largest) columns.largest_a = std::max(columns.largest_a, value);
  }

  LocalPart part_;
  int threads_;
  Timeline& timeline_;
  Index rows_;
  bool holds_b_;
};

// The device regenerates A; the host stores b, a single column.
class MatrixOnDevice final : public OriginalMatrix {
 public:
  MatrixOnDevice(std::unique_ptr<MatrixProduct> a, std::vector<double> b) : a_(std::move(a)), b_(std::move(b)) {}

  std::vector<double> residual(std::span<const double> x, double beta) override {
    std::vector<double> residual(b_.size());
    a_->multiply(x, residual);
    std::transform(residual.begin(), residual.end(), b_.begin(), residual.begin(),
                   [beta](double product, double b) { return beta * b - product; });
    return residual;
  }

  LocalSums sums(std::span<const double> x) override {
    LocalSums sums(static_cast<Index>(b_.size()), static_cast<Index>(x.size()));
    sums.residual = residual(x, 1);
    a_->sum_columns(sums.column_sums);
    sums.largest_a = a_->sum_rows(sums.row_sums);
    for (const double b : b_) sums.largest_b = std::max(sums.largest_b, std::fabs(b));
    return sums;
  }

 private:
  std::unique_ptr<MatrixProduct> a_;
  std::vector<double> b_;  // local rows; zero if another rank holds b
};

}  // namespace

std::unique_ptr<OriginalMatrix> original_matrix_on_host(const LocalPart& part, int threads, Timeline& timeline) {
  if (part.elements == Precision::single) return std::make_unique<MatrixOnHost<float>>(part, threads, timeline);
  return std::make_unique<MatrixOnHost<double>>(part, threads, timeline);
}

template <class Real>
std::unique_ptr<OriginalMatrix> original_matrix_on_device(const LocalPart& part, Backend<Real>& backend,
                                                          DeviceUse use) {
  const std::optional<MatrixElements> elements = part.source.elements(part.distribution, part.at);
  if (!elements) return nullptr;
  std::unique_ptr<MatrixProduct> a = backend.make_matrix_product(*elements, part.elements, use);
  if (!a) return nullptr;
  std::vector<double> b(static_cast<std::size_t>(part.distribution.local_rows(part.at)));
  if (holds_right_hand_side(part.distribution, part.at)) {
    for (std::size_t i = 0; i < b.size(); ++i) {
      const LocalIndex row(static_cast<Index>(i));
      b[i] = part.source.right_hand_side(part.distribution.rows.global(row, part.at.row));
      if (part.elements == Precision::single) b[i] = static_cast<double>(static_cast<float>(b[i]));
    }
  }
  return std::make_unique<MatrixOnDevice>(std::move(a), std::move(b));
}

template std::unique_ptr<OriginalMatrix> original_matrix_on_device(const LocalPart&, Backend<float>&, DeviceUse);
template std::unique_ptr<OriginalMatrix> original_matrix_on_device(const LocalPart&, Backend<double>&, DeviceUse);

}  // namespace glinpack
