// The messages of a pass: the interface between the distributed algorithm and the network. The driver names the content
// of a message, and the transport chooses the route. Implementations: MpiTransport sends; NoTransport delivers
// placeholders, and lu/recording.cpp's lists the messages as well.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "matrix/pass.hpp"
#include "transport/communicator.hpp"
#include "transport/node_route.hpp"
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

// Partial pivoting's message: the all-reduce over a process column that finds the pivot of a column and exchanges its
// row with the current one (HPL_pdmxswp.c).

/// Message of a pivot candidate: this header, the candidate's row, then the current row, filled in only by its owner.
struct CandidateHeader {
  double magnitude = -1;  // -1: no row here
  std::int64_t row = -1;  // global
  std::int64_t has_current_row = 0;
};

/// The message of candidates with rows of `width` elements. Reduced over a process column, it has the best one and the
/// current row on every rank.
template <class Real>
class CandidateMessage {
 public:
  explicit CandidateMessage(Index width)
      : width_(static_cast<std::size_t>(width)), bytes_(sizeof(CandidateHeader) + 2 * width_ * sizeof(Real)) {
    set_header({});
  }

  void set_header(const CandidateHeader& header) { std::memcpy(bytes_.data(), &header, sizeof header); }
  CandidateHeader header() const {
    CandidateHeader header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    return header;
  }
  Real* candidate_row() { return reinterpret_cast<Real*>(bytes_.data() + sizeof(CandidateHeader)); }
  Real* current_row() { return candidate_row() + width_; }
  std::vector<char>& bytes() { return bytes_; }

 private:
  std::size_t width_;
  std::vector<char> bytes_;
};

/// Larger magnitude first, then the upper row, as in a sequential search; a NaN wins, so that it is not hidden.
inline bool is_better(const CandidateHeader& a, const CandidateHeader& b) {
  if (a.row < 0 || b.row < 0) return b.row < 0;
  const bool a_nan = std::isnan(a.magnitude);
  const bool b_nan = std::isnan(b.magnitude);
  if (a_nan != b_nan) return a_nan;
  if (!a_nan && a.magnitude != b.magnitude) return a.magnitude > b.magnitude;
  return a.row < b.row;
}

/// The operation of the reduction, on messages of `bytes` bytes: the better candidate, and the current row from the
/// message that has it.
inline void combine_candidates(const char* message, char* into, std::size_t bytes) {
  const std::size_t row_bytes = (bytes - sizeof(CandidateHeader)) / 2;
  CandidateHeader theirs;
  CandidateHeader ours;
  std::memcpy(&theirs, message, sizeof theirs);
  std::memcpy(&ours, into, sizeof ours);
  char* const current_row = into + sizeof ours + row_bytes;
  if (theirs.has_current_row != 0) std::memcpy(current_row, message + sizeof theirs + row_bytes, row_bytes);
  if (is_better(theirs, ours)) std::memcpy(into + sizeof ours, message + sizeof theirs, row_bytes);
  CandidateHeader result = is_better(theirs, ours) ? theirs : ours;
  result.has_current_row = theirs.has_current_row | ours.has_current_row;
  std::memcpy(into, &result, sizeof result);
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

  /// The rounds of an exchange within the process column, from staging buffer to staging buffer; null if there is
  /// nothing to wait for. `buffer`: the plan's, contiguous rows of `columns` elements. `kind`: `rows`; or `panel`, for
  /// parts of a panel, in one column, between the pivot's rank and the other ranks: messages from the pivot's rank
  /// begin with the panel's header then (write_panel_header()).
  virtual std::unique_ptr<Transfer> start_exchange(MessageKind kind, const PassPlan& pass, const RowExchangePlan& plan,
                                                   Index columns, Real* buffer, MessagePlace on_device = {}) = 0;
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

struct RunParameters;  // lu/parameters.hpp

/// What the parts of a run share on a rank. All must outlive them.
template <class Real>
struct RankContext {
  const RunParameters& parameters;
  const Distribution& distribution;
  const Grid& grid;
  Backend<Real>& backend;
  Transport<Real>& transport;

  Timeline& timeline() const { return backend.timeline(); }
  GridPosition position() const { return grid.position(); }
};

}  // namespace glinpack
