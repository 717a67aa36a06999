// The row interchanges of a pass: first what they come to (pure), then carrying them out over a process column.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <vector>

#include "global/distribution.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// The contents of global row `from` go to global row `to`.
struct GlobalRowMove {
  GlobalIndex from;
  GlobalIndex to;
  friend bool operator==(const GlobalRowMove&, const GlobalRowMove&) = default;
};

/// What the interchanges "row first+j with row pivots[j], j = 0, 1, ..." come to when done one after the other: every
/// row that ends somewhere else, ordered by `to` (LAPACK laswp as one permutation; HPL_pipid.c).
std::vector<GlobalRowMove> net_row_moves(GlobalIndex first, std::span<const GlobalIndex> pivots);

/// One rank's part in carrying out a set of moves: positions in its local rows, grouped by peer.
struct RowExchangePlan {
  struct Peer {
    int process = 0;  // process row
    Index first = 0;  // of its rows in the packed buffer
    Index count = 0;
  };
  std::vector<RowMove> local_moves;    // both ends here
  std::vector<Index> rows_to_send;     // ordered by receiving process, then as in the moves
  std::vector<Index> rows_to_receive;  // ordered by sending process, then as in the moves
  std::vector<Peer> receivers;
  std::vector<Peer> senders;
};
RowExchangePlan plan_row_exchange(const BlockCyclic& rows, int process, std::span<const GlobalRowMove> moves);

/// Carries out row exchanges over a process column; keeps its buffers from pass to pass.
template <class Real>
class RowExchange {
 public:
  /// Buffers for at most `rows` x `columns` elements each way.
  RowExchange(Backend<Real>& backend, Timeline& timeline, MPI_Comm column, Index rows, Index columns);

  /// Collective over the process column; `block` is all local rows of the columns that take part.
  void run(const RowExchangePlan& plan, DeviceBlock<Real> block);

 private:
  void transfer(const RowExchangePlan& plan, Index columns);

  Backend<Real>& backend_;
  Timeline& timeline_;
  MPI_Comm column_;
  std::unique_ptr<HostBuffer<Real>> outgoing_;
  std::unique_ptr<HostBuffer<Real>> incoming_;
  Fence incoming_free_;  // until then the device may still read what came in last
};

}  // namespace glinpack
