// Predicts the time of a run on a machine by replaying the driver's operations (replay.hpp). docs/planning.md lists
// what the model omits.
#pragma once

#include <string>

#include "app/model/machine.hpp"

namespace glinpack::app::model {

struct Forecast {
  double seconds = 0;  // factorisation and solution
  double factor_seconds = 0;
  double solve_seconds = 0;
  double gflops = 0;  // HPL's count divided by seconds; without a solution, the factorisation's
  /// Seconds of each kind of work in a process's factorisation, without messages; the mean over the processes.
  ByWork<double> busy;
  /// The part of factor_seconds without computation: messages, transfers and waits that are not overlapped.
  double exposed_seconds = 0;
  /// The first kind of work that the run needs and the machine has no figure for; "" if none is missing.
  std::string missing;
};

/// The largest number of passes, so that a forecast takes seconds; callers check it.
inline constexpr Index most_passes = 1'000'000;

/// parameters.parts selects the modelled work: only messages, as `glinpack network` (no look-ahead, arithmetic or
/// solution); only arithmetic, as --compute-only; or both. Missing figures count as no time. Of many passes, it replays
/// windows and integrates the time per pass (quick_windows()).
Forecast forecast(const MachineModel& machine, const Problem& problem);

/// The amounts of one process in one pass of the backward substitution: flops and bytes of U.
Amounts substitution_work(const Problem& problem, const PassPlan& plan);

}  // namespace glinpack::app::model
