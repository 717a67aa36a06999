#include "mpi/strip_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "base/measuring.hpp"
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
StripExchange<Real>::StripExchange(MPI_Comm communicator, Index n) : communicator_(communicator) {
  const int rank = rank_in(communicator), size = size_of(communicator);
  parts_.resize(static_cast<std::size_t>(size));
  if (rank > 0) above_.rank = rank - 1;
  if (rank + 1 < size) below_.rank = rank + 1;
  for (Side* side : {&above_, &below_}) {
    if (side->rank == MPI_PROC_NULL) continue;
    side->outgoing.resize(static_cast<std::size_t>(n));
    side->ghost.resize(static_cast<std::size_t>(n));
  }
}

template <class Real>
template <class Work>
double StripExchange<Real>::add_up(double own, const Work& meanwhile) {
  MPI_Request request = MPI_REQUEST_NULL;
  GLINPACK_MPI(MPI_Iallgather(&own, 1, MPI_DOUBLE, parts_.data(), 1, MPI_DOUBLE, communicator_, &request));
  meanwhile();
  const double start = steady_seconds();
  wait(request, Pending::with_all_of(communicator_));
  times_.sums += steady_seconds() - start;
  return std::accumulate(parts_.begin(), parts_.end(), 0.0);
}

template <class Real>
void StripExchange<Real>::add_up(PoissonStrip<Real>& strip, PoissonSum which) {
  const double total = add_up(strip.own_sum(which), [&] {
    if (!in_flight_) return;
    const GhostRows<Real> ghosts = receive();
    strip.write_ghost_rows(ghosts.above, ghosts.below);
  });
  strip.set_sum(which, total);
}

template <class Real>
void StripExchange<Real>::update(PoissonStrip<Real>& strip, Index iteration) {
  const Index rows = strip.extents().rows;
  strip.update(iteration, {0, 1});
  if (rows > 1) strip.update(iteration, {rows - 1, rows});
  strip.begin_reading_edges();
  const auto update_between = [&] {
    if (rows > 2) strip.update(iteration, {1, rows - 1});
  };
  // a device gets its work before the host waits for the edges; without a device, the host sends first, then computes
  if (strip.returns_early()) update_between();
  send(strip.edges());
  if (!strip.returns_early()) update_between();
}

template <class Real>
GhostRows<Real> StripExchange<Real>::exchange(const PoissonEdges<Real>& edges) {
  send(edges);
  return receive();
}

template <class Real>
void StripExchange<Real>::send(const PoissonEdges<Real>& edges) {
  in_flight_ = true;
  sent_at_ = steady_seconds();
  MPI_Request* request = requests_.data();
  const auto start = [&](Side& side, std::span<const Real> edge) {
    if (side.rank == MPI_PROC_NULL) return;
    // edges may be in memory that a driver maps; MPI gets a copy
    std::copy(edge.begin(), edge.end(), side.outgoing.begin());
    const int count = message_count(static_cast<Index>(edge.size()));
    GLINPACK_MPI(
        MPI_Irecv(side.ghost.data(), count, mpi_type<Real>(), side.rank, tags::ghost_rows, communicator_, request++));
    GLINPACK_MPI(MPI_Isend(side.outgoing.data(), count, mpi_type<Real>(), side.rank, tags::ghost_rows, communicator_,
                           request++));
  };
  start(above_, edges.first);
  start(below_, edges.last);
}

template <class Real>
GhostRows<Real> StripExchange<Real>::receive() {
  const double start = steady_seconds();
  wait(requests_, Pending::from(communicator_, above_.rank == MPI_PROC_NULL ? below_.rank : above_.rank));
  in_flight_ = false;
  const double now = steady_seconds();
  times_.exposed += now - start;
  times_.exchange += now - sent_at_;
  return {above_.ghost, below_.ghost};
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

template class StripExchange<float>;
template class StripExchange<double>;
template std::vector<float> gather_strips(MPI_Comm, Index, std::span<const float>);
template std::vector<double> gather_strips(MPI_Comm, Index, std::span<const double>);

}  // namespace glinpack
