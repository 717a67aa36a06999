#include "app/plan/replay_study.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "app/input/values.hpp"
#include "app/model/replay.hpp"
#include "app/options/option_text.hpp"
#include "app/plan/quantities.hpp"
#include "app/program/outputs.hpp"
#include "app/record/progress.hpp"
#include "base/measuring.hpp"

namespace glinpack::app {

namespace {

constexpr Index windows = 20;
constexpr Index window_passes = 20;
constexpr Index study_windows = 6;  // two of each third, for the bounds and the changes
constexpr double usual_error = 0.14;
constexpr int most_ranks_for_choices = 2048;

int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

constexpr double most_bytes = 3.0 * 1024 * 1024 * 1024;

// Memory of the recorded schedules.
double bytes_of(Index passes, Index ranks) {
  constexpr double bytes_of_a_pass = 4096;
  return bytes_of_a_pass * static_cast<double>(passes) * static_cast<double>(ranks);
}

std::vector<ReplayWindow> windows_of(Index passes, Index count, Index width) {
  std::vector<ReplayWindow> result;
  for (Index i = 0; i < count; ++i) {
    const Index begin = passes * i / count, end = passes * (i + 1) / count;
    const Index first = (begin + end - width) / 2;
    const PassRange measured{first, first + width};
    const double weight = static_cast<double>(end - begin) / static_cast<double>(width);
    result.push_back({weight, measured, model::window_with_neighbours(measured)});
  }
  return result;
}

// Calls work(window, threads for its recording) for all windows in parallel, as many at a time as fit into 3 GiB.
void for_each_window(const std::vector<ReplayWindow>& all, Index ranks,
                     const std::function<void(std::size_t, int)>& work) {
  double largest = 1;
  for (const ReplayWindow& window : all) {
    largest = std::max(largest, bytes_of(window.passes.end - window.passes.first, ranks));
  }
  const int fitting = static_cast<int>(std::clamp(most_bytes / largest, 1.0, static_cast<double>(all.size())));
  const int at_a_time = std::min(cores(), fitting);
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) work(i, std::max(1, cores() / at_a_time));
  };
  std::vector<std::future<void>> others;
  for (int i = 1; i < at_a_time; ++i) others.push_back(std::async(std::launch::async, run));
  run();
  for (std::future<void>& other : others) other.get();
}

// The time of the whole factorisation.
void replay_run(const model::MachineModel& machine, const model::Problem& problem, ReplayStudy& study) {
  const Index passes = problem.distribution().passes();
  const std::vector<ReplayWindow> list = windows_of_run(passes, problem.grid.size());
  std::vector<model::Replay> replays(list.size());
  for_each_window(list, problem.grid.size(), [&](std::size_t i, int threads) {
    const model::Schedule schedule =
        model::record_schedule(machine, problem, list[i].passes, model::ReplayedRanks::all, threads);
    replays[i] = model::replay(schedule, machine, problem, list[i].measured);
  });
  double squares = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    study.factor_seconds += list[i].weight * replays[i].seconds;
    study.messages += replays[i].messages;
    if (i == 0 || i + 1 == list.size()) continue;
    // how far a window is from the line between its neighbours, whose own errors make this 3/2 of its variance
    const double off = replays[i].seconds - (replays[i - 1].seconds + replays[i + 1].seconds) / 2;
    squares += list[i].weight * list[i].weight * off * off * 2 / 3;
  }
  study.ranks = problem.grid.size();
  study.passes = passes;
  if (list.size() > 1) study.passes = windows * (list.front().measured.end - list.front().measured.first);
  study.window_error = std::sqrt(squares) / study.factor_seconds;
}

// Factors of the nodes' times, log-normal with median 1; the same for every run.
std::vector<double> slow_nodes(int nodes, double sigma) {
  std::mt19937_64 generator(1);
  std::vector<double> factors;
  for (int node = 0; node < nodes; ++node) {
    // Box and Muller; std::normal_distribution differs from one library to another
    const auto uniform = [&] { return (static_cast<double>(generator() >> 11) + 0.5) / 9007199254740992.0; };
    const double radius = std::sqrt(-2 * std::log(uniform()));
    factors.push_back(std::exp(sigma * radius * std::cos(2 * 3.14159265358979323846 * uniform())));
  }
  return factors;
}

struct Variant {
  std::string name;
  model::MachineModel machine;
  std::vector<double> slow = {};
};

