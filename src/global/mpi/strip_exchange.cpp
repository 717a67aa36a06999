#include "mpi/strip_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "mpi/communication.hpp"

namespace glinpack {

PoissonExtents strip_of_rank(Index n, int rank, int ranks) {
  if (n < ranks) throw std::invalid_argument("every rank's strip needs a row");
  const auto first_of = [&](int r) { return n * r / ranks; };
  return {.n = n, .first_row = first_of(rank), .rows = first_of(rank + 1) - first_of(rank)};
}

double sum_over_ranks(MPI_Comm communicator, double mine) {
  const std::vector<double> all = all_gathered(MpiCommunicator(communicator), mine);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

template <class Real>
std::vector<Real> gather_strips(MPI_Comm communicator, Index n, std::span<const Real> mine) {
  const int rank = rank_in(communicator), size = size_of(communicator);
  std::vector<Real> u;
  // row by row: MPI counts a strip's elements with an int
  const auto length = static_cast<std::size_t>(n);
  if (rank != 0) {
    for (; !mine.empty(); mine = mine.subspan(length)) {
      send_message(communicator, mpi_message(mine.first(length), tags::gather), 0);
    }
    return u;
  }
  u.resize(static_cast<std::size_t>(n * n));
  std::copy(mine.begin(), mine.end(), u.begin());
  for (int from = 1; from < size; ++from) {
    const PoissonExtents strip = strip_of_rank(n, from, size);
    for (Index i = strip.first_row; i < strip.first_row + strip.rows; ++i) {
      receive_message(communicator, mpi_message(std::span(u.data() + i * n, length), tags::gather), from);
    }
  }
  return u;
}

template std::vector<float> gather_strips(MPI_Comm, Index, std::span<const float>);
template std::vector<double> gather_strips(MPI_Comm, Index, std::span<const double>);

}  // namespace glinpack
