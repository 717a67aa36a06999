// Where a run's time went: sums over the ranks' timelines. The text and the JSON are both written from it.
#pragma once

#include <span>
#include <vector>

#include "global/run.hpp"

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

/// One rank's time, each a length of time and not a sum over lanes.
struct RankTime {
  double computing = 0;  // some work other than transfers and waits is under way in the cpu or gpu lane
  double transfer = 0;   // between host and device
  double network = 0;
  double network_exposed = 0;  // network while the rank does not compute
  double network_hidden = 0;   // network while it does
  double idle = 0;             // the run's time less that with work, transfer or network under way
};

struct Breakdown {
  double seconds = 0;  // of the run: what per cents refer to
  int ranks = 0;
  std::vector<PhaseTotal> phases;  // by role (none last), phase, lane; those that occurred
  std::vector<RankTime> by_rank;   // as RunResult::ranks
  Spread computing, transfer, network, network_exposed, network_hidden, idle;
  double flops = 0;           // done by all ranks, as recorded
  double transfer_bytes = 0;  // of all ranks together
  double network_bytes = 0;
};

/// Without timelines, `phases` is empty. Time is counted within [0, result.seconds].
Breakdown break_down(const RunResult& result);

/// One rank's totals by role, phase and lane; ranks = 1.
std::vector<PhaseTotal> phases_of(std::span<const Interval> intervals);

}  // namespace glinpack::app
