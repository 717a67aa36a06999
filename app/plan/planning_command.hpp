// `glinpack plan`: predicts N, NB, grid, time and rate of a run on a hypothetical cluster.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/plan/planner.hpp"

namespace glinpack::app {

/// to_json() writes bytes, bytes a second and seconds as numbers.
OptionTable planning_table(PlanningOptions& options);

/// Precedence: command line, file, default. `arguments` follow `glinpack plan`. Throws InputError, also if options
/// exclude each other.
PlanningOptions parse_planning_options(const Texts& arguments);

/// Plans, prints and writes JSON if requested. `command_line`: the program's. Throws InputError for errors that the
/// user can correct, std::runtime_error for others.
void run_planning_command(const PlanningOptions& options, const std::vector<std::string>& command_line,
                          std::ostream& out);

/// The text and JSON reports. The JSON has no context: see docs/plan.schema.json.
std::string planning_text(const PlanningOptions& options, const ClusterPlan& plan);
nlohmann::json planning_json(const ClusterPlan& plan);

}  // namespace glinpack::app
