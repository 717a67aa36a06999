// Chooses the N, NB and grid with the best predicted performance.
#pragma once

#include <string>
#include <vector>

#include "app/model/forecast.hpp"
#include "app/model/measured_runs.hpp"
#include "app/plan/planning_options.hpp"

namespace glinpack::app {

struct Candidate {
  model::Problem problem;
  model::Forecast forecast;
};

/// A measured run and the fitted model's time for it. This is not a prediction, since the fit used the run.
struct FittedRun {
  model::MeasuredRun run;
  double seconds = 0;  // according to the model
};

struct ClusterPlan {
  model::MachineModel machine;
  std::vector<FittedRun> fitted;
  Candidate chosen;
  std::vector<Candidate> others;  // the best for each other grid, then for each other block size
  double device_bytes = 0;        // largest need of a process on its device; 0 with openblas
  double host_bytes = 0;          // and in its node's memory
};

/// Throws InputError if no N fits or a figure is missing.
ClusterPlan plan_cluster(const PlanningOptions& options);

/// P x Q = processes, the squarest first. For many processes, only grids with an aspect ratio of at most 16 in either
/// direction.
std::vector<GridShape> grids_of(int processes);

}  // namespace glinpack::app
