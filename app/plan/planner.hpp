// Chooses the N, NB and grid with the best predicted performance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/model/forecast.hpp"
#include "app/model/measured_runs.hpp"
#include "app/options/plu_options.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

struct PlanningOptions {
  // the cluster
  int nodes = 1;
  int processes_per_node = 1;     // GPUs per node, with gl-compute
  std::optional<double> memory;   // bytes per GPU; with openblas, per process
  std::optional<double> network;  // bytes a second per link of a node
  std::optional<double> latency;  // seconds per message between nodes
  double memory_fraction = 0.8;

  // the run: unset values are chosen
  std::optional<Index> n;
  std::optional<Index> nb;
  std::optional<GridShape> grid;
  RankOrder order = RankOrder::row_major;
  std::string backend{automatic_backend(MemorySpace::device).name};
  Precision precision = Precision::double_;
  Pivoting pivoting = Pivoting::partial;
  BroadcastKind broadcast = BroadcastKind::ring;
  RowSwap row_swap{.kind = RowSwapKind::binary_exchange};
  int lookahead = 1;

  // figures
  Texts from;         // of plu --json
  std::string links;  // of network --json

  bool replay = false;  // more passes, and changes of the plan
  bool slurm = false;   // print the job, not mpirun

  std::string json;
  bool force = false;
  std::string config;

  int processes() const { return nodes * processes_per_node; }
};

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

/// P x Q = processes with P <= Q, the squarest first. For many processes, only grids with Q <= 16 P.
std::vector<GridShape> grids_of(int processes);
/// If all grids of that many processes are long, as of a prime number: the squarest grid of a few less that is not.
std::optional<GridShape> squarer_grid(int processes);

}  // namespace glinpack::app
