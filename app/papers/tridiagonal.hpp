// `glinpack-papers tridiagonal` (docs/papers/coprocessor.md): many tridiagonal systems at once.
#pragma once

#include <optional>
#include <vector>

#include "app/papers/study.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"

namespace glinpack::app {

struct TridiagonalOptions : ModeOptions {
  std::vector<Index> systems;  // empty: 1024; with input, the columns of input_b, or 1
  Texts variant{"compute"};    // names of solvers::TridiagonalVariant, and "lapack"
  solvers::Share share = solvers::Share::automatic;
  std::optional<Index> steps;
  std::optional<Index> tile;

  solvers::TridiagonalSettings settings_of(solvers::TridiagonalVariant which) const {
    return {.variant = which, .share = share, .steps = steps, .tile = tile};
  }
};

OptionTable tridiagonal_table(TridiagonalOptions& options);
/// Precedence: command line, file, default. Throws InputError.
TridiagonalOptions parse_tridiagonal_options(const Texts& arguments);
Study tridiagonal_study(const TridiagonalOptions& options);

/// Throws NoResult if there is a zero pivot.
void check_pivots(const std::optional<solvers::ZeroPivot>& zero);

}  // namespace glinpack::app
