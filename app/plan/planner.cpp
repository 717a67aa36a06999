#include "app/plan/planner.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <set>

#include "app/input/input_error.hpp"
#include "app/options/option_text.hpp"
#include "app/program/automatic.hpp"
#include "app/program/memory.hpp"
#include "app/program/outputs.hpp"
#include "app/record/progress.hpp"

namespace glinpack::app {

namespace {

constexpr double assumed_latency = 5e-6;

RunRecord record_of(const model::Problem& problem, const std::string& backend) {
  RunRecord record;
  record.parameters = problem.parameters;
  record.grid = problem.grid;
  record.order = problem.order;
  record.precision = problem.precision;
  record.backend = backend;
  return record;
}

// The memory of the process with the largest need, the one in the grid's first row and column, and all nodes.
std::vector<RankMemory> memory_of(const PlanningOptions& options) {
  std::vector<RankMemory> ranks(static_cast<std::size_t>(options.nodes * options.processes_per_node));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].node = static_cast<int>(i) / options.processes_per_node;
    ranks[i].checked = i == 0;
    ranks[i].device_is_host = !computes_on_device(options.backend);
    // One piece of rows on P x 1 pays because a panel runs beside the update, which the replay does not know.
    ranks[i].copies_to_peers = false;
  }
  RankMemory& rank = ranks.front();
  rank.host = "a node";
  rank.device = "a GPU";
  (rank.device_is_host ? rank.host_available : rank.device_available) =
      static_cast<std::int64_t>(options.memory.value_or(0));
  return ranks;
}

model::Problem problem_of(const PlanningOptions& options, GridShape grid, Index n, Index nb) {
  model::Problem problem;
  RunParameters& parameters = problem.parameters;
  parameters.n = n;
  parameters.nb = nb;
  parameters.pivoting = options.pivoting;
  parameters.broadcast = options.broadcast;
  parameters.row_swap = options.row_swap;
  parameters.lookahead = options.lookahead;
  problem.grid = grid;
  problem.order = options.order;
  problem.precision = options.precision;
  const bool on_device = computes_on_device(options.backend);
  problem.arrangement = {
      .on_device = on_device, .in_background = on_device, .processes_per_node = options.processes_per_node};
  parameters.row_swap.pieces = automatic_pieces(record_of(problem, options.backend), memory_of(options));
  return problem;
}

Index order_for(const PlanningOptions& options, GridShape grid, Index nb) {
  if (options.n) return *options.n;
  const std::vector<RankMemory> memory = memory_of(options);
  const RunRecord record = record_of(problem_of(options, grid, 1, nb), options.backend);
  const Index largest = largest_fitting_n(record, memory, false, options.memory_fraction);
  return largest == 0 ? 0 : rounded_order(largest, nb, grid);
}

// The block sizes that the figures were measured with; without measurements, the default's.
std::vector<Index> block_sizes(const PlanningOptions& options, const ClusterPlan& plan) {
  if (options.nb) return {*options.nb};
  std::set<Index> sizes;
  for (const FittedRun& fitted : plan.fitted) sizes.insert(fitted.run.observation.problem.parameters.nb);
  if (sizes.empty()) return model::default_block_sizes(options.backend, options.precision);
  return {sizes.begin(), sizes.end()};
}

std::optional<Candidate> candidate(const PlanningOptions& options, const model::MachineModel& machine, GridShape grid,
                                   Index nb) {
  const Index n = order_for(options, grid, nb);
  if (n == 0) return std::nullopt;
  Candidate result{problem_of(options, grid, n, nb), {}};
  if (result.problem.distribution().passes() > model::max_passes) {
    throw InputError(
        fmt::format("N {} with NB {} takes {} passes, too many for a plan on a grid {}: "
                    "give a larger --nb, or a smaller --n",
                    n, nb, result.problem.distribution().passes(), text_of(grid)));
  }
  result.forecast = model::forecast(machine, result.problem);
  if (!result.forecast.missing.empty()) {
    throw InputError("there is no figure for " + result.forecast.missing + ", which " + options.backend +
                     " needs on a grid " + text_of(grid) + ": name results that have it (--from, --links)");
  }
  return result;
}

void sort_by_rate(std::vector<Candidate>& candidates) {
  std::ranges::sort(candidates, std::greater(), [](const Candidate& one) { return one.forecast.gflops; });
}

