// What a replay of many passes says about a plan: its time with its uncertainty, what bounds it, and what changes of
// the run and of the cluster would bring. docs/planning.md explains the method.
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
  double panel = 0;    // exposed panels, copies and imbalance
  double network = 0;  // what a network without cost would save
};

/// A changed cluster: its time for the same N relative to the plan's.
struct Change {
  std::string name;
  double ratio = 1;
};

/// The plan with another broadcast or row swap.
struct Choice {
  std::string name;  // "broadcast ring-modified"
  double gflops = 0;
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
  std::vector<Choice> choices;  // the best first
  std::vector<Change> changes;
  double wall_seconds = 0;  // of the study
};

ReplayStudy study_by_replay(const PlanningOptions& options, const ClusterPlan& plan);

std::string study_text(const ReplayStudy& study);
nlohmann::json study_json(const ReplayStudy& study);

}  // namespace glinpack::app
