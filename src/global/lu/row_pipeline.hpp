// The block row of a pass, piece by piece: rows exchanged by P, the solve with L11, U12 on every rank of the process
// column. The exchange of a piece overlaps the update of the piece before it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lu/panel/panel.hpp"
#include "lu/parameters.hpp"
#include "transport/row_exchange.hpp"
#include "transport/transport.hpp"

namespace glinpack {

/// Owns the staging buffers of rows and of U12, and the operand of the update. All calls are collective over process
/// columns.
template <class Real>
class RowPipeline {
 public:
  /// `a`: this rank's part of the matrix. `plans`: of the ranks that are recorded before this one; null: none.
  /// Allocates. All must outlive it.
  RowPipeline(const RankContext<Real>& context, DeviceMatrix<Real>& a, RowPlanCache* plans)
      : context_(context),
        a_(a),
        plans_(plans),
        all_compute_u12_(
            all_compute_u12(context.parameters.row_swap, context.parameters.pivoting, context.distribution.shape)),
        u12_is_broadcast_(context.distribution.shape.rows > 1 && !all_compute_u12_),
        staging_(context.transport.allocate_buffer(Line::column, context.backend,
                                                   u12_is_broadcast_ ? context.distribution.nb * a.columns() : 0)),
        operand_(context.backend.make_operand(context.distribution.nb, a.columns())),
        row_exchange_(context.backend, context.transport,
                      context.distribution.shape.rows > 1 ? context.distribution.nb : 0, a.columns()) {
    if (all_compute_u12_) operand_->storage(context.distribution.nb, a.columns());
    // nb rows, and as many that they replace
    context.backend.reserve_moves(2 * context.distribution.nb, a.columns());
    context.backend.reserve_update(context.distribution.nb, a.rows(), a.columns());
  }
  RowPipeline(const RowPipeline&) = delete;
  RowPipeline& operator=(const RowPipeline&) = delete;

  /// The pieces of a pass's trailing columns. Starts the exchange of the first one, unless start_early() has.
  const std::vector<ColumnRange>& start(const PassPlan& pass, const Panel<Real>& panel) {
    pieces_ = pieces_of_pass(pass);
    if (!early_) exchange(pass, panel, pieces_.front());
    early_.reset();
    return pieces_;
  }
  /// U12 of piece `i`, as an operand of the update. Waits for its rows, solves with L11, starts the exchange of the
  /// next piece, and brings U12 to all process rows, which waits.
  DeviceBlock<Real> take(const PassPlan& pass, const Panel<Real>& panel, std::size_t i) {
    const DeviceBlock<Real> a12 = destination(pass, pieces_[i]);
    row_exchange_.finish(a12);
    solve_and_exchange(pass, panel, a12, i + 1 < pieces_.size() ? pieces_[i + 1] : ColumnRange{});
    return broadcast_down_column(pass, pieces_[i], a12);
  }

  /// During pass k: starts the exchange of pass k + 1's first piece, if its columns are left of local column
  /// `not_updated`. `next`, `panel`: of pass k + 1.
  void start_early(const PassPlan& next, const Panel<Real>& panel, LocalIndex not_updated) {
    const ColumnRange columns = pieces_of_pass(next).front();
    if (panel.zero_pivot || next.trailing_column + columns.end() > not_updated) return;
    exchange(next, panel, columns);
    early_ = next;
  }
  /// Completes an exchange whose pass will not run.
  void finish_early() {
    if (!early_) return;
    row_exchange_.finish(destination(*early_, pieces_of_pass(*early_).front()));
    early_.reset();
  }
  /// Makes progress on the row exchange; true once none is pending.
  bool test() { return row_exchange_.test(); }

