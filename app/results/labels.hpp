// Short names for runs: what tells them apart.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace glinpack::app {

using Parameters = std::vector<std::pair<std::string, std::string>>;  // names and values, in the order to show them

/// Names of the parameters in which they differ: of several values, or missing in some.
std::set<std::string> differing(const std::vector<Parameters>& all);

/// "openblas, n 4096, nb 128": the parameters whose names are among `names`, or, with `wanted` false, are not.
std::string listed(const Parameters& parameters, const std::set<std::string>& names, bool wanted = true);

}  // namespace glinpack::app
