#include "matrix/pass.hpp"

#include <algorithm>

namespace glinpack {

GridPosition pivot_position(const GridShape& grid, Index pass) {
  return {static_cast<int>(pass % grid.rows), static_cast<int>(pass % grid.columns)};
}

Role role_in_pass(const GridShape& grid, Index pass, GridPosition at) {
  const GridPosition pivot = pivot_position(grid, pass);
  if (at == pivot) return Role::pivot;
  if (at.row == pivot.row) return Role::normalize;
  if (at.column == pivot.column) return Role::eliminate;
  return Role::reduce;
}

PassPlan plan_pass(const Distribution& distribution, Index pass, GridPosition at) {
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

std::vector<ColumnRange> pieces_of(Index trailing_columns, Index nb, Index pieces) {
  const Index even = (trailing_columns + pieces - 1) / pieces;
  const Index width = (even + nb - 1) / nb * nb;
  std::vector<ColumnRange> ranges{{0, std::min(width, trailing_columns)}};
  for (Index first = width; first < trailing_columns; first += width) {
    ranges.push_back({first, std::min(width, trailing_columns - first)});
  }
  return ranges;
}

}  // namespace glinpack
