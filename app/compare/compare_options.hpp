// The options of `glinpack compare`.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "app/options/fields.hpp"

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

/// `arguments` follow `glinpack compare`. Throws InputError.
CompareOptions parse_compare_options(const Texts& arguments);

}  // namespace glinpack::app
