// Everything that `glinpack compare` can be told.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace glinpack::app {

struct CompareOptions {
  std::string a = {}, b = {};
  std::set<std::string> ignored = {};     // names of parameters that may differ
  double confidence = 0.9;                // more than 0, less than 1
  std::optional<double> fail_below = {};  // a ratio
  std::string json = {};                  // empty: not written
  bool force = false;
};

/// `arguments`: what follows `glinpack compare`. Throws InputError.
CompareOptions parse_compare_options(const std::vector<std::string>& arguments);

/// What `glinpack compare --help` prints.
std::string compare_help();

}  // namespace glinpack::app
