// The elliptic test problem over ranks: strips of the square, and the halo exchange between them.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "base/measuring.hpp"
#include "mpi/communication.hpp"
#include "solvers/poisson/poisson_cg.hpp"

namespace glinpack {

/// The strip of a rank. The square is cut into horizontal strips, from the top in the order of ranks, whose heights
/// differ by at most one row. Pure. Throws std::invalid_argument if there are fewer rows than ranks.
PoissonExtents strip_of_rank(Index n, int rank, int ranks);

/// Collective. The sum of all ranks' values, added up in the order of ranks. So every run has the same bits, which
/// MPI_Allreduce does not guarantee.
double sum_over_ranks(MPI_Comm communicator, double mine);

/// Seconds of this rank.
struct StripExchangeTimes {
  double exchange = 0;  // from the send of a strip's edges to the receipt of its ghost rows
  double exposed = 0;   // the part of it that no work of this rank overlaps
  double sums = 0;      // reductions, waits for slower ranks included, waits for this rank's own device excluded
};

/// The rows adjacent to a strip, n elements each; empty at the boundary.
template <class Real>
struct GhostRows {
  std::span<const Real> above;
  std::span<const Real> below;
};

/// A rank's neighbours above and below. update() updates the first and the last row of the strip, starts sending their
/// r to the neighbours, and then updates the rows between. The next add_up(), of the residual, also waits for the
/// neighbours' rows.
template <class Real>
class StripExchange final : public PoissonNeighbours<Real> {
 public:
  /// For strip_of_rank() of this rank. The communicator must outlive it.
  StripExchange(MPI_Comm communicator, Index n) : communicator_(communicator) {
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
  StripExchange(const StripExchange&) = delete;
  StripExchange& operator=(const StripExchange&) = delete;

  /// Collective, both.
  void add_up(PoissonStrip<Real>& strip, PoissonSum which) override {
    const double total = add_up(strip.own_sum(which), [&] {
      if (!in_flight_) return;
      const GhostRows<Real> ghosts = receive();
      strip.write_ghost_rows(ghosts.above, ghosts.below);
    });
    strip.set_sum(which, total);
  }
  void update(PoissonStrip<Real>& strip, Index iteration) override {
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

  /// Collective. Sends a row to each neighbour and returns theirs, which are valid until the next exchange.
  GhostRows<Real> exchange(const PoissonEdges<Real>& edges) {
    send(edges);
    return receive();
  }

  const StripExchangeTimes& times() const { return times_; }
  void forget_times() { times_ = {}; }

 private:
  /// The rows sent to and received from the rank above or below.
  struct Side {
    int rank = MPI_PROC_NULL;
    std::vector<Real> outgoing, ghost;
  };

  /// The sum over all ranks, started before `meanwhile` and completed after it.
  template <class Work>
  double add_up(double own, const Work& meanwhile) {
    MPI_Request request = MPI_REQUEST_NULL;
    GLINPACK_MPI(MPI_Iallgather(&own, 1, MPI_DOUBLE, parts_.data(), 1, MPI_DOUBLE, communicator_, &request));
    meanwhile();
    const double start = steady_seconds();
    wait(request, Pending::with_all_of(communicator_));
    times_.sums += steady_seconds() - start;
    return std::accumulate(parts_.begin(), parts_.end(), 0.0);
  }
  void send(const PoissonEdges<Real>& edges) {
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
  GhostRows<Real> receive() {
    const double start = steady_seconds();
    wait(requests_, Pending::from(communicator_, above_.rank == MPI_PROC_NULL ? below_.rank : above_.rank));
    in_flight_ = false;
    const double now = steady_seconds();
    times_.exposed += now - start;
    times_.exchange += now - sent_at_;
    return {above_.ghost, below_.ghost};
  }

  MPI_Comm communicator_;
  Side above_, below_;
  std::array<MPI_Request, 4> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  bool in_flight_ = false;
  double sent_at_ = 0;
  std::vector<double> parts_;  // of a sum, by rank
  StripExchangeTimes times_;
};

/// Collective. u of all strips, n x n elements, on rank 0; empty elsewhere. `mine`: this rank's rows of it.
template <class Real>
std::vector<Real> gather_strips(MPI_Comm communicator, Index n, std::span<const Real> mine);

}  // namespace glinpack
