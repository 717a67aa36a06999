// The row interchanges of a pass: what they come to, and each rank's part in them. Pure.
#pragma once

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

}  // namespace glinpack
