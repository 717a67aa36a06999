// What a run would take on a machine: the driver's own operations, replayed on a clock (replay.hpp). docs/planning.md
// says what is left out.
#pragma once

#include <string>

#include "app/model/machine.hpp"

namespace glinpack::app::model {

struct Forecast {
  double seconds = 0;  // factorisation and solution
  double factor_seconds = 0;
  double solve_seconds = 0;
  double gflops = 0;  // HPL's count over seconds; the factorisation's if nothing is solved
  /// Seconds of each kind of work in a process's factorisation, the mean over the processes; messages are left out.
  ByWork<double> busy;
  /// The rest of factor_seconds in which it computes nothing: messages, transfers and waits that nothing hides.
  double exposed_seconds = 0;
  /// The first kind of work that the run needs and the machine has no figure for; "" if it has them all.
  std::string missing;
};

/// Passes that a forecast may have, so that it ends within seconds: for the callers to check.
inline constexpr Index most_passes = 1'000'000;

/// parameters.parts decides: messages alone, as `glinpack network` (no look-ahead, no arithmetic, no solution);
/// the arithmetic alone, as --compute-only; or all. Figures that are missing count as no time.
///
/// Of a run of many passes and processes, windows of passes are replayed and the time of a pass is integrated over
/// them; of more than some 50 processes, the first process row stands for all rows.
Forecast forecast(const MachineModel& machine, const Problem& problem);

/// Of one pass of the backward substitution, the share of a process: flops and bytes of U.
Amounts substitution_work(const Problem& problem, const PassPlan& plan);

}  // namespace glinpack::app::model
