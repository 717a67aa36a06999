// What a run would take: all its passes gone through on a clock for every process column, as src/global/lu/factorize.cpp
// goes through them, with the machine's costs in place of the work. No MPI; O(Q) a pass.
//
// The process rows of a column keep step, since they swap rows in every pass: the one with most to do stands for all.
// docs/planning.md says what is left out.
#pragma once

#include "app/model/machine.hpp"

namespace glinpack::app::model {

struct Forecast {
  double seconds = 0;  // factorisation and solution
  double factor_seconds = 0;
  double solve_seconds = 0;
  double gflops = 0;  // HPL's count over seconds; the factorisation's where nothing is solved
  /// Of a process column's representative, the mean over the columns: seconds of each kind of work in the
  /// factorisation, those of messages on the way that takes longest, hidden or not.
  ByWork<double> busy;
  /// The rest of factor_seconds in which it computes nothing: messages, transfers and waits that nothing hides.
  double exposed_seconds = 0;
};

/// Passes times process columns that a forecast may take, so that it ends within seconds: for the callers to check.
inline constexpr Index most_steps = 100'000'000;

/// parameters.parts decides: messages alone, as `glinpack network` (no look-ahead, no arithmetic, no solution);
/// the arithmetic alone, as --compute-only; or all. Figures that are missing count as no time.
Forecast forecast(const MachineModel& machine, const Problem& problem);

}  // namespace glinpack::app::model
