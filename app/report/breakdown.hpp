// Where a run's time went: sums over the ranks' timelines. The text and the JSON are both written from it.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "lu/run.hpp"

namespace glinpack::app {

/// Over ranks.
struct Spread {
  double min = 0;
  double mean = 0;
  double max = 0;
};

/// One kind of work in one lane. Lanes are kept apart because they run at the same time: only within a lane do lengths
/// add up.
struct PhaseTotal {
  Role role = Role::none;
  Phase phase = Phase::wait;
  Lane lane = Lane::cpu;
  int ranks = 0;  // that have the role in some pass: the ones counted in `seconds`
  Spread seconds;
  double busy_seconds = 0;  // of all ranks together
  double flops = 0;         // of all ranks together
  double bytes = 0;         // of all ranks together
};

/// What a rank did in the passes in which it had one role. A pass lasts on a rank from its first interval to that of
/// the next pass; what the device still does of a pass then belongs to the next. seconds = computing + transfer +
/// network + idle.
struct RoleTime {
  double seconds = 0;
  double computing = 0;  // some work other than transfers and waits is under way in the cpu or gpu lane
  double transfer = 0;   // between host and device, and nothing computes
  double network = 0;    // messages, and nothing computes or is transferred
  double idle = 0;       // the rest
  double waiting = 0;    // of it: in a message whose other end has not begun
};

/// One rank's time, each a length of time and not a sum over lanes.
struct RankTime {
  double computing = 0;                          // as in RoleTime
  double transfer = 0;                           // between host and device
  double network = 0;                            // messages, once their other end has begun (message_starts())
  double network_exposed = 0;                    // network while the rank does not compute
  double network_hidden = 0;                     // network while it does
  double idle = 0;                               // the run's time less that with work, transfer or network under way
  double waiting = 0;                            // of it: in a message whose other end has not begun
  std::array<RoleTime, all_roles.size()> roles;  // Role::none: outside the passes
};

/// RoleTime over the ranks that have the role in some pass.
struct RoleTotal {
  Role role = Role::none;
  int ranks = 0;
  Spread seconds, computing, transfer, network, idle, waiting;
};

struct Breakdown {
  double seconds = 0;  // of the run: what per cents refer to
  int ranks = 0;
  std::vector<PhaseTotal> phases;  // by role (none last), phase, lane; those that occurred
  std::vector<RankTime> by_rank;   // as RunResult::ranks
  std::vector<RoleTotal> roles;    // those that occurred; none last
  Spread computing, transfer, network, network_exposed, network_hidden, idle, waiting;
  double flops = 0;           // done by all ranks, as recorded
  double transfer_bytes = 0;  // of all ranks together
  double network_bytes = 0;
};

/// Without timelines, `phases` is empty. Time is counted within [0, result.seconds].
Breakdown break_down(const RunResult& result);

/// One rank's totals by role, phase and lane; ranks = 1.
std::vector<PhaseTotal> phases_of(std::span<const Interval> intervals);

}  // namespace glinpack::app
