// Replays the listed operations of ranks in a discrete-event simulation. Pure.
//
// A rank's host executes its operations in order. Kernels and copies occupy the queues of its device, and the host
// waits for them only if the driver does. A message begins when both ends have reached it. Its cost is the
// latency and the bytes of its link; concurrent messages share the links of their routes (network.hpp). Messages
// overlap with arithmetic.
#pragma once

#include <limits>
#include <span>

#include "app/model/schedule.hpp"

namespace glinpack::app::model {

struct Replay {
  double seconds = 0;     // until the last rank ends
  ByWork<double> busy;    // by kind of work, without messages; the mean over ranks
  ByWork<bool> needed{};  // kinds of work that occur, including messages
  Index messages = 0;
};

/// All passes: the whole time is measured, from the clock's zero.
inline constexpr PassRange whole_run{std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max()};

/// Replays a schedule. Seconds are those of the passes `measured`: from a rank's first trailing update in them to its
/// first one after them; the mean over ranks. `slow`: for each node, the factor of its operations' times; empty: 1.
/// parameters.parts selects the operations that take time.
Replay replay(const Schedule& schedule, const MachineModel& machine, const Problem& problem,
              PassRange measured = whole_run, std::span<const double> slow = {});

}  // namespace glinpack::app::model
