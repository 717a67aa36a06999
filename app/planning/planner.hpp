// Chooses N, NB and the grid of a run that the model expects most of, and says what it expects.
#pragma once

#include <string>
#include <vector>

#include "app/model/forecast.hpp"
#include "app/model/measured_runs.hpp"
#include "app/planning/planning_options.hpp"

namespace glinpack::app {

struct Candidate {
  model::Problem problem;
  model::Forecast forecast;
};

/// A measured run beside what the model makes of it. Not a prediction: its figures are fitted to these runs.
struct FittedRun {
  model::MeasuredRun run;
  double seconds = 0;  // the model's
};

struct ClusterPlan {
  model::MachineModel machine;
  std::vector<FittedRun> fitted;
  Candidate chosen;
  std::vector<Candidate> others;  // the best with other grids, then with other block sizes
  double device_bytes = 0;        // that the process with most takes on its device; 0 with openblas
  double host_bytes = 0;          // and in its node's memory
  std::vector<std::string> notes;
};

/// The figures that the options name, over those of the default machine. Throws InputError.
ClusterPlan with_figures(const PlanningOptions& options);
/// The whole plan. Throws InputError: no N fits, a figure is missing.
ClusterPlan plan_cluster(const PlanningOptions& options);

/// P x Q = processes, the squarest first; of many processes only those at most 16 times as wide as high, or as high as
/// wide.
std::vector<GridShape> grids_of(int processes);

}  // namespace glinpack::app
