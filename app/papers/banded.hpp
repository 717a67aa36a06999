// `glinpack-papers banded` (docs/papers/matmul.md): y = A x for a matrix of few diagonals.
#pragma once

#include <vector>

#include "app/papers/study.hpp"

namespace glinpack::app {

struct BandedOptions : ModeOptions {
  BandedOptions() { n = {4096}; }

  std::vector<Index> diagonals{10};
  std::vector<Index> offsets;             // empty: `diagonals` ones around the main one
  Texts variant{"diagonals", "compute"};  // names of solvers::BandedVariant, and "csr"
};

OptionTable banded_table(BandedOptions& options);
/// Precedence: command line, file, default. Throws InputError.
BandedOptions parse_banded_options(const Texts& arguments);
Study banded_study(const BandedOptions& options);

/// Offsets of `count` diagonals around the main one: 0, 1, -1, 2, -2 ...
std::vector<Index> offsets_around_main(Index count);

}  // namespace glinpack::app
