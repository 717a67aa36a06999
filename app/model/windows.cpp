#include "app/model/windows.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <thread>
#include <utility>

namespace glinpack::app::model {

namespace {

constexpr double most_bytes = 3.0 * 1024 * 1024 * 1024;

// Memory of the recorded schedules.
double bytes_of(Index passes, Index ranks) {
  constexpr double bytes_of_a_pass = 4096;
  return bytes_of_a_pass * static_cast<double>(passes) * static_cast<double>(ranks);
}

}  // namespace

std::vector<Window> windows_of(Index passes, Index count, Index width) {
  constexpr Index most_before = 8;
  if (passes <= count * (2 * width + 1)) return {{.passes = {0, passes}}};
  std::vector<Window> windows;
  for (Index i = 0; i < count; ++i) {
    const Index begin = passes * i / count, end = passes * (i + 1) / count;
    const Index first = (begin + end - width) / 2;
    windows.push_back({.weight = static_cast<double>(end - begin) / static_cast<double>(width),
                       .measured = {first, first + width},
                       .passes = {std::max<Index>(0, first - std::min(most_before, width)), first + width + 1}});
  }
  return windows;
}

std::vector<Window> quick_windows(Index passes, Index ranks) {
  constexpr Index most_replayed_at_once = 4'000, most_replayed = 30'000;  // passes times ranks
  if (passes * ranks <= most_replayed_at_once) return windows_of(passes, 1, passes);
  constexpr std::array<std::pair<Index, Index>, 3> sizes{{{8, 8}, {8, 4}, {6, 2}}};
  for (const auto& [count, width] : sizes) {
    if (count * (2 * width + 1) * ranks <= most_replayed) return windows_of(passes, count, width);
  }
  return windows_of(passes, 4, 1);
}

std::vector<Window> thorough_windows(Index passes, Index ranks) {
  constexpr Index count = 20, widest = 20;
  if (passes <= count * (2 * widest + 1) && bytes_of(passes, ranks) <= most_bytes) return windows_of(passes, 1, passes);
  const Index fitting = ((passes - 1) / count - 1) / 2;  // windows do not overlap
  return fitting < 1 ? windows_of(passes, 4, 1) : windows_of(passes, count, std::min(fitting, widest));
}

std::vector<std::vector<Replay>> replay_windows(const MachineModel& machine, const Problem& problem,
                                                const std::vector<Window>& windows,
                                                const std::vector<Variant>& variants) {
  double largest = 1;
  for (const Window& window : windows) {
    largest = std::max(largest, bytes_of(window.passes.end - window.passes.first, problem.grid.size()));
  }
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const double fitting = std::clamp(most_bytes / largest, 1.0, static_cast<double>(windows.size()));
  const int at_a_time = std::min(cores, static_cast<int>(fitting));
  std::vector<std::vector<Replay>> replays(windows.size());
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < windows.size(); i = next++) {
      const Schedule schedule = record_schedule(machine, problem, windows[i].passes, std::max(1, cores / at_a_time));
      for (const Variant& variant : variants) {
        replays[i].push_back(replay(schedule, variant.machine, problem, windows[i].measured, variant.slow));
      }
    }
  };
  std::vector<std::future<void>> others;
  for (int i = 1; i < at_a_time; ++i) others.push_back(std::async(std::launch::async, run));
  run();
  for (std::future<void>& other : others) other.get();
  return replays;
}

}  // namespace glinpack::app::model
