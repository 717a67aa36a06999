// `glinpack compare`: compares two result files run by run.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/options/fields.hpp"
#include "app/report/comparison.hpp"

namespace glinpack::app {

struct CompareOptions {
  Texts files = {};                       // two: the baseline a, and b
  std::set<std::string> ignored = {};     // names of parameters that may differ
  double confidence = 90;                 // per cent
  std::optional<double> fail_below = {};  // a ratio
  std::string json = {};                  // empty: not written
  bool force = false;
};

OptionTable compare_table(CompareOptions& options);

CompareOptions parse_compare_options(const Texts& arguments);

/// Returns the exit code.
int run_compare_command(const CompareOptions& options, const std::vector<std::string>& command_line, std::ostream& out);

/// The reasons why a comparison fails --fail-below; empty if it passes.
std::vector<std::string> shortfalls_of(const Comparison& comparison, double fail_below);

std::string comparison_text(const ResultFile& a, const ResultFile& b, const Comparison& comparison);
nlohmann::json comparison_json(const ResultFile& a, const ResultFile& b, const Comparison& comparison);

}  // namespace glinpack::app
