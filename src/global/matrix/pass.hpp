// One pass of the factorisation as one rank sees it: its role, and its local extents and positions. Pure functions of
// (N, nb, P, Q, pass, rank), tested without MPI for thousands of ranks.
#pragma once

#include <algorithm>
#include <vector>

#include "base/timeline.hpp"
#include "matrix/distribution.hpp"

namespace glinpack {

/// The pivot rank of a pass: process row k mod P, process column k mod Q.
inline GridPosition pivot_position(const GridShape& grid, Index pass) {
  return {static_cast<int>(pass % grid.rows), static_cast<int>(pass % grid.columns)};
}

/// pivot, normalize (its process row), eliminate (its process column) or reduce (white paper, 3.1).
inline Role role_in_pass(const GridShape& grid, Index pass, GridPosition at) {
  const GridPosition pivot = pivot_position(grid, pass);
  if (at == pivot) return Role::pivot;
  if (at.row == pivot.row) return Role::normalize;
  if (at.column == pivot.column) return Role::eliminate;
  return Role::reduce;
}

/// One rank's part in one pass: local extents, and positions in its local matrix.
struct PassPlan {
  Index pass = 0;
  Index width = 0;  // columns of the panel: nb, less in the last pass
  Role role = Role::none;
  GridPosition pivot;            // the rank that holds the pivot block
  bool in_pivot_row = false;     // holds rows of U12
  bool in_pivot_column = false;  // holds rows of the panel

  LocalIndex panel_row;        // first local row of the block rows k ... (this rank's share of them)
  LocalIndex panel_column;     // first local column of the panel (in the pivot's process column)
  Index panel_rows = 0;        // this rank's share of rows k ... N-1
  LocalIndex trailing_row;     // first local row below the pivot's block row
  LocalIndex trailing_column;  // first local column right of the panel
  Index trailing_rows = 0;     // rows of A22 here
  Index trailing_columns = 0;  // columns of U12 and A22 here, b's and the checksums included
};

inline PassPlan plan_pass(const Distribution& distribution, Index pass, GridPosition at) {
  const GlobalIndex first = distribution.rows.first(BlockIndex(pass));
  const Index width = distribution.pass_width(pass);
  PassPlan plan;
  plan.pass = pass;
  plan.width = width;
  plan.role = role_in_pass(distribution.shape, pass, at);
  plan.pivot = pivot_position(distribution.shape, pass);
  plan.in_pivot_row = at.row == plan.pivot.row;
  plan.in_pivot_column = at.column == plan.pivot.column;
  plan.panel_row = distribution.rows.lower_bound(first, at.row);
  plan.panel_column = distribution.columns.lower_bound(first, at.column);
  plan.panel_rows = distribution.local_rows(at) - plan.panel_row.value;
  plan.trailing_row = distribution.rows.lower_bound(first + width, at.row);
  plan.trailing_column = distribution.columns.lower_bound(first + width, at.column);
  plan.trailing_rows = distribution.local_rows(at) - plan.trailing_row.value;
  plan.trailing_columns = distribution.stored_columns(at) - plan.trailing_column.value;
  return plan;
}

/// Passes [first, end) of a factorisation.
struct PassRange {
  Index first = 0;
  Index end = 0;
};

/// Columns [first, first + count), counted from the first trailing column of a rank.
struct ColumnRange {
  Index first = 0;
  Index count = 0;
  Index end() const { return first + count; }
  friend bool operator==(const ColumnRange&, const ColumnRange&) = default;
};

/// The trailing columns in at most `pieces` pieces, from left to right: whole blocks of nb columns except in the last
/// one, so that the next panel is in the first piece. One empty piece if there are no columns.
inline std::vector<ColumnRange> pieces_of(Index trailing_columns, Index nb, Index pieces) {
  const Index even = (trailing_columns + pieces - 1) / pieces;
  const Index width = (even + nb - 1) / nb * nb;
  std::vector<ColumnRange> ranges{{0, std::min(width, trailing_columns)}};
  for (Index first = width; first < trailing_columns; first += width) {
    ranges.push_back({first, std::min(width, trailing_columns - first)});
  }
  return ranges;
}

}  // namespace glinpack