std::vector<Variant> variants_of(const PlanningOptions& options, const model::MachineModel& machine) {
  std::vector<Variant> variants{{"", machine}};
  Variant free{"", machine};
  free.machine.figures[Work::network].cost = {};
  free.machine.overhead = free.machine.gap = 0;
  free.machine.topology = {};
  variants.push_back(free);
  if (options.nodes == 1) return variants;
  for (const double sigma : {0.02, 0.05}) {
    variants.push_back(
        {fmt::format("nodes differ, log-normal, {:g} %", 100 * sigma), machine, slow_nodes(options.nodes, sigma)});
  }
  Variant faster{"links twice as fast", machine};
  faster.machine.figures[Work::network].cost.per_byte /= 2;
  variants.push_back(faster);
  constexpr int usual_leaf = 16;  // nodes
  const int leaf = machine.topology.kind == model::Topology::Kind::fat_tree ? machine.topology.group : usual_leaf;
  for (const double taper : {2.0, 4.0}) {
    Variant tapered{fmt::format("fat tree of {} nodes a leaf, tapered {:g}:1", leaf, taper), machine};
    tapered.machine.topology = {model::Topology::Kind::fat_tree, leaf, taper};
    if (options.nodes > leaf) variants.push_back(tapered);
  }
  return variants;
}

// Replays a few windows with each variant; the recorded schedule is the same.
void replay_variants(const PlanningOptions& options, const model::MachineModel& machine, const model::Problem& problem,
                     ReplayStudy& study) {
  const Index passes = problem.distribution().passes();
  const Index width = std::min(window_passes, passes / study_windows - 1);
  if (width < 1) return;
  const std::vector<Variant> variants = variants_of(options, machine);
  const std::vector<ReplayWindow> list = windows_of(passes, study_windows, width);
  std::vector<std::vector<model::Replay>> replays(list.size(), std::vector<model::Replay>(variants.size()));
  for_each_window(list, problem.grid.size(), [&](std::size_t i, int threads) {
    const model::Schedule schedule =
        model::record_schedule(machine, problem, list[i].passes, model::ReplayedRanks::all, threads);
    for (std::size_t j = 0; j < variants.size(); ++j) {
      replays[i][j] = model::replay(schedule, variants[j].machine, problem, list[i].measured, variants[j].slow);
    }
  });
  std::vector<double> seconds(variants.size());
  const std::array<const char*, 3> parts{"first third", "second third", "last third"};
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i % 2 == 0) study.bounds.push_back({.part = parts[i / 2]});
    BoundBy& bound = study.bounds.back();
    const double weight = list[i].weight;
    const model::Replay &base = replays[i][0], &free = replays[i][1];
    const double computing = base.busy[Work::reduce] + base.busy[Work::normalize] + base.busy[Work::swap];
    const double without_network = std::min(base.seconds, std::max(free.seconds, computing));
    bound.seconds += weight * base.seconds;
    bound.compute += weight * std::min(base.seconds, computing);
    bound.panel += weight * std::max(0.0, without_network - computing);
    bound.network += weight * std::max(0.0, base.seconds - std::max(without_network, computing));
    for (std::size_t j = 0; j < variants.size(); ++j) seconds[j] += weight * replays[i][j].seconds;
  }
  for (std::size_t j = 2; j < variants.size(); ++j)
    study.changes.push_back({variants[j].name, seconds[j] / seconds[0]});
}

// The rate of a run by three short windows of all ranks; of more ranks than can be replayed quickly, by one row.
double rate_of(const model::MachineModel& machine, const model::Problem& problem) {
  constexpr Index few_windows = 3, few_passes = 8;
  const model::Forecast forecast = model::forecast(machine, problem);
  const Index passes = problem.distribution().passes();
  if (problem.grid.size() > most_ranks_for_choices || passes < few_windows * few_passes) return forecast.gflops;
  const std::vector<ReplayWindow> list = windows_of(passes, few_windows, few_passes);
  std::vector<double> seconds(list.size());
  for_each_window(list, problem.grid.size(), [&](std::size_t i, int threads) {
    const model::Schedule schedule =
        model::record_schedule(machine, problem, list[i].passes, model::ReplayedRanks::all, threads);
    seconds[i] = list[i].weight * model::replay(schedule, machine, problem, list[i].measured).seconds;
  });
  double sum = forecast.solve_seconds;
  for (const double one : seconds) sum += one;
  return hpl_flops(problem.parameters.n) / sum * 1e-9;
}

