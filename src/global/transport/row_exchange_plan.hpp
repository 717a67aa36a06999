// The row interchanges of a pass as a plan: the permutation that they make, and each rank's part in it. Pure.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/arithmetic.hpp"
#include "base/enumerators.hpp"
#include "matrix/pass.hpp"

namespace glinpack {

/// How rows of the trailing matrix are exchanged over a process column, chosen by name as HPL's SWAP values are.
enum class RowSwapKind {
  direct,           // every row goes directly to its place; U12 is then broadcast down the process column
  binary_exchange,  // HPL 0, bin-exch: pairs of ranks exchange all rows of U that they know (HPL_pdlaswp00N.c)
  spread_roll,      // HPL 1, long: rows are spread, then equal pieces of U circulate (HPL_pdlaswp01N.c)
  mix,              // HPL 2: binary exchange up to a number of columns, spread-roll above it
};
inline constexpr auto all_row_swaps = values_up_to<RowSwapKind::mix>;
constexpr std::string_view name_of(RowSwapKind kind) {
  return text_by_value(kind, "direct", "binary-exchange", "spread-roll", "mix");
}
/// By name, by HPL's name (bin-exch, long) or digit (0 ... 2).
std::optional<RowSwapKind> row_swap_from_name(std::string_view name);

struct RowSwap {
  RowSwapKind kind = RowSwapKind::direct;
  Index threshold = 64;  // mix: binary exchange is used up to this many columns of a rank
  Index pieces = 1;      // of the trailing columns: the row exchange of one overlaps the update of the previous one
  friend bool operator==(const RowSwap&, const RowSwap&) = default;
};
/// The kind that exchanges this many columns of a rank: never mix.
RowSwapKind kind_for(const RowSwap& swap, Index columns);

/// The interchanges of a factorisation, HPL's ipiv: global row j was interchanged with row pivots[j].
struct Interchanges {
  std::vector<GlobalIndex> pivots;
  /// Whether rows cross process rows; otherwise only the pivot's process row knows the pivots of a pass.
  bool across_process_rows = true;

  /// The pivots of the next pass.
  void append(std::span<const GlobalIndex> next) { pivots.insert(pivots.end(), next.begin(), next.end()); }
};

/// The contents of global row `from` go to global row `to`.
struct GlobalRowMove {
  GlobalIndex from;
  GlobalIndex to;
  friend bool operator==(const GlobalRowMove&, const GlobalRowMove&) = default;
};

/// The permutation that the interchanges "row first+j with row pivots[j], j = 0, 1, ..." make, one after the other:
/// every row that moves, ordered by `to` (LAPACK laswp as one permutation; HPL_pipid.c). pivots[j] >= first + j.
std::vector<GlobalRowMove> net_row_moves(GlobalIndex first, std::span<const GlobalIndex> pivots);

/// Rows [first, first + count) of a rank's buffer.
struct RowRange {
  Index first = 0;
  Index count = 0;
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// One message to or from another process row: ranges of rows of the buffer, in order.
struct RowTransfer {
  int process = 0;
  bool receives = false;
  std::vector<RowRange> ranges;  // none of them empty

  Index rows() const;
};
/// Simultaneous messages. A rank starts a round when it has completed the previous one.
using TransferRound = std::vector<RowTransfer>;

/// One rank's part in a set of moves, with a staging buffer for rows: gather the rows that leave, move rows within the
/// rank, send and receive between staging buffers, scatter the rows that arrived.
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

/// Every row goes directly to its destination: at most `width` rows each way, and at most one message per pair of
/// ranks.
RowExchangePlan plan_row_exchange(const BlockCyclic& rows, int process, std::span<const GlobalRowMove> moves);

/// All ranks end with all rows of U, which belong to rows [first, first + width) of the pass's panel, in their buffers.
/// All other rows end at their destinations. The buffer has at most 2 width rows.
///
/// binary_exchange  HPL_pdlaswp00N: ranks at a distance of a power of two exchange the rows of U that they have, which
///                  doubles them each time. The same messages carry the rows that U displaces, each to the half of the
///                  ranks that contains its destination. ceil(log2 P) messages each way, and two more unless P is a
///                  power of two: each surplus rank hands its rows to another rank, which returns the result.
/// spread_roll      HPL_pdlaswp01N, HPL_spreadN, HPL_equil, HPL_rollN: the displaced rows go down a binary tree. Pieces
///                  of U are made equal, then circulate in the ring of ranks until each rank has all of them.
RowExchangePlan plan_u_exchange(RowSwapKind kind, const BlockCyclic& rows, int process, GlobalIndex first, Index width,
                                std::span<const GlobalRowMove> moves);

/// The row swaps of a rank in a run. With `u_to_all_rows`, all process rows receive the rows of U, by the kind that
/// `swap` selects for the number of columns. Otherwise every row goes directly to its place.
struct RankSwaps {
  const RowSwap& swap;
  bool u_to_all_rows;
  const BlockCyclic& rows;
  int process;
};

/// A rank's part in the row exchange of some trailing columns of a pass.
RowExchangePlan plan_row_swap(const RankSwaps& rank, const PassPlan& pass, std::span<const GlobalIndex> pivots,
                              ColumnRange columns);

/// Remembers plan_row_swap() of a process row, which is the same for all its ranks. Recording many ranks of one row one
/// after the other takes a fraction of the time. The pivots must depend on the pass alone.
class RowPlanCache {
 public:
  RowExchangePlan plan(const RankSwaps& rank, const PassPlan& pass, std::span<const GlobalIndex> pivots,
                       ColumnRange columns);

 private:
  int row_ = -1;
  std::map<std::pair<Index, RowSwapKind>, RowExchangePlan> plans_;  // by pass
};

}  // namespace glinpack
