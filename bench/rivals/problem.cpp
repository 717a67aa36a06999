#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/hpl_generator.hpp"
#include "matrix/matrix_source.hpp"
#include "rivals.hpp"
#include "solve/residual.hpp"

namespace glinpack::rivals {

double solve_flops(Index n) {
  const auto order = static_cast<double>(n);
  return (2.0 / 3.0 * order + 1.5) * order * order;
}

Index local_columns_of_a(const Distribution& distribution, int process_column) {
  return distribution.columns.lower_bound(distribution.right_hand_side(), process_column).value;
}

template <class Real>
std::vector<Real> local_matrix(const Distribution& distribution, GridPosition at) {
  const Index rows = distribution.local_rows(at);
  const Index columns = local_columns_of_a(distribution, at.column);
  if (rows * columns > std::numeric_limits<int>::max()) {
    throw std::runtime_error("a rank's part of the matrix has 2^31 elements or more; use a smaller N or more ranks");
  }
  std::vector<Real> matrix(static_cast<std::size_t>(rows * columns));
  const auto source = make_hpl_source(distribution.n);

  // the source hands out rows: some at a time, turned into columns
  const Index slab = 64;
  const Index generated_columns = distribution.local_columns(at);
  std::vector<double> buffer(static_cast<std::size_t>(slab * generated_columns));
  for (Index first = 0; first < rows; first += slab) {
    const RowMajorView<double> part{buffer.data(), std::min(slab, rows - first), generated_columns, generated_columns};
    source->fill(distribution, at, LocalIndex(first), part);
    for (Index j = 0; j < columns; ++j) {
      Real* const column = matrix.data() + j * rows + first;
      for (Index i = 0; i < part.rows; ++i) column[i] = static_cast<Real>(part(i, j));
    }
  }
  return matrix;
}

template <class Real>
std::vector<Real> right_hand_side(Index n) {
  std::vector<Real> b(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) b[static_cast<std::size_t>(i)] = static_cast<Real>(hpl_element(n, i, n));
  return b;
}

template <class Real>
double scaled_residual(const Distribution& distribution, const ProcessGrid& grid, const std::vector<Real>& x) {
  const int process_column = grid.position().column;
  std::vector<double> part(static_cast<std::size_t>(local_columns_of_a(distribution, process_column)));
  for (std::size_t j = 0; j < part.size(); ++j) {
    const GlobalIndex column = distribution.columns.global(LocalIndex(static_cast<Index>(j)), process_column);
    part[j] = static_cast<double>(x[static_cast<std::size_t>(column.value)]);
  }
  const int threads = 1;
  const auto source = make_hpl_source(distribution.n);
  Timeline timeline;
  const auto matrix =
      original_matrix_on_host({distribution, grid.position(), *source, precision_of<Real>}, threads, timeline);
  return compute_residual(*matrix, distribution, grid, precision_of<Real>, part).scaled;
}

template std::vector<float> local_matrix<float>(const Distribution&, GridPosition);
template std::vector<double> local_matrix<double>(const Distribution&, GridPosition);
template std::vector<float> right_hand_side<float>(Index);
template std::vector<double> right_hand_side<double>(Index);
template double scaled_residual(const Distribution&, const ProcessGrid&, const std::vector<float>&);
template double scaled_residual(const Distribution&, const ProcessGrid&, const std::vector<double>&);

}  // namespace glinpack::rivals
