#include "mpi/scatter_matrix.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <string>
#include <utility>

#include "mpi/communication.hpp"

namespace glinpack {

namespace {

// The elements of a row of A at a position of the grid, then the sum of the whole row.
std::vector<double> pack_row(const Distribution& distribution, const double* row, GridPosition at) {
  const Index columns = distribution.local_columns_of_a(at);
  std::vector<double> packed(static_cast<std::size_t>(columns + 1));
  for (Index j = 0; j < columns; j += distribution.nb) {
    const Index first = distribution.columns.global(LocalIndex(j), at.column).value;
    std::copy_n(row + first, std::min(distribution.nb, columns - j), packed.begin() + j);
  }
  packed.back() = std::accumulate(row, row + distribution.n, 0.0);
  return packed;
}

}  // namespace

std::unique_ptr<MatrixSource> scatter_matrix(const ProcessGrid& grid, const Distribution& distribution,
                                             const std::vector<double>* dense_on_root) {
  const GridPosition at = grid.position();
  const Index rows = distribution.local_rows(at);
  const Index columns = distribution.local_columns_of_a(at);
  std::vector<double> local_a;
  std::vector<double> local_b;
  std::string error;
  try {
    local_a.resize(static_cast<std::size_t>(rows * columns));
    local_b.resize(static_cast<std::size_t>(rows));
  } catch (const std::exception&) {
    error =
        "no memory for this rank's " + std::to_string(rows) + " x " + std::to_string(columns) + " part of the matrix";
  }
  agree_or_throw(grid.all(), error);  // before any rank waits for a message
  const auto keep = [&](Index local_row, const std::vector<double>& packed) {
    std::copy_n(packed.begin(), columns, local_a.begin() + local_row * columns);
    local_b[static_cast<std::size_t>(local_row)] = packed.back();
  };

  if (grid.is_root()) {
    for (Index i = 0; i < distribution.n; ++i) {
      const int process_row = distribution.rows.owner(GlobalIndex(i));
      for (int q = 0; q < grid.shape().columns; ++q) {
        const GridPosition to{process_row, q};
        const std::vector<double> packed = pack_row(distribution, dense_on_root->data() + i * distribution.n, to);
        if (to == at) {
          keep(distribution.rows.local(GlobalIndex(i)).value, packed);
          continue;
        }
        const int coordinates[2] = {process_row, q};
        int rank = 0;
        GLINPACK_MPI(MPI_Cart_rank(grid.all(), coordinates, &rank));
        send_message(grid.all(), mpi_message(std::span(packed), tags::scatter), rank);
      }
    }
  } else {
    std::vector<double> packed(static_cast<std::size_t>(columns + 1));
    for (Index local_row = 0; local_row < rows; ++local_row) {
      receive_message(grid.all(), mpi_message(std::span(packed), tags::scatter), 0);
      keep(local_row, packed);
    }
  }
  return make_stored_source(std::move(local_a), std::move(local_b));
}

}  // namespace glinpack
