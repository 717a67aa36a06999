// The elliptic test problem over ranks: who has which strip of the square, and what goes between them.
#pragma once

#include <mpi.h>

#include <array>
#include <span>
#include <vector>

#include "local/poisson_cg.hpp"

namespace glinpack {

/// The strip of a rank: the square cut into horizontal strips, from the top in the order of ranks, whose rows differ by
/// one at most. Pure. Throws std::invalid_argument where there are fewer rows than ranks.
PoissonExtents strip_of_rank(Index n, int rank, int ranks);

/// Collective. The sum of all ranks' values, added up in the order of ranks: the same bits on every rank and in every
/// run, which MPI_Allreduce need not give.
double sum_over_ranks(MPI_Comm communicator, double mine);

/// Seconds of this rank.
struct StripExchangeTimes {
  double exchange = 0;  // from the sending of a strip's edges until its ghost rows have come
  double exposed = 0;   // the part of it after this rank, host and device, had done its own work
  double sums = 0;      // adding up over the ranks, and waiting for slower ones, but not for this rank's own device
};

/// The rows beside a strip, n elements each; empty: the boundary.
template <class Real>
struct GhostRows {
  std::span<const Real> above;
  std::span<const Real> below;
};

/// A rank's neighbours above and below. update() updates the first and the last row of the strip, sends r there to the
/// neighbours, and updates the rows between while it is under way. The neighbours' rows are waited for in add_up() of
/// the residual, which comes next: one wait for both.
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

  /// Collective. A row each to the neighbours, and theirs, which stay until the next exchange.
  GhostRows<Real> exchange(const PoissonEdges<Real>& edges);

  const StripExchangeTimes& times() const { return times_; }
  void forget_times() { times_ = {}; }

 private:
  /// Rows on their way, to or from the rank above or below.
  struct Side {
    int rank = MPI_PROC_NULL;
    std::vector<Real> outgoing, ghost;
  };

  /// Of all ranks' values, begun before `meanwhile` and waited for after it.
  template <class Work>
  double add_up(double own, const Work& meanwhile);
  void send(const PoissonEdges<Real>& edges);
  GhostRows<Real> receive();

  MPI_Comm communicator_;
  Side above_, below_;
  std::array<MPI_Request, 4> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  bool under_way_ = false;
  double sent_at_ = 0;
  std::vector<double> parts_;  // of a sum, by rank
  StripExchangeTimes times_;
};

/// Collective. u of all strips, n x n elements, on rank 0; empty elsewhere. `mine`: this rank's rows of it.
template <class Real>
std::vector<Real> gather_strips(MPI_Comm communicator, Index n, std::span<const Real> mine);

}  // namespace glinpack
