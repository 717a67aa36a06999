// What ranks do in some passes, as the driver's recorder lists it, with the time of each operation and the messages on
// the wire. Compact: a window of 10,000 ranks fits into memory. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "app/model/machine.hpp"

namespace glinpack::app::model {

struct TimedOperation {
  double seconds = 0;        // of compute
  std::uint32_t target = 0;  // as in Operation
  std::int32_t pass = -1;
  Operation::Kind kind = Operation::Kind::compute;
  Work work = Work::reduce;
  Queue queue = Queue::host;
};

/// One message between two ranks.
struct Step {
  static constexpr std::int32_t whole_column = -1;  // an all-reduce over the process column

  double bytes = 0;
  std::int32_t peer = whole_column;  // a rank of the schedule
  std::int32_t after_receives = 0;   // starts when this many receives of the message are done
  bool receives = false;
  bool after_earlier = false;  // starts when all earlier steps of the message are done
};

/// A message as the driver asks for it: steps [first, first + count) of its rank.
struct ScheduledMessage {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t receives = 0;  // steps
  MessageKind kind = MessageKind::panel;
};

struct RankSchedule {
  GridPosition at;
  int node = 0;
  std::vector<TimedOperation> operations;
  std::vector<ScheduledMessage> messages;
  std::vector<Step> steps;
};

using Schedule = std::vector<RankSchedule>;  // process row by process row

/// Runs the recorder for all ranks, on `threads` threads. Without arithmetic (RunParts::messages) operations take no
/// time.
Schedule record_schedule(const MachineModel& machine, const Problem& problem, PassRange passes, int threads = 1);

}  // namespace glinpack::app::model