 private:
  // P A12: rows of some trailing columns, within the process column. U's rows reach the ranks that compute U12.
  void exchange(const PassPlan& pass, const Panel<Real>& panel, ColumnRange columns) {
    if (rows_move(pass, columns)) row_exchange_.start(pass, plan(pass, panel, columns), columns_of(pass, columns));
  }
  // U12 <- L11^-1 A12 in one piece, and the exchange of the next piece's rows: a device gathers them during the solve.
  void solve_and_exchange(const PassPlan& pass, const Panel<Real>& panel, DeviceBlock<Real> a12, ColumnRange next) {
    if (!pass.in_pivot_row && !all_compute_u12_) return exchange(pass, panel, next);
    if (!rows_move(pass, next)) return context_.backend.solve_unit_lower(panel.l11_transposed(), a12);
    row_exchange_.solve_and_start(panel.l11_transposed(), a12, pass, plan(pass, panel, next), columns_of(pass, next));
  }
  // Where rows of A12 arrive and become U12: in the matrix on the pivot's process row, in the operand on other ranks
  // that compute U12. Empty on ranks that do not.
  DeviceBlock<Real> destination(const PassPlan& pass, ColumnRange columns) {
    if (pass.in_pivot_row) {
      return {&a_, pass.panel_row.value, pass.trailing_column.value + columns.first, pass.width, columns.count};
    }
    return all_compute_u12_ ? operand_->storage(pass.width, columns.count) : DeviceBlock<Real>{};
  }
  // U12 on every rank: as computed here, or received from the pivot's process row.
  DeviceBlock<Real> broadcast_down_column(const PassPlan& pass, ColumnRange columns, DeviceBlock<Real> computed) {
    if (columns.count == 0) return {};
    if (all_compute_u12_) return pass.in_pivot_row ? operand_->from_device(computed) : computed;
    if (!u12_is_broadcast_) return operand_->from_device(computed);
    DeviceMemory<Real>& memory = context_.backend;
    const HostBlock<Real> staging{staging_.get(), 0, pass.width, columns.count, columns.count};
    memory.wait(staging_free_);
    DeviceBlock<Real> u12;
    if (pass.in_pivot_row) {
      memory.wait(memory.download(computed, staging));
      u12 = operand_->from_device(computed);
    }
    context_.transport.broadcast(MessageKind::u12, pass,
                                 {staging_->data(), static_cast<std::size_t>(pass.width * columns.count)}, 0,
                                 {staging_->on_device()});
    return pass.in_pivot_row ? u12 : operand_->from_host(staging, staging_free_);
  }
  std::vector<ColumnRange> pieces_of_pass(const PassPlan& pass) const {
    return pieces_of(pass.trailing_columns, context_.distribution.nb, context_.parameters.row_swap.pieces);
  }
  // With local pivoting, only the pivot's process row knows the pivots and exchanges rows.
  bool rows_move(const PassPlan& pass, ColumnRange columns) const {
    return columns.count > 0 && (pass.in_pivot_row || pivots_across_processes(context_.parameters.pivoting));
  }
  RowExchangePlan plan(const PassPlan& pass, const Panel<Real>& panel, ColumnRange columns) const {
    const RankSwaps rank{context_.parameters.row_swap, all_compute_u12_, context_.distribution.rows,
                         context_.position().row};
    return plans_ == nullptr ? plan_row_swap(rank, pass, panel.pivots, columns)
                             : plans_->plan(rank, pass, panel.pivots, columns);
  }
  // All local rows of some trailing columns.
  DeviceBlock<Real> columns_of(const PassPlan& pass, ColumnRange columns) const {
    return {&a_, 0, pass.trailing_column.value + columns.first, a_.rows(), columns.count};
  }

  RankContext<Real> context_;
  DeviceMatrix<Real>& a_;
  RowPlanCache* plans_;
  bool all_compute_u12_;                       // on every process row; otherwise on the pivot's, which broadcasts it
  bool u12_is_broadcast_;                      // down process columns
  std::unique_ptr<HostBuffer<Real>> staging_;  // of U12; empty if it is not broadcast
  std::unique_ptr<Operand<Real>> operand_;     // U12
  Fence staging_free_;                         // until then the device may still read the last U12
  RowExchange<Real> row_exchange_;             // of the next piece
  std::vector<ColumnRange> pieces_;
  std::optional<PassPlan> early_;  // the pass whose first rows are exchanged, if it has not begun
};

}  // namespace glinpack
