// Replays the listed operations of ranks in a discrete-event simulation. Pure.
//
// A rank's host executes its operations in order. Kernels and copies occupy the queues of its device, and the host
// waits for them only if the driver does. A message begins when both ends have reached it. Its cost is the
// latency and the bytes of its link; concurrent messages from a node share its link. Messages overlap with arithmetic.
#pragma once

#include "app/model/machine.hpp"

namespace glinpack::app::model {

/// The ranks to be replayed.
enum class ReplayedRanks {
  all,
  one_row,  // only the process row with the most work; a peer in another row begins when this rank does
};

struct Replay {
  double seconds = 0;     // until the last rank ends
  ByWork<double> busy;    // by kind of work, without messages; the mean over ranks
  ByWork<bool> needed{};  // kinds of work that occur, including messages
};

/// Replays the driver's operations (record_operations()) of passes [first, end) of the factorisation. parameters.parts
/// selects the operations that take time.
Replay replay(const MachineModel& machine, const Problem& problem, PassRange passes,
              ReplayedRanks ranks = ReplayedRanks::all);

/// Replays the passes [first, end) in the middle of a factorisation. It also replays the same number of passes before
/// them and one after them. Seconds are measured from a rank's first trailing update in `passes` to its first one after
/// them; the mean over ranks.
Replay replay_window(const MachineModel& machine, const Problem& problem, PassRange passes, ReplayedRanks ranks);

}  // namespace glinpack::app::model
