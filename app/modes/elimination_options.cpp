#include "app/modes/elimination_options.hpp"

#include <algorithm>

#include "app/input/values.hpp"

namespace glinpack::app {

using solvers::EliminationSettings;
using solvers::PivotMeasure;

std::vector<Field> elimination_problem_fields(EliminationOptions& o, Index fewest_right_hand_sides) {
  return joined(problem_fields(o, "A from a .npy or Matrix Market file instead of random numbers",
                               "X of the last result, as .npy or .mtx by the name"),
                std::vector<Field>{
                    {"input-b", text(o.input_b, "FILE"), "Right-hand sides, with --input: N x any number of columns",
                     "random numbers"},
                    {"rhs", whole(o.right_hand_sides, fewest_right_hand_sides, largest_n),
                     std::string("Right-hand sides") + (fewest_right_hand_sides == 0 ? "; 0: factors alone" : "")},
                });
}

std::vector<Field> elimination_variant_fields(EliminationOptions& o) {
  return {
      variant_field(o.variant, names_of(solvers::all_elimination_variants), "openblas"),
      {"measure", kinds_value(o.measure, solvers::all_pivot_measures),
       "Of double-rows and compute: q11 q22 / (q11 + q22), by which blocks are compared, of the magnitudes of q11 and "
       "q22 or by the letter; all: both"},
  };
}

std::vector<EliminationSettings> settings_of(const EliminationOptions& o, solvers::EliminationPivoting pivoting) {
  std::vector<EliminationSettings> all;
  for (const std::string& name : o.variant) {
    const auto variant = solvers::elimination_variant_from_name(name);
    if (!variant) continue;  // the host, which is always measured
    if (solvers::block_size(*variant) == 1) {
      all.push_back({*variant, pivoting});
      continue;
    }
    for (const PivotMeasure measure : solvers::all_pivot_measures) {
      if (std::count(o.measure.begin(), o.measure.end(), measure) > 0) all.push_back({*variant, pivoting, measure});
    }
  }
  return all;
}

}  // namespace glinpack::app
