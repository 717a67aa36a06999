// The options of `glinpack gauss-jordan` (docs/papers/coprocessor.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/elimination_options.hpp"

namespace glinpack::app {

struct GaussJordanOptions : EliminationOptions {
  bool inverse = false;
  std::vector<solvers::EliminationPivoting> pivoting{solvers::EliminationPivoting::partial};
};

OptionTable gauss_jordan_table(GaussJordanOptions& options);
/// Precedence: command line, file, default. Throws InputError.
GaussJordanOptions parse_gauss_jordan_options(const std::vector<std::string>& arguments);

}  // namespace glinpack::app
