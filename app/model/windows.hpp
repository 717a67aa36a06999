// Which passes of a factorisation are replayed: all, or windows that stand for all. Pure.
#pragma once

#include <vector>

#include "app/model/replay.hpp"

namespace glinpack::app::model {

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
inline constexpr int most_ranks_replayed_thoroughly = 20'000;
inline constexpr int most_replayed_ranks = 100'000;

/// A machine to replay a schedule with. Its own operations take the times of the machine that the schedule is recorded
/// for, times `slow` (replay()).
struct Variant {
  MachineModel machine;
  std::vector<double> slow = {};
};
/// The replays of each window with each variant, on the cores of this machine, as many windows at a time as fit into
/// 3 GiB.
std::vector<std::vector<Replay>> replay_windows(const MachineModel& machine, const Problem& problem,
                                                const std::vector<Window>& windows,
                                                const std::vector<Variant>& variants);

}  // namespace glinpack::app::model
