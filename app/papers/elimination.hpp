// `glinpack-papers gauss-jordan` (docs/papers/coprocessor.md) and `glinpack-papers plu-packed`: dense systems A X = B.
#pragma once

#include <vector>

#include "app/papers/study.hpp"
#include "solvers/elimination/elimination.hpp"

namespace glinpack::app {

struct EliminationOptions : ModeOptions {
  Index right_hand_sides = 1;    // 0: plu-packed computes only the factors
  Texts variant{"double-rows"};  // names of solvers::EliminationVariant, and "openblas"
  std::vector<solvers::PivotMeasure> measure{solvers::PivotMeasure::magnitudes};
  // of gauss-jordan
  bool inverse = false;
  std::vector<solvers::EliminationPivoting> pivoting{solvers::EliminationPivoting::partial};
};

OptionTable gauss_jordan_table(EliminationOptions& options);
OptionTable plu_packed_table(EliminationOptions& options);
/// Precedence: command line, file, default. Throw InputError.
EliminationOptions parse_gauss_jordan_options(const Texts& arguments);
EliminationOptions parse_plu_packed_options(const Texts& arguments);
Study gauss_jordan_study(const EliminationOptions& options);
Study plu_packed_study(const EliminationOptions& options);

/// The combinations to be measured on a device. The pivot measure does not matter for single rows.
std::vector<solvers::EliminationSettings> settings_of(const EliminationOptions& options);

}  // namespace glinpack::app
