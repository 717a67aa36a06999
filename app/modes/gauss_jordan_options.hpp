// Everything that `glinpack gauss-jordan` can be told (docs/gauss-jordan.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/elimination_options.hpp"

namespace glinpack::app {

struct GaussJordanOptions : EliminationOptions {
  bool inverse = false;
  std::vector<std::string> pivoting{"partial"};  // names of solvers::EliminationPivoting
};

/// Command line over file over default. Throws InputError.
GaussJordanOptions parse_gauss_jordan_options(const std::vector<std::string>& arguments);
std::string gauss_jordan_help();
nlohmann::json to_json(const GaussJordanOptions& options);

}  // namespace glinpack::app
