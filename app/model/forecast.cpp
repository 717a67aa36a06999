#include "app/model/forecast.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "base/threads.hpp"

namespace glinpack::app::model {

namespace {

// The weighted sum of the windows' replays.
Replay factorization(const MachineModel& machine, const Problem& problem) {
  const std::vector<Window> windows = quick_windows(problem.distribution().passes(), problem.grid.size());
  const std::vector<std::vector<Replay>> replays = replay_windows(machine, problem, windows, {{machine}});
  Replay sum;
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

constexpr double max_bytes = 3.0 * 1024 * 1024 * 1024;

// Memory of the recorded schedules.
double bytes_of(Index passes, Index ranks) {
  constexpr double bytes_of_a_pass = 4096;
  return bytes_of_a_pass * static_cast<double>(passes) * static_cast<double>(ranks);
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
  Replay sum = factorization(machine, problem);
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

std::vector<Window> windows_of(Index passes, Index count, Index width) {
  constexpr Index max_before = 8;
  if (passes <= count * (2 * width + 1)) return {{.passes = {0, passes}}};
  std::vector<Window> windows;
  for (Index i = 0; i < count; ++i) {
    const Index begin = passes * i / count, end = passes * (i + 1) / count;
    const Index first = (begin + end - width) / 2;
    windows.push_back({.weight = static_cast<double>(end - begin) / static_cast<double>(width),
                       .measured = {first, first + width},
                       .passes = {std::max<Index>(0, first - std::min(max_before, width)), first + width + 1}});
  }
  return windows;
}

std::vector<Window> quick_windows(Index passes, Index ranks) {
  constexpr Index max_replayed_at_once = 4'000, max_replayed = 30'000;  // passes times ranks
  if (passes * ranks <= max_replayed_at_once) return windows_of(passes, 1, passes);
  constexpr std::array<std::pair<Index, Index>, 3> sizes{{{8, 8}, {8, 4}, {6, 2}}};
  for (const auto& [count, width] : sizes) {
    if (count * (2 * width + 1) * ranks <= max_replayed) return windows_of(passes, count, width);
  }
  return windows_of(passes, 4, 1);
}

std::vector<Window> thorough_windows(Index passes, Index ranks) {
  constexpr Index count = 20, widest = 20;
  if (passes <= count * (2 * widest + 1) && bytes_of(passes, ranks) <= max_bytes) return windows_of(passes, 1, passes);
  const Index fitting = ((passes - 1) / count - 1) / 2;  // windows do not overlap
  return fitting < 1 ? windows_of(passes, 4, 1) : windows_of(passes, count, std::min(fitting, widest));
}

std::vector<std::vector<Replay>> replay_windows(const MachineModel& machine, const Problem& problem,
                                                const std::vector<Window>& windows,
                                                const std::vector<Variant>& variants,
                                                const std::function<void(double)>& progress) {
  double largest = 1;
  for (const Window& window : windows) {
    largest = std::max(largest, bytes_of(window.passes.end - window.passes.first, problem.grid.size()));
  }
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const double fitting = std::clamp(max_bytes / largest, 1.0, static_cast<double>(windows.size()));
  const int at_a_time = std::min(cores, static_cast<int>(fitting));
  std::vector<std::vector<Replay>> replays(windows.size());
  std::atomic<std::size_t> done{0};
  const std::thread::id caller = std::this_thread::get_id();
  parallel_for(at_a_time, static_cast<Index>(windows.size()), 1, [&](Index begin, Index end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const Schedule schedule = record_schedule(machine, problem, windows[i].passes, std::max(1, cores / at_a_time));
      for (const Variant& variant : variants) {
        replays[i].push_back(replay(schedule, variant.machine, problem, windows[i].measured, variant.slow));
        const auto replayed = static_cast<double>(++done);
        if (progress && std::this_thread::get_id() == caller)
          progress(replayed / static_cast<double>(windows.size() * variants.size()));
      }
    }
  });
  return replays;
}

}  // namespace glinpack::app::model
