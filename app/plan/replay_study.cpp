#include "app/plan/replay_study.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "app/input/values.hpp"
#include "app/model/forecast.hpp"
#include "app/options/option_text.hpp"
#include "app/program/outputs.hpp"
#include "app/record/progress.hpp"
#include "app/record/text.hpp"
#include "base/measuring.hpp"

namespace glinpack::app {

namespace {

constexpr double usual_error = 0.14;

// The time of the whole factorisation.
void replay_run(const model::MachineModel& machine, const model::Problem& problem, ReplayStudy& study,
                Progress& progress) {
  progress.begin("replaying " + counted(problem.grid.size(), "rank"), 0);
  const Index passes = problem.distribution().passes();
  const std::vector<model::Window> windows = model::thorough_windows(passes, problem.grid.size());
  const auto replays =
      model::replay_windows(machine, problem, windows, {{machine}}, [&](double part) { progress.update(part); });
  double squares = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto seconds = [&](std::size_t window) { return replays[window].front().seconds; };
    const double weight = windows[i].weight;
    study.factor_seconds += weight * seconds(i);
    study.messages += replays[i].front().messages;
    study.passes += windows.size() == 1 ? passes : windows[i].measured.end - windows[i].measured.first;
    if (i == 0 || i + 1 == windows.size()) continue;
    // how far a window is from the line between its neighbours, whose own errors make this 3/2 of its variance
    const double off = seconds(i) - (seconds(i - 1) + seconds(i + 1)) / 2;
    squares += weight * weight * off * off * 2 / 3;
  }
  study.ranks = problem.grid.size();
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

// The machine, one whose network costs nothing, and those of the changes.
std::vector<model::Variant> variants_of(const PlanningOptions& options, const model::MachineModel& machine,
                                        std::vector<Change>& changes) {
  model::Variant free{machine}, faster{machine};
  free.machine.figures[Work::network].cost = {};
  std::vector<model::Variant> variants{{machine}, free};
  if (options.nodes == 1) return variants;
  for (const double sigma : {0.02, 0.05}) {
    changes.push_back({fmt::format("nodes differ, log-normal, {:g} %", 100 * sigma)});
    variants.push_back({machine, slow_nodes(options.nodes, sigma)});
  }
  changes.push_back({"links twice as fast"});
  faster.machine.figures[Work::network].cost.per_byte /= 2;
  variants.push_back(faster);
  return variants;
}

// Replays two windows of each third with each variant.
void replay_variants(const PlanningOptions& options, const model::MachineModel& machine, const model::Problem& problem,
                     ReplayStudy& study, Progress& progress) {
  progress.begin("replaying slower nodes, faster links", 0);
  constexpr Index count = 6, widest = 20;
  const Index passes = problem.distribution().passes();
  const Index width = std::min(widest, ((passes - 1) / count - 1) / 2);
  if (width < 1) return;
  const std::vector<model::Variant> variants = variants_of(options, machine, study.changes);
  const std::vector<model::Window> windows = model::windows_of(passes, count, width);
  const auto replays =
      model::replay_windows(machine, problem, windows, variants, [&](double part) { progress.update(part); });
  std::vector<double> seconds(variants.size());
  const std::array<const char*, 3> parts{"first third", "second third", "last third"};
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (i % 2 == 0) study.bounds.push_back({.part = parts[i / 2]});
    BoundBy& bound = study.bounds.back();
    const double weight = windows[i].weight;
    const model::Replay &base = replays[i][0], &free = replays[i][1];
    const double computing = base.busy[Work::reduce] + base.busy[Work::normalize] + base.busy[Work::swap];
    const double without_network = std::min(base.seconds, std::max(free.seconds, computing));
    bound.seconds += weight * base.seconds;
    bound.compute += weight * std::min(base.seconds, computing);
    bound.panel += weight * std::max(0.0, without_network - computing);
    bound.network += weight * std::max(0.0, base.seconds - std::max(without_network, computing));
    for (std::size_t j = 0; j < variants.size(); ++j) seconds[j] += weight * replays[i][j].seconds;
  }
  for (std::size_t j = 0; j < study.changes.size(); ++j) study.changes[j].ratio = seconds[j + 2] / seconds[0];
}

// The plan with one broadcast or row swap exchanged at a time.
void try_choices(const ClusterPlan& plan, ReplayStudy& study, Progress& progress) {
  const RunParameters& parameters = plan.chosen.problem.parameters;
  progress.begin("replaying other broadcasts and row swaps", 0);
  constexpr auto count = static_cast<double>(all_broadcasts.size() + all_row_swaps.size() - 1);
  const auto add = [&](const std::string& name, const model::Problem& problem) {
    study.choices.push_back({name, model::forecast(plan.machine, problem).gflops});
    progress.update(static_cast<double>(study.choices.size()) / count);
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
  std::ranges::stable_sort(study.choices, std::greater(), &Choice::gflops);
}

// The same N on the squarest grid of twice the processes.
void double_nodes(const PlanningOptions& options, const ClusterPlan& plan, ReplayStudy& study) {
  model::Problem more = plan.chosen.problem;
  more.grid = squarest_grid(2 * options.processes());
  const double seconds = model::forecast(plan.machine, more).seconds;
  study.changes.push_back({"twice the nodes", seconds / plan.chosen.forecast.seconds});
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

ReplayStudy study_by_replay(const PlanningOptions& options, const ClusterPlan& plan) {
  const double begin = steady_seconds();
  const model::Problem& problem = plan.chosen.problem;
  ReplayStudy study;
  Progress progress = progress_on_stderr();
  replay_run(plan.machine, problem, study, progress);
  study.solve_seconds = plan.chosen.forecast.solve_seconds;
  study.gflops = hpl_flops(problem.parameters.n) / (study.factor_seconds + study.solve_seconds) * 1e-9;
  set_model_error(plan, study);
  replay_variants(options, plan.machine, problem, study, progress);
  if (problem.grid.size() > 1) try_choices(plan, study, progress);
  if (options.network || !options.links.empty()) double_nodes(options, plan, study);
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
    text += "\n  one choice exchanged at a time\n";
  }
  for (const Choice& choice : study.choices) {
    text += fmt::format("  {:<42}{:>14}\n", choice.name, flop_rate_text(choice.gflops * 1e9));
  }
  if (!study.changes.empty()) text += "\n  what a change of the cluster changes in the time, with the same N\n";
  for (const Change& change : study.changes) {
    text += fmt::format("  {:<42}{:>+13} %\n", change.name, std::lround(100 * (change.ratio - 1)));
  }
  return text;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BoundBy, part, seconds, compute, panel, network)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Choice, name, gflops)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Change, name, ratio)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReplayStudy, ranks, passes, messages, factor_seconds, solve_seconds, gflops,
                                   model_error, window_error, wall_seconds, bounds, choices, changes)

nlohmann::json study_json(const ReplayStudy& study) { return study; }

}  // namespace glinpack::app
