#include "app/model/measured_runs.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <span>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/model/forecast.hpp"
#include "app/record/network_record.hpp"
#include "app/record/result_file.hpp"
#include "backend/registry.hpp"
#include "base/measuring.hpp"

namespace glinpack::app::model {

namespace {

// The kind of messages between any two ranks: network if every rank has its own node, memory if all share one. Empty if
// there are both, since they cannot be separated.
std::optional<Work> kind_of_messages(const Problem& problem) {
  if (problem.grid.size() == 1) return std::nullopt;
  if (problem.arrangement.processes_per_node >= problem.grid.size()) return Work::memory;
  if (problem.arrangement.processes_per_node == 1) return Work::network;
  return std::nullopt;
}

// The messages of a rank and their bytes, in the direction with more of them. An all-reduce counts once per level of
// its tree.
Amounts messages_of(const MessageRecord& record, const Problem& problem, GridPosition at,
                    const BroadcastRoutes& routes) {
  if (record.kind == MessageKind::candidate) {
    const auto levels = static_cast<double>(std::bit_width(static_cast<unsigned>(problem.grid.rows - 1)));
    return levels * Amounts{0, static_cast<double>(record.bytes), 1};
  }
  Amounts sent, received;
  for (const WireMessage& message : wire_messages(record, problem.grid, at, routes, problem.element_bytes())) {
    (message.receives ? received : sent) += {0, static_cast<double>(message.bytes), 1};
  }
  return sent.bytes > received.bytes ? sent : received;
}

// Sums over all ranks in some passes, without the substitution.
ByWork<Amounts> amounts_in(const Problem& problem, PassRange passes, std::optional<Work> message_kind) {
  BroadcastRoutes routes;
  routes.kind = problem.parameters.broadcast;
  ByWork<Amounts> sums;
  for (int row = 0; row < problem.grid.rows; ++row) {
    for (int column = 0; column < problem.grid.columns; ++column) {
      const GridPosition at{row, column};
      const RankOperations list =
          record_operations(problem.parameters, {problem.grid, at, problem.column_shares_memory(column)}, passes,
                            problem.precision, problem.device());
      for (const Operation& operation : list.operations) {
        if (operation.kind == Operation::Kind::compute) sums[operation.work] += operation.amounts;
      }
      if (!message_kind) continue;
      for (const MessageRecord& message : list.messages) {
        sums[*message_kind] += messages_of(message, problem, at, routes);
      }
    }
  }
  return sums;
}

// Sums over all ranks in all passes. If there are many passes, it samples them.
ByWork<Amounts> amounts_of(const Problem& problem) {
  constexpr Index max_recorded = 12'000;  // number of passes times ranks
  const Distribution distribution = problem.distribution();
  const Index passes = distribution.passes();
  const Index parts = std::clamp<Index>(max_recorded / problem.grid.size(), 1, passes);
  ByWork<Amounts> sums;
  const auto add = [&](double weight, PassRange range) {
    const ByWork<Amounts> amounts = amounts_in(problem, range, kind_of_messages(problem));
    for (const Work work : all_work) sums[work] += weight * amounts[work];
  };
  if (parts == passes) {
    add(1, {0, passes});
  } else {
    for (Index i = 0; i < parts; ++i) {
      const Index from = passes * i / parts, to = passes * (i + 1) / parts;
      const Index middle = (from + to) / 2;
      add(static_cast<double>(to - from), {middle, middle + 1});
    }
  }
  for (Index k = 0; k < passes; ++k) {
    // the ranks solve one after the other, so the pivot's share determines the time
    sums[Work::substitution] += substitution_work(problem, plan_pass(distribution, k, pivot_position(problem.grid, k)));
  }
  return sums;
}

// Empty for phases that the model does not have, such as waits.
std::optional<Work> work_of(Phase phase, Lane lane) {
  if (phase == Phase::panel || phase == Phase::eliminate) {
    return lane == Lane::gpu ? Work::panel_device : Work::panel_host;
  }
  for (const auto& [its_phase, work] : {std::pair{Phase::swap, Work::swap},
                                        {Phase::normalize, Work::normalize},
                                        {Phase::reduce, Work::reduce},
                                        {Phase::transfer, Work::transfer}}) {
    if (phase == its_phase) return work;
  }
  return std::nullopt;
}

Arrangement arrangement_of(std::span<const RankRecord> ranks) {
  Arrangement arrangement;
  std::map<std::string, int> on_host;
  for (const RankRecord& rank : ranks) {
    const bool on_device = computes_on_device(rank.backend.backend);
    arrangement.on_device = arrangement.on_device || on_device;
    arrangement.in_background = arrangement.in_background || (on_device && !rank.backend.software_device);
    arrangement.processes_per_node = std::max(arrangement.processes_per_node, ++on_host[rank.host]);
  }
  return arrangement;
}

// Throws InputError for a run that the model cannot compute.
Problem problem_of(const RunRecord& run) {
  Problem problem{.parameters = run.parameters,
                  .grid = run.grid,
                  .order = run.order,
                  .node_grid = run.node_grid,
                  .precision = run.precision,
                  .arrangement = arrangement_of(run.result.ranks)};
  const auto ranks = static_cast<Index>(run.result.ranks.size());
  const GridShape& grid = problem.grid;
  const bool usable = problem.parameters.n <= largest_n && grid.rows <= ranks && grid.columns <= ranks &&
                      static_cast<Index>(grid.rows) * grid.columns == ranks;
  if (!usable) throw InputError("a run's N or grid cannot be: not as `glinpack plu --json` writes it");
  if (problem.distribution().passes() > max_passes) throw InputError("a run has too many passes for the model");
  return problem;
}

MeasuredRun measured_run(const RunRecord& run) {
  MeasuredRun measured{.file = {}, .backend = run.backend, .observation = {}, .seconds = run.result.seconds};
  Observation& observation = measured.observation;
  observation.problem = problem_of(run);
  observation.seconds[Work::substitution] = run.result.solve_seconds;
  const std::optional<Work> messages = kind_of_messages(observation.problem);
  for (const RankTime& rank : run.breakdown.by_rank) {
    for (const PhaseWork& work : rank.phases) {
      // messages are summed separately, without the wait for the other end
      if (work.role == Role::none || work.lane == Lane::net) continue;
      if (const std::optional<Work> kind = work_of(work.phase, work.lane)) {
        observation.seconds[*kind] += work.busy_seconds;
      }
    }
    if (messages) observation.seconds[*messages] += rank.network;
  }
  // where this program would factorise panels, another version may not have
  if (observation.seconds[Work::panel_device] == 0) observation.problem.parameters.panel = PanelPlace::host;
  return measured;
}

// Returns true if the run repeats the last one, and replaces it if it is faster: disturbances only slow a run down.
bool keep_fastest_repetition(std::vector<MeasuredRun>& runs, MeasuredRun& run, int repeat) {
  if (runs.empty() || repeat == 0) return false;
  if (run.seconds < runs.back().seconds) runs.back() = std::move(run);
  return true;
}

bool finished(const RunRecord& run) {
  return !run.result.singular_column && run.result.seconds > 0 && !run.breakdown.phases.empty() &&
         !run.result.ranks.empty();
}

}  // namespace

void add_samples(Samples& samples, const Observation& observation) {
  const ByWork<Amounts> amounts = amounts_of(observation.problem);
  for (const Work work : all_work) {
    // each end of a message in shared memory measures its own copy, in or out
    const double parts = work == Work::memory && uses_node_windows(observation.problem.parameters) ? 2 : 1;
    if (observation.seconds[work] > 0) samples[work].push_back({amounts[work], parts * observation.seconds[work]});
  }
}

void fit(MachineModel& machine, const Samples& samples, const std::string& source) {
  for (const Work work : all_work) {
    std::vector<Sample> of_work = samples[work];
    // the fixed cost of large messages is not the latency of a small one
    const auto is_large = [](const Sample& sample) { return sample.amounts.bytes > (1 << 18) * sample.amounts.steps; };
    const bool latency_unknown =
        (work == Work::network || work == Work::memory) && std::ranges::all_of(of_work, is_large);
    for (Sample& sample : of_work) sample.amounts.steps *= latency_unknown ? 0 : 1;
    const Cost cost = fit_cost(of_work);
    if (!cost.known()) continue;
    Figure& figure = machine.figures[work];
    const Figure before = figure;
    figure = {cost, source};
    if (!latency_unknown || before.cost.per_step == 0) continue;
    figure.cost.per_step = before.cost.per_step;
    figure.source += "; latency: " + before.source;
  }
}

std::vector<MeasuredRun> read_measured_runs(const std::string& path) {
  const ResultFile file = read_result_file(path, ResultKind::plu);
  const std::optional<JsonNode> configuration = file.root().at("context").find("configuration");
  const bool mpi_in_nodes = configuration && configuration->text_or("node-broadcast", "") == "mpi";
  std::vector<MeasuredRun> runs;
  try {
    for (RunRecord& run : read_runs(file.root())) {
      if (!finished(run)) continue;
      if (mpi_in_nodes) run.parameters.node_memory = false;
      MeasuredRun measured = measured_run(run);
      measured.file = path;
      if (algorithm_of(run) != LuAlgorithm::blocked || run.precision == Precision::mixed) continue;
      if (!keep_fastest_repetition(runs, measured, run.repeat)) runs.push_back(std::move(measured));
    }
    if (runs.empty()) {
      throw InputError(
          "has no finished run that the model supports (by blocks, single or double precision); "
          "make one with `glinpack plu --json`");
    }
  } catch (const InputError& error) {  // of the model
    const std::string reason = error.what();
    throw InputError(reason.starts_with(path) ? reason : path + ": " + reason);
  }
  return runs;
}

void read_links(MachineModel& machine, const std::string& path) {
  const ResultFile file = read_result_file(path, ResultKind::network);
  struct Ends {
    std::vector<double> latency, seconds_a_byte;
  };
  ByWork<Ends> links;
  for (const PingPongRecord& pair : read_network(file.root()).ping_pongs) {
    Ends& ends = links[pair.first.host == pair.second.host ? Work::memory : Work::network];
    if (pair.times.empty()) continue;
    const double latency = pair.quickest()->min, rate = pair.widest()->bytes_per_second();
    if (!(latency > 0 && rate > 0)) continue;
    ends.latency.push_back(latency);
    ends.seconds_a_byte.push_back(1 / rate);
  }
  bool any = false;
  for (const Work work : {Work::network, Work::memory}) {
    if (links[work].latency.empty()) continue;
    any = true;
    const Cost cost{.per_flop = 0,
                    .per_byte = spread_of(links[work].seconds_a_byte).median,
                    .per_step = spread_of(links[work].latency).median};
    machine.figures[work] = {cost, "ping-pongs of " + path};
  }
  if (!any) {
    throw InputError(path +
                     ": has no ping-pong; measure with `glinpack network --ping-pong auto` on two ranks or more");
  }
}

}  // namespace glinpack::app::model
