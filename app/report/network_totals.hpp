// Totals of a run's messages: sums over the ranks' timelines. Text, JSON and CSV use it.
#pragma once

#include <vector>

#include "app/report/breakdown.hpp"
#include "app/report/run_record.hpp"
#include "transport/transport.hpp"

namespace glinpack::app {

/// Received messages, so that each counts once.
struct Traffic {
  double bytes = 0;
  double messages = 0;
  /// Sum over the receiving ranks, from posting the receive to completion; includes the wait for the sender.
  double seconds = 0;

  double bytes_per_second() const { return seconds > 0 ? bytes / seconds : 0; }  // per rank while it receives
};

/// The communicator of one process row or column.
struct LineTotal {
  Line line = Line::row;
  int index = 0;  // of the process row or column
  int ranks = 0;
  Spread seconds;  // per rank in all its messages, sent and received
  Traffic traffic;
};

/// Messages of one kind with more than at_most / 2 and up to at_most bytes.
struct SizeTotal {
  Phase phase = Phase::broadcast_l;
  double at_most = 0;  // a power of two
  Traffic traffic;
  double least_seconds = 0;  // of one message
};

/// One rank.
struct RankTotal {
  int world_rank = 0;
  int row = 0;
  int column = 0;
  std::string host;
  double row_seconds = 0;
  double column_seconds = 0;
  Traffic traffic;
};

struct NetworkTotals {
  double share = 0;  // of the run's time over all ranks that is spent in messages: 0 ... 1
  Traffic traffic;
  Spread row_seconds;  // per rank
  Spread column_seconds;
  std::vector<LineTotal> lines;  // rows, then columns
  std::vector<SizeTotal> sizes;  // by phase, then size
  std::vector<RankTotal> ranks;
  Index rows_exchanged = 0;  // between process rows
};

NetworkTotals network_totals(const RunRecord& run);

/// "L along process rows": describes the messages of a phase.
std::string_view messages_of(Phase phase);

}  // namespace glinpack::app
