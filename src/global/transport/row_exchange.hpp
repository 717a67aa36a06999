// Row exchanges over a process column (HPL's laswp): rows of the trailing matrix, or of a right-hand side.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "transport/transport.hpp"

namespace glinpack {

template <class Real>
class RowExchange;

/// A started row exchange over a process column.
template <class Real>
class RowsFuture {
 public:
  RowsFuture() = default;
  explicit RowsFuture(RowExchange<Real>& exchange) : exchange_(&exchange) {}
  /// Waits for the rows, and scatters them: matrix rows into the block, rows of U into `u`.
  void wait_into(DeviceBlock<Real> u) {
    if (exchange_ != nullptr) exchange_->finish(u);
    exchange_ = nullptr;
  }
  /// Waits for an exchange without rows of U.
  void wait() { wait_into({}); }

 private:
  RowExchange<Real>* exchange_ = nullptr;  // null if no row moves
};

/// Executes row exchange plans, one at a time, through its staging buffer.
template <class Real>
class RowExchange {
 public:
  /// For exchanges of `rows` x `columns` elements each way. Allocates. Not collective.
  RowExchange(Backend<Real>& backend, Transport<Real>& transport, Index rows, Index columns);
  RowExchange(const RowExchange&) = delete;
  RowExchange& operator=(const RowExchange&) = delete;

  /// Gathers the rows to send and moves local rows. Starts the messages if the rows are in host memory already. If not,
  /// wait_into() starts them, so that the host can first give a busy device more work. `block`: all local rows of the
  /// columns that take part. Collective over the process column.
  RowsFuture<Real> start(const PassPlan& pass, const RowExchangePlan& plan, DeviceBlock<Real> block);
  /// The same after A12 <- L11^-1 A12 of other columns.
  RowsFuture<Real> solve_and_start(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12, const PassPlan& pass,
                                   const RowExchangePlan& plan, DeviceBlock<Real> block);
  /// Makes progress on the messages; true once none is pending.
  bool test() { return !transfer_ || transfer_->test(); }

 private:
  friend class RowsFuture<Real>;

  RowsFuture<Real> move_and_send(const PassPlan& pass, const RowExchangePlan& plan, DeviceBlock<Real> block,
                                 Fence gathered);
  void start_messages();
  void finish(DeviceBlock<Real> u);
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
  bool started_ = true;
  std::unique_ptr<Transfer> transfer_;
};

}  // namespace glinpack
