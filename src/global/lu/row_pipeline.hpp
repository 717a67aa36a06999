// The block row of a pass, piece by piece: rows exchanged by P, the solve with L11, U12 on every rank of the process
// column. The exchange of a piece overlaps the update of the piece before it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lu/panel/panel.hpp"
#include "lu/parameters.hpp"
#include "transport/rank_context.hpp"
#include "transport/row_exchange.hpp"

namespace glinpack {

/// Owns the staging buffers of rows and of U12, and the operand of the update. All calls are collective over process
/// columns.
template <class Real>
class RowPipeline {
 public:
  /// `a`: this rank's part of the matrix. `plans`: of the ranks that are recorded before this one; null: none.
  /// Allocates. All must outlive it.
  RowPipeline(const RankContext<Real>& context, DeviceMatrix<Real>& a, RowPlanCache* plans);
  RowPipeline(const RowPipeline&) = delete;
  RowPipeline& operator=(const RowPipeline&) = delete;

  /// The pieces of a pass's trailing columns. Starts the exchange of the first one, unless start_early() has.
  const std::vector<ColumnRange>& start(const PassPlan& pass, const Panel<Real>& panel);
  /// U12 of piece `i`, as an operand of the update. Waits for its rows, then starts the exchange of the next piece.
  DeviceBlock<Real> take(const PassPlan& pass, const Panel<Real>& panel, std::size_t i);

  /// During pass k: starts the exchange of pass k + 1's first piece, if its columns are left of local column
  /// `not_updated`. `next`, `panel`: of pass k + 1.
  void start_early(const PassPlan& next, const Panel<Real>& panel, LocalIndex not_updated);
  /// Completes an exchange whose pass will not run.
  void finish_early();
  /// Makes progress on the row exchange; true once none is pending.
  bool test() { return row_exchange_.test(); }

 private:
  RowsFuture<Real> exchange(const PassPlan& pass, const Panel<Real>& panel, ColumnRange columns);
  RowsFuture<Real> solve_and_exchange(const PassPlan& pass, const Panel<Real>& panel, DeviceBlock<Real> a12,
                                      ColumnRange next);
  DeviceBlock<Real> destination(const PassPlan& pass, ColumnRange columns);
  DeviceBlock<Real> broadcast_down_column(const PassPlan& pass, ColumnRange columns, DeviceBlock<Real> computed);
  std::vector<ColumnRange> pieces_of_pass(const PassPlan& pass) const;
  bool rows_move(const PassPlan& pass, ColumnRange columns) const;
  RowExchangePlan plan(const PassPlan& pass, const Panel<Real>& panel, ColumnRange columns) const;
  DeviceBlock<Real> columns_of(const PassPlan& pass, ColumnRange columns) const;

  RankContext<Real> context_;
  DeviceMatrix<Real>& a_;
  RowPlanCache* plans_;
  bool all_compute_u12_;                       // on every process row; otherwise on the pivot's, which broadcasts it
  bool u12_is_broadcast_;                      // down process columns
  std::unique_ptr<HostBuffer<Real>> staging_;  // of U12; empty if it is not broadcast
  std::unique_ptr<Operand<Real>> operand_;     // U12
  Fence staging_free_;                         // until then the device may still read the last U12
  RowExchange<Real> row_exchange_;
  std::vector<ColumnRange> pieces_;
  RowsFuture<Real> rows_;          // of the next piece
  std::optional<PassPlan> early_;  // the pass to which rows_ belongs, if it has not begun
};

}  // namespace glinpack
