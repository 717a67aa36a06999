// The options of `glinpack lu-methods` (docs/papers/lu-decomposition.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"
#include "solvers/lu_study/lu_methods.hpp"

namespace glinpack::app {

/// The value of --methods for the blocked method, in addition to the paper's four.
inline constexpr const char* blocked_lu_name = "compute";

struct LuMethodsOptions : ModeOptions {
  LuMethodsOptions() { n = {64, 128, 256}; }

  std::vector<std::string> methods{"M1", "M2", "M3", "M4", blocked_lu_name};
  std::vector<solvers::LuStrategy> strategy{solvers::all_lu_strategies.begin(), solvers::all_lu_strategies.end()};

  /// The paper's methods among the options, each with every strategy.
  std::vector<solvers::LuSettings> drawn() const;
  bool blocked() const;
};

OptionTable lu_methods_table(LuMethodsOptions& options);
/// Precedence: command line, file, default. Throws InputError.
LuMethodsOptions parse_lu_methods_options(const std::vector<std::string>& arguments);

}  // namespace glinpack::app
