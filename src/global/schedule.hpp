// The schedule is data: what every rank does in a pass, as a pure function of (N, nb, P, Q, pass, rank). The driver
// follows it, `glinpack plu --explain-pass` prints it, and it is tested without MPI for thousands of ranks.
#pragma once

#include <string>
#include <vector>

#include "global/distribution.hpp"
#include "global/row_swap.hpp"
#include "local/timeline.hpp"

namespace glinpack {

enum class Pivoting {
  local,       // the white paper's: candidates are the rows that the pivot rank itself holds
  partial,     // HPL's: candidates are all remaining rows of the process column
  tournament,  // CALU's: these rows meet in a tree, once for a block of columns and not for every column
};
std::string_view name_of(Pivoting pivoting);
/// Whether candidates are the rows of all ranks of a process column, so that rows cross the network.
constexpr bool pivots_across_processes(Pivoting pivoting) { return pivoting != Pivoting::local; }

/// Where panels are factorised. automatic: on GPUs that are good at it, with tournament pivoting; else on the host.
enum class PanelPlace { automatic, host, device };
std::string_view name_of(PanelPlace place);  // "auto", "host", "device"
/// Whether devices can.
constexpr bool panels_may_be_on_device(Pivoting pivoting) { return pivoting == Pivoting::tournament; }

/// Whether a row swap brings U's rows to all process rows, which then all compute U12 and need L11 for it (HPL's way);
/// else the pivot's process row computes U12 and sends it down.
constexpr bool all_compute_u12(const RowSwap& swap, Pivoting pivoting, const GridShape& grid) {
  return swap.kind != RowSwapKind::direct && pivots_across_processes(pivoting) && grid.rows > 1;
}

/// Where the pivot of a pass sits: process row k mod P, process column k mod Q.
GridPosition pivot_position(const GridShape& grid, Index pass);

/// pivot, normalize (its process row), eliminate (its process column) or reduce (white paper, 3.1).
Role role_in_pass(const GridShape& grid, Index pass, GridPosition at);

/// One rank's part in one pass: local extents, and positions in its local matrix.
struct PassPlan {
  Index pass = 0;
  Index width = 0;  // columns of the panel: nb, less in the last pass
  Role role = Role::none;
  GridPosition pivot;            // who holds the pivot block
  bool in_pivot_row = false;     // holds rows of U12
  bool in_pivot_column = false;  // holds rows of the panel

  LocalIndex panel_row;        // first local row of the block rows k ... (this rank's share of them)
  LocalIndex panel_column;     // first local column of the panel (in the pivot's process column)
  Index panel_rows = 0;        // this rank's share of rows k ... N-1
  LocalIndex trailing_row;     // first local row below the pivot's block row
  LocalIndex trailing_column;  // first local column right of the panel
  Index trailing_rows = 0;     // rows of A22 here
  Index trailing_columns = 0;  // columns of U12 and A22 here, b's included
};

PassPlan plan_pass(const Distribution& distribution, Index pass, GridPosition at);

/// Columns [first, first + count), counted from the first trailing column of a rank.
struct ColumnRange {
  Index first = 0;
  Index count = 0;
  Index end() const { return first + count; }
  friend bool operator==(const ColumnRange&, const ColumnRange&) = default;
};
/// The first of the pieces that rows of the trailing columns change places in, `pieces` of them at most: whole blocks,
/// but for the last, so that the next panel is in the first piece; and the piece after a piece, empty after the last.
ColumnRange first_piece(Index trailing_columns, Index nb, Index pieces);
ColumnRange piece_after(const ColumnRange& piece, Index trailing_columns);

/// A message of a pass: `elements` matrix elements from one rank to others, by broadcast or row exchange.
struct Message {
  enum class Kind {
    panel_row,
    u11_column,
    u12_column,
    candidate,
    match,
    winners,
    row_exchange,  // direct
    u_exchange,    // binary exchange: rows of U, and those that they displace
    spread,        // spread-roll: displaced rows
    equal_pieces,  // spread-roll: rows of U, so that all ranks have as many
    roll,          // spread-roll: these pieces of U
  };
  Kind kind;
  GridPosition from;
  std::vector<GridPosition> to;
  Index elements = 0;  // per receiver; where rows change places the largest possible, but for roll
  Index parts = 1;     // messages that they come in; matches and winners: one for every block of columns
};

/// All messages of a pass over the whole grid (white paper, figure 2).
std::vector<Message> messages_of_pass(const Distribution& distribution, Pivoting pivoting, Index pass,
                                      const RowSwap& swap = {});

/// Who waits for whom in a pass (white paper, figure 2): a text picture with a column for each role and time running
/// downwards. At most 100 characters wide on any grid: ranks of the same role are counted.
std::string picture_of_pass(const Distribution& distribution, Pivoting pivoting, Index pass, const RowSwap& swap = {});

/// The printed schedule of a pass: each rank's role and extents, the messages, then the picture.
std::string explain_pass(const Distribution& distribution, Pivoting pivoting, Index pass, const RowSwap& swap = {});

}  // namespace glinpack
