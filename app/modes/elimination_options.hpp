// The options that `glinpack gauss-jordan` and `glinpack plu-packed` share (docs/papers/coprocessor.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"
#include "solvers/elimination/elimination.hpp"

namespace glinpack::app {

struct EliminationOptions : ModeOptions {
  std::string input_b;                              // right-hand sides; empty: random ones
  Index right_hand_sides = 1;                       // 0: plu-packed computes only the factors
  std::vector<std::string> variant{"double-rows"};  // names of solvers::EliminationVariant, and "openblas"
  std::vector<solvers::PivotMeasure> measure{solvers::PivotMeasure::magnitudes};
};

/// The fields from --n on; `fewest_right_hand_sides`: 0 or 1.
std::vector<Field> elimination_problem_fields(EliminationOptions& options, Index fewest_right_hand_sides);
std::vector<Field> elimination_variant_fields(EliminationOptions& options);

/// The combinations to be measured on a device for one kind of pivoting. The pivot measure does not matter for single
/// rows.
std::vector<solvers::EliminationSettings> settings_of(const EliminationOptions& options,
                                                      solvers::EliminationPivoting pivoting);

/// Throws InputError if sizes come from two sources.
template <class Options>
void check_system_sources(const Parsed<Options>& parsed) {
  check_one_source(parsed);
  const Options& o = parsed.options;
  if (o.input_b.empty()) return;
  if (o.input.empty()) throw InputError("--input-b " + o.input_b + ": give A, too, by --input");
  if (parsed.given("rhs")) {
    throw InputError("--rhs and --input-b " + o.input_b + " are both given: leave one of them out");
  }
}

}  // namespace glinpack::app
