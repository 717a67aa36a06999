// The messages of a pass: the interface between the distributed algorithm and the network. The driver names the content
// of a message, and the transport chooses the route. Implementations: MpiTransport sends; NoTransport delivers
// placeholders; RecordingTransport lists.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "backend/device_memory.hpp"
#include "matrix/pass.hpp"
#include "transport/broadcast_kind.hpp"
#include "transport/candidate_message.hpp"
#include "transport/row_exchange_plan.hpp"

namespace glinpack {

/// The messages of a pass.
enum class MessageKind : std::uint8_t {
  panel,       // P, L11, L21: broadcast along every process row from the pivot's process column
  u11,         // L11 \ U11: broadcast down the pivot's process column from the pivot (local pivoting)
  winners,     // a tournament's outcome: broadcast down the pivot's process column from the pivot
  u12,         // U12: broadcast down every process column from the pivot's process row (unless `rows` brings U's rows)
  candidate,   // the pivot of one column: all-reduce over the pivot's process column (partial pivoting)
  tournament,  // candidate rows: from one rank of the pivot's process column to another
  rows,        // rows exchanged within a process column, and U's rows to all process rows unless swaps are direct
};

/// The ranks that take part in a message: those of a process row, or of a process column.
enum class Line : std::uint8_t { row, column };
constexpr Line line_of(MessageKind kind) { return kind == MessageKind::panel ? Line::row : Line::column; }
/// How a message of this kind is broadcast. U11 and a tournament's outcome do not follow the run's choice: they are
/// small, and ranks wait for them at once.
constexpr BroadcastKind broadcast_for(MessageKind kind, BroadcastKind of_run) {
  if (kind == MessageKind::u11) return BroadcastKind::ring;
  return kind == MessageKind::winners ? BroadcastKind::ibcast : of_run;
}

/// Messages in flight while their ranks compute.
class Transfer {
 public:
  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  virtual ~Transfer() = default;

  /// Makes progress; true once this rank has received and sent everything.
  virtual bool test() = 0;
  /// Waits until this rank has received its data, which must not change before wait() has returned.
  virtual void wait_until_arrived() = 0;
  /// Waits until this rank has received and sent everything.
  virtual void wait() = 0;
};

/// Where the data of a message is if GPUs copy it to each other (HostBuffer::on_device()).
struct MessagePlace {
  PeerAddress first = 0;  // of the message's first element; 0: all elements are in host memory
  Index header = 0;       // elements at the front of each message that are in host memory all the same
};

/// Whether a message may be in flight while its ranks go on.
enum class Completion : std::uint8_t {
  overlapped,
  in_turn,  // start_broadcast() returns when this rank has received and sent everything: measures messages alone
};

/// Every call is collective over the ranks that its message kind names. A line of one rank sends nothing.
template <class Real>
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// A broadcast along its line, from the pivot's row or column; null if there is nothing to wait for. The message must
  /// live until the transfer is done. `column`: of the panel, the first one of a tournament.
  virtual std::unique_ptr<Transfer> start_broadcast(MessageKind kind, const PassPlan& pass, std::span<Real> message,
                                                    Index column = 0, MessagePlace on_device = {}) = 0;
  void broadcast(MessageKind kind, const PassPlan& pass, std::span<Real> message, Index column = 0,
                 MessagePlace on_device = {}) {
    if (const auto transfer = start_broadcast(kind, pass, message, column, on_device)) transfer->wait();
  }

  /// The rounds of a row exchange, from staging buffer to staging buffer; null if there is nothing to wait for.
  /// `buffer`: the plan's, contiguous rows of `columns` elements.
  virtual std::unique_ptr<Transfer> start_row_exchange(const PassPlan& pass, const RowExchangePlan& plan, Index columns,
                                                       Real* buffer, MessagePlace on_device = {}) = 0;

  /// Exchanges parts of a panel between the pivot's rank and the other ranks of its process column, as a row exchange
  /// of one column does. Messages from the pivot's rank begin with the panel's header (write_panel_header()).
  virtual std::unique_ptr<Transfer> start_panel_exchange(const PassPlan& pass, const RowExchangePlan& plan,
                                                         Real* buffer, MessagePlace on_device = {}) = 0;
  /// A buffer for messages along the line: HostBuffer::on_device() if GPUs copy them to each other.
  virtual std::unique_ptr<HostBuffer<Real>> allocate_buffer(Line /*line*/, DeviceMemory<Real>& memory,
                                                            Index elements) const {
    return memory.allocate_host(elements);
  }
  /// Whether the ranks of this rank's process column exchange rows and panels through the memory of one node. The same
  /// on all of them.
  virtual bool column_shares_memory() const { return false; }

  /// The candidate with the largest magnitude for the pivot of column `column` of the panel, and the current row.
  virtual void reduce_candidates(const PassPlan& pass, Index column, CandidateMessage<Real>& candidates) = 0;

  /// Candidate rows of the TSLU block whose first column is `column` of the panel, to or from another process row of
  /// the pivot's process column.
  virtual void send(const PassPlan& pass, Index column, int to, std::span<const Real> rows) = 0;
  virtual void receive(const PassPlan& pass, Index column, int from, std::span<Real> rows) = 0;
};

}  // namespace glinpack
