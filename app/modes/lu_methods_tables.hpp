// What lu-methods measures beyond the times of all modes, and its tables: Tables 1 and 3 of Ino et al. 2005, and the
// throughput of accesses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/modes/mode_record.hpp"
#include "solvers/lu_study/lu_methods.hpp"

namespace glinpack::app {

/// Whose clock tells the device's time from the host's and the copies'.
enum class LuClock : std::uint8_t {
  timer_queries,  // the device's: passes and copies lie between its timestamps
  differences     // the host's: between runs with and without copies, and of commands that have nothing to draw
};
std::string_view name_of(LuClock clock);  // "timer queries", "differences"

/// Table 3, in seconds, the least of the repetitions, since others' work on the machine only adds: A = G + C + T. By
/// differences, C is a run of nothing but commands, T what a run without copies
/// takes less, G the rest; a difference may be below 0 where it is less than runs vary by.
struct LuBreakdown {
  double whole = 0;               // A
  double device = 0;              // G
  double host = 0;                // C
  std::optional<double> copying;  // T; none: the strategy does not copy
};

/// A run whose shaders read what they would read, without arithmetic and without copies.
struct LuAccess {
  double seconds = 0;                      // of the device
  double bytes = 0;                        // that its fragments fetch
  std::optional<double> bytes_per_second;  // none where the seconds are too few to tell
  std::optional<double> share;             // of the device's own rate
};

struct LuFigures {
  solvers::LuSettings settings;
  Index n = 0;
  solvers::LuCounts counts;  // where OpenGL was called
  LuBreakdown breakdown;
  LuAccess access;
};

/// Under "parameters" of a result.
nlohmann::json to_json(const LuFigures& figures, LuClock clock);

/// Counted passes and bytes beside the paper's Table 1; Table 3; accesses, with the device's own rate of fetches in
/// bytes a second. Empty where there are no figures.
std::string lu_tables(const std::vector<LuFigures>& figures, LuClock clock, double fetch_rate);
/// How far the factors are from those of plain loops in double precision (parameter "difference" of the records).
std::string lu_errors_table(const std::vector<ModeRecord>& records);

}  // namespace glinpack::app
