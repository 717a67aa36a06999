#include "app/modes/elimination_options.hpp"

#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_text.hpp"

namespace glinpack::app {

namespace {

using solvers::EliminationSettings;
using solvers::EliminationVariant;
using solvers::PivotMeasure;

std::vector<std::string> elimination_variant_choices() {
  std::vector<std::string> names;
  for (const EliminationVariant variant : solvers::all_elimination_variants) names.emplace_back(name_of(variant));
  names.emplace_back("openblas");
  return names;
}

const std::vector<std::string>& measure_choices() {
  static const std::vector<std::string> names{std::string(name_of(PivotMeasure::magnitudes)),
                                              std::string(name_of(PivotMeasure::as_signed))};
  return names;
}

}  // namespace

void define_elimination_problem(CLI::App& app, EliminationOptions& o, Index fewest_right_hand_sides) {
  define_mode_problem(app, o, "A from a .npy or Matrix Market file instead of random numbers",
                      "X of the last result, as .npy or .mtx by the name");
  add_text(app, "--input-b", "FILE", "Right-hand sides, with --input: N x any number of columns [random numbers]",
           o.input_b);
  add(app, "--rhs", "COUNT", std::to_string(o.right_hand_sides),
      std::string("Right-hand sides") + (fewest_right_hand_sides == 0 ? "; 0: factors alone" : ""),
      [&o, fewest_right_hand_sides](const std::string& t) {
        o.right_hand_sides = parse_whole(t, fewest_right_hand_sides, largest_n);
      });
}

void define_elimination_variants(CLI::App& app, EliminationOptions& o) {
  begin_group(app, "Variants");
  add_list(app, "--variant", some_of(elimination_variant_choices(), {"all"}), "double-rows",
           "The ways to compute it; all: every one of them",
           [&o](const std::vector<std::string>& v) { o.variant = parse_names(v, elimination_variant_choices()); });
  add_list(app, "--measure", some_of(measure_choices(), {"all"}), "magnitudes",
           "Of double-rows and compute: q11 q22 / (q11 + q22), by which blocks are compared, of the magnitudes "
           "of q11 and q22 or by the letter; all: both",
           [&o](const std::vector<std::string>& v) { o.measure = parse_names(v, measure_choices()); });
}

nlohmann::json elimination_to_json(const EliminationOptions& o) {
  nlohmann::json json = mode_to_json(o);
  json.update({{"input-b", o.input_b.empty() ? nlohmann::json() : nlohmann::json(o.input_b)},
               {"rhs", o.right_hand_sides},
               {"variant", o.variant},
               {"measure", o.measure}});
  return json;
}

std::vector<EliminationSettings> settings_of(const EliminationOptions& o, solvers::EliminationPivoting pivoting) {
  std::vector<EliminationSettings> all;
  for (const std::string& name : o.variant) {
    const auto variant = solvers::elimination_variant_from_name(name);
    if (!variant) continue;  // the host, which is measured always
    if (solvers::block_size(*variant) == 1) {
      all.push_back({*variant, pivoting});
      continue;
    }
    for (const PivotMeasure measure : {PivotMeasure::magnitudes, PivotMeasure::as_signed}) {
      for (const std::string& chosen : o.measure) {
        if (chosen == name_of(measure)) all.push_back({*variant, pivoting, measure});
      }
    }
  }
  return all;
}

}  // namespace glinpack::app