// The plan with one broadcast, row swap, grid or block size exchanged at a time.
void try_choices(const ClusterPlan& plan, ReplayStudy& study, Progress& progress) {
  constexpr int most_grids = 4, most_sizes = 2;
  const RunParameters& parameters = plan.chosen.problem.parameters;
  study.choices_replayed = plan.chosen.problem.grid.size() <= most_ranks_for_choices;
  const auto add = [&](const std::string& name, const model::Problem& problem) {
    progress.prepare(name, "replaying");
    study.choices.push_back({name, rate_of(plan.machine, problem)});
  };
  add("as planned", plan.chosen.problem);
  for (const BroadcastKind broadcast : all_broadcasts) {
    model::Problem problem = plan.chosen.problem;
    problem.parameters.broadcast = broadcast;
    if (broadcast != parameters.broadcast) add(fmt::format("broadcast {}", name_of(broadcast)), problem);
  }
  for (const RowSwapKind swap : all_row_swaps) {
    model::Problem problem = plan.chosen.problem;
    problem.parameters.row_swap.kind = swap;
    if (swap != parameters.row_swap.kind) add(fmt::format("row swap {}", name_of(swap)), problem);
  }
  int grids = 0, sizes = 0;
  for (const Candidate& candidate : plan.others) {  // the best of each kind first
    const model::Problem& other = candidate.problem;
    const bool has_other_size = other.parameters.nb != parameters.nb;
    if (has_other_size ? ++sizes > most_sizes : ++grids > most_grids) continue;
    add(fmt::format("grid {}, NB {}, N {}", text_of(other.grid), other.parameters.nb, other.parameters.n), other);
  }
  std::stable_sort(study.choices.begin(), study.choices.end(),
                   [](const Choice& a, const Choice& b) { return a.gflops > b.gflops; });
}

// The plan's problem on another number of processes, with the squarest grid.
model::Problem scaled(const ClusterPlan& plan, int processes, Index n) {
  model::Problem problem = plan.chosen.problem;
  problem.grid = squarest_grid(processes);
  problem.parameters.n = n;
  problem.arrangement.processes_per_node = std::min(problem.arrangement.processes_per_node, processes);
  return problem;
}

void scale(const PlanningOptions& options, const ClusterPlan& plan, ReplayStudy& study) {
  constexpr int strong_from = 16;
  const RunParameters& parameters = plan.chosen.problem.parameters;
  const auto weak_n = [&](int processes) {  // the same memory for each process
    const double n =
        static_cast<double>(parameters.n) * std::sqrt(static_cast<double>(processes) / options.processes());
    return std::max<Index>(1, static_cast<Index>(n) / parameters.nb) * parameters.nb;
  };
  study.strong_n = weak_n(strong_from);
  for (const int processes : {1, 4, 16, 64, 256, 1024, 4096, 10000}) {
    ScalingPoint point{.processes = processes, .n = weak_n(processes)};
    const model::Problem weak = scaled(plan, processes, point.n);
    if (weak.distribution().passes() > model::most_passes) break;
    point.weak_gflops = model::forecast(plan.machine, weak).gflops;
    const bool is_strong = processes >= strong_from;
    if (is_strong) point.strong_gflops = model::forecast(plan.machine, scaled(plan, processes, study.strong_n)).gflops;
    study.scaling.push_back(point);
  }
  if (options.processes() <= largest_processes / 2) {
    const model::Problem more = scaled(plan, 2 * options.processes(), parameters.n);
    const double ratio = model::forecast(plan.machine, more).seconds / plan.chosen.forecast.seconds;
    study.changes.push_back({"twice the nodes, by one process row", ratio});
  }
}

void set_model_error(const ClusterPlan& plan, ReplayStudy& study) {
  if (plan.fitted.empty()) {
    study.model_error = usual_error;
    study.model_error_source = "the largest of results/planning/check.md";
    return;
  }
  for (const FittedRun& fitted : plan.fitted) {
    study.model_error = std::max(study.model_error, std::abs(fitted.run.seconds / fitted.seconds - 1));
  }
  study.model_error = std::max(study.model_error, usual_error);
  study.model_error_source = "the largest of the fitted runs and of results/planning/check.md";
}

}  // namespace

std::vector<ReplayWindow> windows_of_run(Index passes, Index ranks) {
  const Index width = std::min(window_passes, passes / (2 * windows));
  const bool few = passes <= windows * (2 * window_passes + 1) && bytes_of(passes, ranks) <= most_bytes;
  if (few || width == 0) return {{1, model::whole_run, {0, passes}}};
  return windows_of(passes, windows, width);
}

ReplayStudy study_by_replay(const PlanningOptions& options, const ClusterPlan& plan) {
  const double begin = steady_seconds();
  const model::Problem& problem = plan.chosen.problem;
  ReplayStudy study;
  Progress progress = progress_on_stderr();
  progress.prepare(fmt::format("{} ranks", problem.grid.size()), "replaying");
  replay_run(plan.machine, problem, study);
  study.solve_seconds = plan.chosen.forecast.solve_seconds;
  study.gflops = hpl_flops(problem.parameters.n) / (study.factor_seconds + study.solve_seconds) * 1e-9;
  set_model_error(plan, study);
  progress.prepare("slower nodes, faster links", "replaying");
  replay_variants(options, plan.machine, problem, study);
  if (problem.grid.size() > 1) try_choices(plan, study, progress);
  if (options.network || !options.links.empty()) scale(options, plan, study);
  progress.end();
  study.wall_seconds = steady_seconds() - begin;
  return study;
}