// Chooses NB on the squarest grid, then the grid for that NB: the two choices are almost independent.
void choose(const PlanningOptions& options, ClusterPlan& plan) {
  const std::vector<GridShape> grids =
      options.grid ? std::vector<GridShape>{*options.grid} : grids_of(options.processes());
  const std::vector<Index> sizes = block_sizes(options, plan);
  Progress progress = progress_on_stderr();
  progress.begin("replaying block sizes and grids", 0);
  std::size_t done = 0;
  const auto try_it = [&](GridShape grid, Index nb) {
    auto tried = candidate(options, plan.machine, grid, nb);
    progress.update(static_cast<double>(++done) / static_cast<double>(sizes.size() + grids.size() - 1));
    return tried;
  };
  std::vector<Candidate> by_size;
  for (const Index nb : sizes) {
    if (auto tried = try_it(grids.front(), nb)) by_size.push_back(std::move(*tried));
  }
  if (by_size.empty()) {
    progress.end();
    throw InputError(fmt::format("no matrix fits into {:g} % of {} a process; give more --memory, or --n",
                                 100 * options.memory_fraction, memory_text(options.memory.value_or(0))));
  }
  sort_by_rate(by_size);
  std::vector<Candidate> by_grid{by_size.front()};
  for (const GridShape& grid : grids) {
    if (grid == grids.front()) continue;
    if (auto tried = try_it(grid, by_size.front().problem.parameters.nb)) by_grid.push_back(std::move(*tried));
  }
  progress.end();
  sort_by_rate(by_grid);
  plan.chosen = by_grid.front();
  plan.others.assign(by_grid.begin() + 1, by_grid.end());
  plan.others.insert(plan.others.end(), by_size.begin() + 1, by_size.end());
}

void set_memory_need(const PlanningOptions& options, ClusterPlan& plan) {
  const RunRecord record = record_of(plan.chosen.problem, options.backend);
  if (options.memory) check_memory({&record, 1}, memory_of(options), false);
  for (const MemoryPool& pool : pools_of(record, memory_of(options), false)) {
    (pool.name == "a node" ? plan.host_bytes : plan.device_bytes) = pool.needed;
  }
}

void check_fits_options(const PlanningOptions& options, const model::MeasuredRun& run) {
  const auto refuse = [&](const std::string& option, std::string_view given, std::string_view measured) {
    throw InputError(run.file + ": measured with " + std::string(measured) + ", but the plan is for " +
                     std::string(given) + "; give " + option + " " + std::string(measured) + ", or other results");
  };
  if (run.backend != options.backend) refuse("--backend", options.backend, run.backend);
  const Precision precision = run.observation.problem.precision;
  if (precision != options.precision) refuse("--precision", name_of(options.precision), name_of(precision));
}

// The figures that the options name, on top of the default machine's.
ClusterPlan read_figures(const PlanningOptions& options) {
  ClusterPlan plan;
  plan.machine = model::default_machine(options.backend, options.precision);
  if (!options.from.empty()) {
    model::Samples samples;
    for (const std::string& file : options.from) {
      for (model::MeasuredRun& run : model::read_measured_runs(file)) {
        check_fits_options(options, run);
        model::add_samples(samples, run.observation);
        plan.fitted.push_back({std::move(run), 0});
      }
    }
    const std::size_t more = options.from.size() - 1;
    model::fit(plan.machine, samples,
               "fitted to " + options.from.front() + (more > 0 ? fmt::format(" and {} more", more) : ""));
    for (FittedRun& fitted : plan.fitted) {
      fitted.seconds = model::forecast(plan.machine, fitted.run.observation.problem).seconds;
    }
  }
  if (!options.links.empty()) model::read_links(plan.machine, options.links);
  model::Figure& network = plan.machine.figures[Work::network];
  if (options.network)
    network = {{.per_byte = 1 / *options.network, .per_step = assumed_latency}, "--network; latency assumed"};
  if (options.latency) {
    network.cost.per_step = *options.latency;
    network.source = options.network ? "--network, --latency" : network.source + "; --latency";
  }
  return plan;
}

}  // namespace

std::vector<GridShape> grids_of(int processes) {
  constexpr int few = 64, widest = 16;
  std::vector<GridShape> grids;
  for (int rows = squarest_grid(processes).rows; rows >= 1; --rows) {
    if (processes % rows != 0) continue;
    const GridShape grid{rows, processes / rows};
    if (grids.empty() || processes <= few || grid.columns <= widest * rows) grids.push_back(grid);
  }
  return grids;
}

std::optional<GridShape> squarer_grid(int processes) {
  constexpr int few = 8, long_ratio = 4, square_ratio = 2;
  const auto ratio = [](const GridShape& grid) { return grid.columns / grid.rows; };
  if (processes <= few || ratio(squarest_grid(processes)) <= long_ratio) return std::nullopt;
  int less = processes - 1;
  while (ratio(squarest_grid(less)) >= square_ratio) --less;  // ends at a square
  return squarest_grid(less);
}

ClusterPlan plan_cluster(const PlanningOptions& options) {
  ClusterPlan plan = read_figures(options);
  choose(options, plan);
  set_memory_need(options, plan);
  return plan;
}

}  // namespace glinpack::app
