// The options of `glinpack tridiagonal` (docs/papers/coprocessor.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"

namespace glinpack::app {

struct TridiagonalOptions : ModeOptions {
  std::vector<Index> systems;                   // empty: 1024; with input, the columns of input-b, or 1
  std::string input_b;                          // right-hand sides for input; empty: random numbers
  std::vector<std::string> variant{"compute"};  // names of solvers::TridiagonalVariant, and "lapack"
  solvers::Share share = solvers::Share::automatic;
  std::optional<Index> steps;
  std::optional<Index> tile;
  Precision precision = Precision::single;

  solvers::TridiagonalSettings settings_of(solvers::TridiagonalVariant which) const {
    return {.variant = which, .share = share, .steps = steps, .tile = tile};
  }
};

OptionTable tridiagonal_table(TridiagonalOptions& options);
/// Precedence: command line, file, default. Throws InputError.
TridiagonalOptions parse_tridiagonal_options(const std::vector<std::string>& arguments);

/// Empty for "lapack", which is not a device variant.
std::optional<solvers::TridiagonalVariant> tridiagonal_variant_from_name(std::string_view name);

}  // namespace glinpack::app
