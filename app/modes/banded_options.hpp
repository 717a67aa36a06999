// Everything that `glinpack banded` can be told (docs/banded.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"

namespace glinpack::app {

struct BandedOptions : ModeOptions {
  BandedOptions() { n = {4096}; }

  std::vector<Index> diagonals{10};
  std::vector<Index> offsets;                                // empty: as many as `diagonals` says, beside the main one
  std::vector<std::string> variant{"diagonals", "compute"};  // names of solvers::BandedVariant, and "csr"
};

/// Command line over file over default. Throws InputError.
BandedOptions parse_banded_options(const std::vector<std::string>& arguments);
std::string banded_help();
nlohmann::json to_json(const BandedOptions& options);

/// Offsets of `count` diagonals around the main one: 0, 1, -1, 2, -2 ...
std::vector<Index> offsets_around_main(Index count);

}  // namespace glinpack::app
