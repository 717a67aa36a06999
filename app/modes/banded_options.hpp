// The options of `glinpack banded` (docs/papers/matmul.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"

namespace glinpack::app {

struct BandedOptions : ModeOptions {
  BandedOptions() { n = {4096}; }

  std::vector<Index> diagonals{10};
  std::vector<Index> offsets;                                // empty: `diagonals` ones around the main one
  std::vector<std::string> variant{"diagonals", "compute"};  // names of solvers::BandedVariant, and "csr"
};

OptionTable banded_table(BandedOptions& options);
/// Precedence: command line, file, default. Throws InputError.
BandedOptions parse_banded_options(const std::vector<std::string>& arguments);

/// Offsets of `count` diagonals around the main one: 0, 1, -1, 2, -2 ...
std::vector<Index> offsets_around_main(Index count);

}  // namespace glinpack::app
