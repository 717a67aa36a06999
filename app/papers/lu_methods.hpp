// `glinpack-papers lu-methods` (docs/papers/lu-decomposition.md): A = L U without pivoting by the methods of Ino et al.
// 2005, and their Tables 1 and 3.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/papers/study.hpp"
#include "solvers/lu_study/lu_methods.hpp"

namespace glinpack::app {

/// The value of --methods for the blocked method, in addition to the paper's four.
inline constexpr const char* blocked_lu_name = "compute";

struct LuMethodsOptions : ModeOptions {
  LuMethodsOptions() { n = {64, 128, 256}; }

  Texts methods{"M1", "M2", "M3", "M4", blocked_lu_name};
  std::vector<solvers::LuStrategy> strategy{solvers::all_lu_strategies.begin(), solvers::all_lu_strategies.end()};

  /// The paper's methods among the options, each with every strategy.
  std::vector<solvers::LuSettings> drawn() const;
  bool blocked() const;
};

OptionTable lu_methods_table(LuMethodsOptions& options);
/// Precedence: command line, file, default. Throws InputError.
LuMethodsOptions parse_lu_methods_options(const Texts& arguments);
Study lu_methods_study(const LuMethodsOptions& options);

/// The method that separates the times of device, host and copies.
enum class LuClock : std::uint8_t {
  timer_queries,  // device timestamps around passes and copies
  differences     // host times of runs with and without copies, and of commands that draw nothing
};
std::string_view name_of(LuClock clock);  // "timer queries", "differences"

/// Table 3 in seconds: A = G + C + T. Each is the minimum over the repetitions, since other load only adds time. By
/// differences, C is a run without drawing, T is the time saved by a run without copies, and G is the rest. A
/// difference smaller than the noise can be negative.
struct LuBreakdown {
  double whole = 0;               // A, total
  double device = 0;              // G
  double host = 0;                // C
  std::optional<double> copying;  // T; empty if the strategy does not copy
};

/// A run whose shaders do the same reads without arithmetic and copies.
struct LuAccess {
  double seconds = 0;                      // on the device
  double bytes = 0;                        // that its fragments fetch
  std::optional<double> bytes_per_second;  // empty if the time is too short
  std::optional<double> share;             // of the device's measured rate
};

struct LuFigures {
  solvers::LuSettings settings;
  Index n = 0;
  solvers::LuCounts counts;  // OpenGL calls
  LuBreakdown breakdown;
  LuAccess access;
};

/// The value of "parameters" of a result.
nlohmann::json to_json(const LuFigures& figures, LuClock clock);

/// The measured passes and bytes compared with the paper's Table 1; Table 3; and accesses, with the device's fetch rate
/// in bytes a second. Empty without figures.
std::string lu_tables(const std::vector<LuFigures>& figures, LuClock clock, double fetch_rate);

}  // namespace glinpack::app
