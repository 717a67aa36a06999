// Goes through the listed operations of ranks on a clock: a discrete-event simulation. Pure.
//
// A rank's host executes its operations in order. Kernels and copies occupy the queues of its device, and the host
// waits for them only if the driver does. A message begins when both ends have reached it, and costs the latency and
// the bytes of its link; messages that leave a node at the same time share its link. Messages make progress beside the
// arithmetic.
#pragma once

#include "app/model/machine.hpp"

namespace glinpack::app::model {

/// The ranks that are gone through.
enum class ReplayedRanks {
  all,
  one_row,  // the process row with most to do stands for all rows: a peer in another row begins when this rank does
};

struct Replay {
  double seconds = 0;     // until the last rank ends
  ByWork<double> busy;    // seconds of each kind of work of a rank, the mean over ranks; without messages
  ByWork<bool> needed{};  // kinds of work that occur, messages included
};

/// Passes [first, end) of the problem's factorisation, by the driver's own operations (record_operations()).
/// parameters.parts chooses what costs time.
Replay replay(const MachineModel& machine, const Problem& problem, PassRange passes,
              ReplayedRanks ranks = ReplayedRanks::all);

/// The passes [first, end) of a factorisation under way: as many passes before them and one after them are replayed,
/// too. Seconds are those from a rank's first trailing update in `passes` to its first one after them, the mean over
/// ranks.
Replay replay_window(const MachineModel& machine, const Problem& problem, PassRange passes, ReplayedRanks ranks);

}  // namespace glinpack::app::model
