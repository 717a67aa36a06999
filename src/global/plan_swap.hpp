// Which row exchange a pass takes.
#pragma once

#include <span>

#include "global/row_moves.hpp"
#include "global/run.hpp"

namespace glinpack {

/// A rank's part in the row exchange of some trailing columns of a pass, as the run's RowSwap has it.
inline RowExchangePlan plan_swap(const RunParameters& parameters, const Distribution& distribution, GridPosition at,
                                 const PassPlan& plan, std::span<const GlobalIndex> pivots, ColumnRange columns) {
  const GlobalIndex first = distribution.rows.first(BlockIndex(plan.pass));
  const auto moves = net_row_moves(first, pivots);
  if (!all_compute_u12(parameters.row_swap, parameters.pivoting, distribution.shape)) {
    return plan_row_exchange(distribution.rows, at.row, moves);
  }
  const RowSwapKind kind = kind_for(parameters.row_swap, columns.count);
  return plan_u_exchange(kind, distribution.rows, at.row, first, plan.width, moves);
}

}  // namespace glinpack