std::string study_text(const ReplayStudy& study) {
  const double seconds = study.factor_seconds + study.solve_seconds;
  const double error = std::hypot(study.model_error, study.window_error);
  std::string text = fmt::format("\nReplay of {} ranks, {} passes, {} messages, in {}\n", study.ranks, study.passes,
                                 study.messages, seconds_text(study.wall_seconds));
  text += fmt::format("  expected  {}, {} +- {:.0f} %\n", seconds_text(seconds), flop_rate_text(study.gflops * 1e9),
                      100 * error);
  text += fmt::format("            model +- {:.0f} %, {}", 100 * study.model_error, study.model_error_source);
  text += study.window_error > 0 ? fmt::format("; windows +- {:.1f} %\n", 100 * study.window_error) : "\n";
  if (!study.bounds.empty()) {
    text += fmt::format("\n  {:<13}{:>12}{:>10}{:>10}{:>10}\n", "bounded by", "time", "compute", "panel", "network");
    for (const BoundBy& bound : study.bounds) {
      const auto share = [&](double part) { return fmt::format("{:.1f} %", 100 * part / bound.seconds); };
      text += fmt::format("  {:<13}{:>12}{:>10}{:>10}{:>10}\n", bound.part, seconds_text(bound.seconds),
                          share(bound.compute), share(bound.panel), share(bound.network));
    }
  }
  if (!study.choices.empty()) {
    text += fmt::format("\n  one choice exchanged at a time, by {}\n",
                        study.choices_replayed ? "3 windows of 8 passes" : "one process row");
  }
  for (const Choice& choice : study.choices) {
    text += fmt::format("  {:<42}{:>14}\n", choice.name, flop_rate_text(choice.gflops * 1e9));
  }
  if (!study.changes.empty()) text += "\n  what a change of the cluster changes in the time, with the same N\n";
  for (const Change& change : study.changes) {
    text += fmt::format("  {:<42}{:>+13} %\n", change.name, std::lround(100 * (change.ratio - 1)));
  }
  if (study.scaling.empty()) return text + "\n  Scaling needs the rate of a network: --network 100Gb/s\n";
  text += fmt::format(
      "\n  scaling, by one process row, no links shared: efficiency of weak (#) and strong (=, N {}) scaling\n",
      study.strong_n);
  double weak_first = 0, strong_first = 0;
  for (const ScalingPoint& point : study.scaling) {
    constexpr int width = 40;
    const auto line = [&](const std::string& head, double gflops, double& first, char mark) {
      const double each = gflops / point.processes;
      if (first == 0) first = each;
      const double efficiency = each / first;
      const int length = std::clamp(static_cast<int>(std::lround(width * efficiency)), 0, width);
      const std::string bar(static_cast<std::size_t>(length), mark);
      text += fmt::format("  {:>6}{:>12}{:>14} {:>6.3f} {}\n", head, mark == '#' ? std::to_string(point.n) : "",
                          flop_rate_text(gflops * 1e9), efficiency, bar);
    };
    line(std::to_string(point.processes), point.weak_gflops, weak_first, '#');
    if (point.strong_gflops > 0) line("", point.strong_gflops, strong_first, '=');
  }
  return text;
}

nlohmann::json study_json(const ReplayStudy& study) {
  nlohmann::json bounds = nlohmann::json::array(), choices = bounds, changes = bounds, scaling = bounds;
  for (const BoundBy& bound : study.bounds) {
    bounds.push_back({{"part", bound.part},
                      {"seconds", bound.seconds},
                      {"compute", bound.compute},
                      {"panel", bound.panel},
                      {"network", bound.network}});
  }
  for (const Choice& choice : study.choices) choices.push_back({{"name", choice.name}, {"gflops", choice.gflops}});
  for (const Change& change : study.changes) changes.push_back({{"name", change.name}, {"ratio", change.ratio}});
  for (const ScalingPoint& point : study.scaling) {
    scaling.push_back({{"processes", point.processes},
                       {"n", point.n},
                       {"weak_gflops", point.weak_gflops},
                       {"strong_gflops", point.strong_gflops}});
  }
  return {{"ranks", study.ranks},
          {"passes", study.passes},
          {"messages", study.messages},
          {"factor_seconds", study.factor_seconds},
          {"solve_seconds", study.solve_seconds},
          {"gflops", study.gflops},
          {"model_error", study.model_error},
          {"window_error", study.window_error},
          {"wall_seconds", study.wall_seconds},
          {"bounds", bounds},
          {"choices", choices},
          {"choices_replayed", study.choices_replayed},
          {"changes", changes},
          {"strong_n", study.strong_n},
          {"scaling", scaling}};
}

}  // namespace glinpack::app
