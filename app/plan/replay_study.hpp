// What a replay of every rank says about a plan: its time with its uncertainty, what bounds it, and what changes of the
// cluster would bring. docs/planning.md explains the method.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/plan/planner.hpp"

namespace glinpack::app {

/// What bounds a part of the factorisation; the parts of its time add up to it.
struct BoundBy {
  std::string part;  // "first third"
  double seconds = 0;
  double compute = 0;  // trailing update, U12 solve, row moves
  double panel = 0;    // panels, copies and imbalance that nothing hides
  double network = 0;  // what a network without cost would save
};

/// A changed cluster: its time for the same N relative to the plan's.
struct Change {
  std::string name;
  double ratio = 1;
};

/// The plan with another broadcast, row swap, grid or block size.
struct Choice {
  std::string name;  // "broadcast ring-modified"
  double gflops = 0;
};

struct ScalingPoint {
  int processes = 1;
  Index n = 0;  // weak scaling
  double weak_gflops = 0;
  double strong_gflops = 0;  // 0: fewer processes than the strong scaling's first point
};

struct ReplayStudy {
  Index ranks = 0;
  Index passes = 0;    // replayed and measured
  Index messages = 0;  // replayed
  double factor_seconds = 0;
  double solve_seconds = 0;
  double gflops = 0;
  double model_error = 0;   // relative
  double window_error = 0;  // relative; 0 if all passes are replayed
  std::string model_error_source;
  std::vector<BoundBy> bounds;
  std::vector<Choice> choices;    // the best first
  bool choices_replayed = false;  // by all ranks, not by one process row
  std::vector<Change> changes;
  std::vector<ScalingPoint> scaling;
  Index strong_n = 0;
  double wall_seconds = 0;  // of the study
};

/// A part of the passes to be replayed.
struct ReplayWindow {
  double weight = 1;        // measured passes stand for this many times their number
  PassRange measured = {};  // model::whole_run: all passes
  PassRange passes = {};    // replayed
};

/// All passes at once, if they are few and fit into memory; else 20 windows of 20 passes, or of fewer.
std::vector<ReplayWindow> windows_of_run(Index passes, Index ranks);

/// The most ranks of which a window fits into 3 GiB.
inline constexpr int most_replayed_ranks = 20'000;

/// Replays every rank on the cores of this machine.
ReplayStudy study_by_replay(const PlanningOptions& options, const ClusterPlan& plan);

std::string study_text(const ReplayStudy& study);
nlohmann::json study_json(const ReplayStudy& study);

}  // namespace glinpack::app
