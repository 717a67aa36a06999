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

PlanningOptions parse_planning_options(const Texts& arguments);

void run_planning_command(const PlanningOptions& options, const std::vector<std::string>& command_line,
                          std::ostream& out);

std::string planning_text(const PlanningOptions& options, const ClusterPlan& plan);
nlohmann::json planning_json(const ClusterPlan& plan);

}  // namespace glinpack::app
