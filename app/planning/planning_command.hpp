// `glinpack plan`: N, NB, grid, expected time and rate of a run on a cluster that need not exist.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/planning/planner.hpp"

namespace glinpack::app {

/// Plans, prints and writes JSON where it is asked for. `command_line`: the program's. Throws InputError for what the
/// user can mend, std::runtime_error for the rest.
void run_planning_command(const PlanningOptions& options, const std::vector<std::string>& command_line,
                          std::ostream& out);

/// The two views; the JSON one without context (docs/plan.schema.json).
std::string planning_text(const PlanningOptions& options, const ClusterPlan& plan);
nlohmann::json planning_json(const ClusterPlan& plan);

}  // namespace glinpack::app
