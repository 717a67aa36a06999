// The row interchanges of a pass: what they come to, and each rank's part in them. Pure.
#pragma once

#include <span>
#include <vector>

#include "global/distribution.hpp"
#include "global/row_swap.hpp"
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

/// Rows [first, first + count) of a rank's buffer.
struct RowRange {
  Index first = 0;
  Index count = 0;
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// One message to or from another process row: these rows of the buffer, one range after the other.
struct RowTransfer {
  int process = 0;
  bool receives = false;
  std::vector<RowRange> ranges;  // none of them empty

  Index rows() const;
};
/// What may be under way at the same time; a round begins, on this rank, when all of the one before it are done.
using TransferRound = std::vector<RowTransfer>;

/// One rank's part in carrying out a set of moves, with a buffer for rows on their way. Rows that leave are gathered
/// there; what is left of the moves is done within the rank; then messages go from buffer to buffer; what has arrived
/// is scattered.
struct RowExchangePlan {
  std::vector<Index> rows_to_gather;  // local rows, to the buffer's rows from gather_first on
  Index gather_first = 0;
  std::vector<RowMove> local_moves;  // both ends here
  std::vector<TransferRound> rounds;
  std::vector<Index> rows_to_scatter;  // local rows, from the buffer's rows from scatter_first on
  Index scatter_first = 0;
  std::vector<Index> u_rows;  // rows of U, from the buffer's rows from u_first on; none with the direct exchange
  Index u_first = 0;

  Index rows_received() const;
  Index messages_received() const;
};

/// Every row straight to where it belongs: at most `width` rows each way, a message for each pair of ranks at most.
RowExchangePlan plan_row_exchange(const BlockCyclic& rows, int process, std::span<const GlobalRowMove> moves);

/// The moves of the pass whose panel is rows and columns [first, first + width), such that all ranks end with all rows
/// of U, those that belong to the rows [first, first + width), in their buffers; other rows end where they belong. The
/// buffer has at most 2 width rows.
///
/// binary_exchange  HPL_pdlaswp00N: ranks a power of two apart exchange the rows of U that they know by then, so that
///                  these double; with them go the rows that U displaces, to one half of the ranks after the other.
///                  ceil(log2 P) messages each way, and two more where P is no power of two: the ranks that are too
///                  many hand their rows to one of the others, who hands them the outcome.
/// spread_roll      HPL_pdlaswp01N, HPL_spreadN, HPL_equil, HPL_rollN: the displaced rows go down a binary tree; pieces
///                  of U are made equal, then go round the ring of ranks, each of which ends with all of them.
RowExchangePlan plan_u_exchange(RowSwapKind kind, const BlockCyclic& rows, int process, GlobalIndex first, Index width,
                                std::span<const GlobalRowMove> moves);

}  // namespace glinpack
