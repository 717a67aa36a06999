// Short names that distinguish runs.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace glinpack::app {

using Parameters = std::vector<std::pair<std::string, std::string>>;  // names and values, in display order

/// The names of parameters that have several values, or are missing in some runs.
std::set<std::string> differing(const std::vector<Parameters>& all);

/// "openblas, n 4096, nb 128": the parameters with names among `names`; with `wanted` false, all others.
std::string listed(const Parameters& parameters, const std::set<std::string>& names, bool wanted = true);

}  // namespace glinpack::app
