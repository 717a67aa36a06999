// `glinpack compare`: two result files, run by run.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/compare/comparison.hpp"
#include "app/compare_options.hpp"

namespace glinpack::app {

/// Prints a table and writes JSON where it is asked for. `command_line`: the program's. Returns the exit code. Throws
/// InputError for what the user can mend, std::runtime_error for the rest.
int run_compare_command(const CompareOptions& options, const std::vector<std::string>& command_line, std::ostream& out);

/// Why a comparison does not pass --fail-below; empty where it does.
std::vector<std::string> shortfalls_of(const Comparison& comparison, double fail_below);

/// The two views. The JSON one is without context: see docs/compare.schema.json.
std::string comparison_text(const ResultFile& a, const ResultFile& b, const Comparison& comparison);
nlohmann::json comparison_json(const ResultFile& a, const ResultFile& b, const Comparison& comparison);

}  // namespace glinpack::app
