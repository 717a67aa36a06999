// Predicts the time of a run on a machine by replaying the driver's operations (replay.hpp). docs/planning.md lists
// what the model omits.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/model/machine.hpp"
#include "app/model/replay.hpp"

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
inline constexpr Index max_passes = 1'000'000;

/// parameters.parts selects the modelled work: only messages, as `glinpack network` (no look-ahead, arithmetic or
/// solution); only arithmetic, as --compute-only; or both. Missing figures count as no time. Of many passes, it replays
/// windows and integrates the time per pass (quick_windows()).
Forecast forecast(const MachineModel& machine, const Problem& problem);

/// The amounts of one process in one pass of the backward substitution: flops and bytes of U.
Amounts substitution_work(const Problem& problem, const PassPlan& plan);

// Which passes of a factorisation are replayed: all, or windows that stand for all. Pure.

struct Window {
  double weight = 1;               // measured passes stand for this many times their number
  PassRange measured = whole_run;  // of these
  PassRange passes = {};           // replayed: at most 8 passes before the measured ones, and one after them
};

/// `count` windows of `width` measured passes, in the middle of parts of equal length; all passes at once if they are
/// no more than those of the windows.
std::vector<Window> windows_of(Index passes, Index count, Index width);

/// For a time within seconds: fewer passes of more ranks.
std::vector<Window> quick_windows(Index passes, Index ranks);
/// 20 windows of 20 passes, or of fewer; all passes if they are few and fit into memory.
std::vector<Window> thorough_windows(Index passes, Index ranks);

/// The most ranks of which a thorough window fits into 3 GiB, and a quick one.
inline constexpr int max_ranks_replayed_thoroughly = 20'000;
inline constexpr int max_replayed_ranks = 100'000;

/// A machine to replay a schedule with. Its own operations take the times of the machine that the schedule is recorded
/// for, times `slow` (replay()).
struct Variant {
  MachineModel machine;
  std::vector<double> slow = {};
};
/// The replays of each window with each variant, on the cores of this machine, as many windows at a time as fit into
/// 3 GiB. `progress`: called by this thread with the fraction that is done; null: none.
std::vector<std::vector<Replay>> replay_windows(const MachineModel& machine, const Problem& problem,
                                                const std::vector<Window>& windows,
                                                const std::vector<Variant>& variants,
                                                const std::function<void(double)>& progress = {});

}  // namespace glinpack::app::model
