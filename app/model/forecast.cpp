#include "app/model/forecast.hpp"

#include <algorithm>
#include <future>
#include <vector>

#include "app/model/replay.hpp"

namespace glinpack::app::model {

namespace {

// Limit of replayed passes times processes, so that a forecast takes about a second.
constexpr Index most_replayed = 4'000;
constexpr Index windows = 8;
constexpr Index window_passes = 8;

struct Sum {
  double seconds = 0;
  ByWork<double> busy;
  ByWork<bool> needed{};

  void add(double weight, const Replay& replay) {
    seconds += weight * replay.seconds;
    for (const Work work : all_work) {
      busy[work] += weight * replay.busy[work];
      needed[work] = needed[work] || replay.needed[work];
    }
  }
};

Sum factorization(const MachineModel& machine, const Problem& problem) {
  const Index passes = problem.distribution().passes();
  Sum sum;
  const Index processes = problem.grid.size();
  const bool is_small = passes * processes <= most_replayed;
  if (is_small || passes < 4 * windows * window_passes) {
    sum.add(1, replay(machine, problem, {0, passes}, is_small ? ReplayedRanks::all : ReplayedRanks::one_row));
    return sum;
  }
  const bool all = (2 * windows * window_passes + windows) * processes <= most_replayed;
  const ReplayedRanks ranks = all ? ReplayedRanks::all : ReplayedRanks::one_row;
  struct Window {
    double weight;
    std::future<Replay> replay;
  };
  std::vector<Window> replayed;
  for (Index i = 0; i < windows; ++i) {
    const Index begin = passes * i / windows, end = passes * (i + 1) / windows;
    const Index middle = (begin + end) / 2;
    const PassRange window{middle - window_passes / 2, middle - window_passes / 2 + window_passes};
    const double weight = static_cast<double>(end - begin) / static_cast<double>(window_passes);
    replayed.push_back({weight, std::async(std::launch::async, [=, &machine, &problem] {
                          return replay_window(machine, problem, window, ranks);
                        })});
  }
  for (Window& window : replayed) sum.add(window.weight, window.replay.get());
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
