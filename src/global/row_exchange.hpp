// Carrying out the row interchanges of a pass over a process column.
#pragma once

#include <memory>

#include "global/pass_messages.hpp"
#include "global/row_moves.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// Carries out row exchanges over a process column, one at a time; keeps its buffer from one to the next.
template <class Real>
class RowExchange {
 public:
  /// A buffer for exchanges of `rows` x `columns` elements each way, of a matrix of order `n`.
  RowExchange(Backend<Real>& backend, const PassMessages& messages, Index rows, Index columns, Index n);

  /// Collective over the process column; `block` is all local rows of the columns that take part. Messages are under
  /// way when it returns, or, where the backend goes on by itself, wait for finish(): the host can then hand over more
  /// work before it waits for the rows that leave.
  void start(const RowExchangePlan& plan, DeviceBlock<Real> block);
  /// Drives messages on that are under way; false while there are any.
  bool test() { return !under_way_ || under_way_->test(); }
  /// Until `block` has the rows that arrive, and `u`, a block for U's rows in the same columns, those that the plan
  /// has. Where messages are left out, the rows that would leave come back in the places of those that would arrive in
  /// a direct exchange, which are as many; with U come stand-ins, and rows that the buffer has from before.
  void finish(DeviceBlock<Real> u = {});
  void run(const RowExchangePlan& plan, DeviceBlock<Real> block) {
    start(plan, block);
    finish();
  }

 private:
  void begin_messages();
  HostBlock<Real> rows_of_buffer(Index first, const std::vector<Index>& rows) const {
    const Index columns = block_.columns;
    return {buffer_.get(), first * columns, static_cast<Index>(rows.size()), columns, columns};
  }

  Backend<Real>& backend_;
  const PassMessages& messages_;
  std::unique_ptr<HostBuffer<Real>> buffer_;
  RowExchangePlan plan_;
  DeviceBlock<Real> block_;
  Fence gathered_;
  Fence free_;  // until then the device may still read what came in last
  bool begun_ = true;
  std::unique_ptr<TransfersUnderWay> under_way_;
};

}  // namespace glinpack
