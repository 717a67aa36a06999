// The elliptic test problem over ranks: strips of the square, and the halo exchange between them.
#pragma once

#include <mpi.h>

#include <array>
#include <span>
#include <vector>

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
  StripExchange(MPI_Comm communicator, Index n);
  StripExchange(const StripExchange&) = delete;
  StripExchange& operator=(const StripExchange&) = delete;

  /// Collective, both.
  void add_up(PoissonStrip<Real>& strip, PoissonSum which) override;
  void update(PoissonStrip<Real>& strip, Index iteration) override;

  /// Collective. Sends a row to each neighbour and returns theirs, which are valid until the next exchange.
  GhostRows<Real> exchange(const PoissonEdges<Real>& edges);

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
  double add_up(double own, const Work& meanwhile);
  void send(const PoissonEdges<Real>& edges);
  GhostRows<Real> receive();

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
