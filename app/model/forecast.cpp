#include "app/model/forecast.hpp"

#include <algorithm>
#include <vector>

#include "app/model/windows.hpp"

namespace glinpack::app::model {

namespace {

struct Sum {
  double seconds = 0;
  ByWork<double> busy;
  ByWork<bool> needed{};
};

Sum factorization(const MachineModel& machine, const Problem& problem) {
  const std::vector<Window> windows = quick_windows(problem.distribution().passes(), problem.grid.size());
  const std::vector<std::vector<Replay>> replays = replay_windows(machine, problem, windows, {{machine}});
  Sum sum;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Replay& replay = replays[i].front();
    sum.seconds += windows[i].weight * replay.seconds;
    for (const Work work : all_work) {
      sum.busy[work] += windows[i].weight * replay.busy[work];
      sum.needed[work] = sum.needed[work] || replay.needed[work];
    }
  }
  return sum;
}

// In a pass of the backward substitution, messages use trees: partial sums along a row, x up a column.
double substitution_messages(const MachineModel& machine, const Problem& problem, Index width) {
  const Amounts message{0, static_cast<double>(width * problem.element_bytes()), 1};
  const int home = problem.node_of({0, 0});
  double seconds = 0;
  for (int distance = 1; distance < problem.grid.columns; distance *= 2) {
    seconds += machine.seconds(problem.node_of({0, distance}) == home ? Work::memory : Work::network, message);
  }
  for (int distance = 1; distance < problem.grid.rows; distance *= 2) {
    seconds += machine.seconds(problem.node_of({distance, 0}) == home ? Work::memory : Work::network, message);
  }
  return seconds;
}

double solution(const MachineModel& machine, const Problem& problem) {
  const Distribution distribution = problem.distribution();
  double seconds = 0;
  for (Index k = 0; k < distribution.passes(); ++k) {
    const PassPlan plan = plan_pass(distribution, k, pivot_position(problem.grid, k));
    seconds += machine.seconds(Work::substitution, substitution_work(problem, plan)) +
               substitution_messages(machine, problem, plan.width);
  }
  return seconds;
}

// True for work that runs concurrently with the other work of the process.
bool overlaps(Work work, const Arrangement& arrangement) {
  return work == Work::transfer || (work == Work::panel_host && arrangement.in_background);
}

}  // namespace

Amounts substitution_work(const Problem& problem, const PassPlan& plan) {
  if (!plan.in_pivot_column) return {};
  // the part of U above the diagonal block that this process column holds, and the diagonal block
  const auto width = static_cast<double>(plan.width);
  const double above = static_cast<double>(plan.panel_row.value) + (plan.in_pivot_row ? width : 0);
  return {2 * above * width, above * width * static_cast<double>(problem.element_bytes()), 1};
}

Forecast forecast(const MachineModel& machine, const Problem& problem) {
  const bool solves = problem.parameters.parts == RunParts::all;
  Sum sum = factorization(machine, problem);
  Forecast result;
  result.factor_seconds = sum.seconds;
  if (solves) result.solve_seconds = solution(machine, problem);
  result.seconds = result.factor_seconds + result.solve_seconds;
  result.busy = sum.busy;
  double computing = 0;
  for (const Work work : all_work) {
    if (!overlaps(work, problem.arrangement)) computing += sum.busy[work];
  }
  result.exposed_seconds = std::max(0.0, result.factor_seconds - computing);
  if (problem.parameters.parts != RunParts::messages && result.seconds > 0) {
    const Index n = problem.parameters.n;
    result.gflops = (solves ? hpl_flops(n) : factorization_flops(n)) / result.seconds * 1e-9;
  }
  sum.needed[Work::substitution] = solves;
  for (const Work work : all_work) {
    if (result.missing.empty() && sum.needed[work] && !machine.figures[work].cost.known()) {
      result.missing = name_of(work);
    }
  }
  return result;
}

}  // namespace glinpack::app::model
