// Row exchanges over a process column (HPL's laswp): rows of the trailing matrix, or of a right-hand side.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "transport/transport.hpp"

namespace glinpack {

/// Executes row exchange plans, one at a time, through its staging buffer.
template <class Real>
class RowExchange {
 public:
  /// For exchanges of `rows` x `columns` elements each way. Allocates. Not collective.
  RowExchange(Backend<Real>& backend, Transport<Real>& transport, Index rows, Index columns)
      : backend_(backend),
        transport_(transport),
        buffer_(transport.allocate_buffer(Line::column, backend, 2 * rows * columns)) {}
  RowExchange(const RowExchange&) = delete;
  RowExchange& operator=(const RowExchange&) = delete;

  /// Gathers the rows to send and moves local rows. Starts the messages if the rows are in host memory already. If not,
  /// finish() starts them, so that the host can first give a busy device more work. `block`: all local rows of the
  /// columns that take part. Collective over the process column.
  void start(const PassPlan& pass, const RowExchangePlan& plan, DeviceBlock<Real> block) {
    if (block.columns == 0) return;
    const HostBlock<Real> rows = rows_of_buffer(plan.gather_first, plan.rows_to_gather, block.columns);
    move_and_send(pass, plan, block, backend_.gather_rows(block, plan.rows_to_gather, rows));
  }
  /// The same after A12 <- L11^-1 A12 of other columns.
  void solve_and_start(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12, const PassPlan& pass,
                       const RowExchangePlan& plan, DeviceBlock<Real> block) {
    const HostBlock<Real> rows = rows_of_buffer(plan.gather_first, plan.rows_to_gather, block.columns);
    move_and_send(pass, plan, block,
                  backend_.solve_unit_lower_and_gather(l11_transposed, a12, block, plan.rows_to_gather, rows));
  }
  /// Makes progress on the messages; true once none is pending.
  bool test() { return !transfer_ || transfer_->test(); }

  /// Waits for the rows of an exchange that is in flight, and scatters them: matrix rows into the block, rows of U, if
  /// there are any, into `u`.
  void finish(DeviceBlock<Real> u = {}) {
    if (!std::exchange(in_flight_, false)) return;
    if (!started_) start_messages();
    if (transfer_) transfer_->wait();
    transfer_.reset();
    if (!plan_.rows_to_scatter.empty()) {
      scattered_ = backend_.scatter_rows(rows_of_buffer(plan_.scatter_first, plan_.rows_to_scatter),
                                         plan_.rows_to_scatter, block_);
    }
    if (!plan_.u_rows.empty()) {
      scattered_ = backend_.scatter_rows(rows_of_buffer(plan_.u_first, plan_.u_rows), plan_.u_rows, u);
    }
  }

 private:
  // The rows to send are read before any row is overwritten.
  void move_and_send(const PassPlan& pass, const RowExchangePlan& plan, DeviceBlock<Real> block, Fence gathered) {
    pass_ = pass;
    plan_ = plan;
    block_ = block;
    in_flight_ = true;
    started_ = false;
    gathered_ = gathered;
    backend_.move_rows(block, plan.local_moves);
    if (!backend_.info().asynchronous) start_messages();
  }
  void start_messages() {
    backend_.wait(gathered_);
    backend_.wait(scattered_);
    transfer_ = transport_.start_exchange(MessageKind::rows, pass_, plan_, block_.columns, buffer_->data(),
                                          {buffer_->on_device()});
    started_ = true;
  }
  HostBlock<Real> rows_of_buffer(Index first, const std::vector<Index>& rows) const {
    return rows_of_buffer(first, rows, block_.columns);
  }
  HostBlock<Real> rows_of_buffer(Index first, const std::vector<Index>& rows, Index columns) const {
    return {buffer_.get(), first * columns, static_cast<Index>(rows.size()), columns, columns};
  }

  Backend<Real>& backend_;
  Transport<Real>& transport_;
  std::unique_ptr<HostBuffer<Real>> buffer_;
  PassPlan pass_;
  RowExchangePlan plan_;
  DeviceBlock<Real> block_;
  Fence gathered_;
  Fence scattered_;  // until then the device may still read the last received rows
  bool in_flight_ = false;
  bool started_ = false;  // its messages
  std::unique_ptr<Transfer> transfer_;
};

}  // namespace glinpack
