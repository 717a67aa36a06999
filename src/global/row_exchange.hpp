// Carrying out the row interchanges of a pass over a process column.
#pragma once

#include <memory>

#include "global/pass_messages.hpp"
#include "global/row_moves.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// Carries out row exchanges over a process column; keeps its buffers from pass to pass.
template <class Real>
class RowExchange {
 public:
  /// Buffers for at most `rows` x `columns` elements each way.
  RowExchange(Backend<Real>& backend, const PassMessages& messages, Index rows, Index columns);

  /// Collective over the process column; `block` is all local rows of the columns that take part. Where messages are
  /// left out, the rows that would leave come back in the places of those that would arrive: they are as many.
  void run(const RowExchangePlan& plan, DeviceBlock<Real> block);

 private:
  Backend<Real>& backend_;
  const PassMessages& messages_;
  std::unique_ptr<HostBuffer<Real>> outgoing_;
  std::unique_ptr<HostBuffer<Real>> incoming_;
  Fence arrived_free_;  // until then the device may still read what came in last
};

}  // namespace glinpack
