#include "app/model/observation.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "app/model/forecast.hpp"
#include "app/record/timeline.hpp"
#include "backend/registry.hpp"

namespace glinpack::app::model {

namespace {

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
      const RankOperations list = record_operations(problem.parameters, problem.grid, at, passes, problem.precision,
                                                    problem.device(), problem.column_shares_memory(column));
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

// Sums over all ranks in an observation's passes. If there are many passes, it samples them.
ByWork<Amounts> amounts_of(const Observation& observation) {
  constexpr Index most_recorded = 12'000;  // number of passes times ranks
  const Problem& problem = observation.problem;
  const Index parts = std::clamp<Index>(most_recorded / problem.grid.size(), 1, observation.count);
  ByWork<Amounts> sums;
  const auto add = [&](double weight, PassRange passes) {
    const ByWork<Amounts> amounts = amounts_in(problem, passes, kind_of_messages(problem));
    for (const Work work : all_work) sums[work] += weight * amounts[work];
  };
  const Index end = observation.first + observation.count;
  if (parts == observation.count) {
    add(1, {observation.first, end});
  } else {
    for (Index i = 0; i < parts; ++i) {
      const Index from = observation.first + observation.count * i / parts;
      const Index to = observation.first + observation.count * (i + 1) / parts;
      const Index middle = (from + to) / 2;
      add(static_cast<double>(to - from), {middle, middle + 1});
    }
  }
  const Distribution distribution = problem.distribution();
  for (Index k = observation.first; k < end; ++k) {
    // the ranks solve one after the other, so the pivot's share determines the time
    sums[Work::substitution] += substitution_work(problem, plan_pass(distribution, k, pivot_position(problem.grid, k)));
  }
  return sums;
}

// True if all messages are large. Their fixed cost is not the latency of a small message.
bool large_messages_alone(std::span<const Sample> samples) {
  constexpr double large = 1 << 18;
  return std::all_of(samples.begin(), samples.end(),
                     [](const Sample& sample) { return sample.amounts.bytes > large * sample.amounts.steps; });
}

std::vector<Sample> without_steps(std::vector<Sample> samples) {
  for (Sample& sample : samples) sample.amounts.steps = 0;
  return samples;
}

}  // namespace

Arrangement arrangement_of(std::span<const RankRecord> ranks) {
  Arrangement arrangement;
  std::map<std::string, int> on_host;
  for (const RankRecord& rank : ranks) {
    const bool on_device = computes_on_device(rank.backend.backend);
    arrangement.on_device = arrangement.on_device || on_device;
    arrangement.in_background = arrangement.in_background || (on_device && !rank.backend.software_gl);
    arrangement.processes_per_node = std::max(arrangement.processes_per_node, ++on_host[rank.host]);
  }
  return arrangement;
}

Problem problem_of(const RunRecord& record, const Arrangement& arrangement) {
  return {.parameters = record.parameters,
          .grid = record.grid,
          .order = record.order,
          .node_grid = record.node_grid,
          .precision = record.precision,
          .arrangement = arrangement};
}

bool is_modelled(const Problem& problem, const std::string& backend) {
  const LuAlgorithm algorithm =
      lu_algorithm(can_factorize_row_by_row(backend), problem.parameters.pivoting, problem.grid);
  return algorithm == LuAlgorithm::blocked && problem.precision != Precision::mixed;
}

std::optional<Work> kind_of_messages(const Problem& problem) {
  if (problem.grid.size() == 1) return std::nullopt;
  if (problem.arrangement.processes_per_node >= problem.grid.size()) return Work::memory;
  if (problem.arrangement.processes_per_node == 1) return Work::network;
  return std::nullopt;
}

void add_phase(ByWork<double>& seconds, Phase phase, Lane lane, std::optional<Work> messages, double added) {
  if (lane == Lane::net) {
    const bool of_a_pass =
        phase != Phase::substitution && phase != Phase::refinement && phase != Phase::checksum && phase != Phase::wait;
    if (messages && of_a_pass) seconds[*messages] += added;
    return;
  }
  switch (phase) {
    case Phase::panel:
    case Phase::eliminate:
      seconds[lane == Lane::gpu ? Work::panel_device : Work::panel_host] += added;
      return;
    case Phase::swap:
      seconds[Work::swap] += added;
      return;
    case Phase::normalize:
      seconds[Work::normalize] += added;
      return;
    case Phase::reduce:
      seconds[Work::reduce] += added;
      return;
    case Phase::transfer:
      seconds[Work::transfer] += added;
      return;
    default:
      return;
  }
}

std::vector<Observation> observe_passes(const RunRecord& record, Index passes) {
  const Problem problem = problem_of(record, arrangement_of(record.result.ranks));
  const std::optional<Work> messages = kind_of_messages(problem);
  std::vector<Observation> observations(static_cast<std::size_t>(passes),
                                        {.problem = problem, .first = 0, .count = 1, .seconds = {}});
  for (Index k = 0; k < passes; ++k) observations[static_cast<std::size_t>(k)].first = k;
  const auto starts = message_starts(record.result.ranks, record.result.u_comes_with_rows);
  for (std::size_t rank = 0; rank < record.result.ranks.size(); ++rank) {
    const std::vector<Interval>& intervals = record.result.ranks[rank].intervals;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      const Interval& interval = intervals[i];
      if (interval.pass < 0 || interval.pass >= passes) continue;
      const double start = interval.lane == Lane::net ? starts[rank][i] : interval.start;
      add_phase(observations[static_cast<std::size_t>(interval.pass)].seconds, interval.phase, interval.lane, messages,
                interval.end - start);
    }
  }
  return observations;
}

std::vector<Observation> observe(const RunRecord& record) {
  const Distribution distribution = distribution_of(record.parameters, record.grid);
  std::vector<Observation> observations = observe_passes(record, distribution.passes());
  Observation solution{.problem = problem_of(record, arrangement_of(record.result.ranks)),
                       .first = 0,
                       .count = distribution.passes(),
                       .seconds = {}};
  solution.seconds[Work::substitution] = record.result.solve_seconds;
  observations.push_back(std::move(solution));
  return observations;
}

void add_samples(Samples& samples, const Observation& observation) {
  const ByWork<Amounts> amounts = amounts_of(observation);
  for (const Work work : all_work) {
    // each end of a message in shared memory measures its own copy, in or out
    const double parts = work == Work::memory && uses_node_windows(observation.problem.parameters) ? 2 : 1;
    if (observation.seconds[work] > 0) samples[work].push_back({amounts[work], parts * observation.seconds[work]});
  }
}

void fit(MachineModel& machine, const Samples& samples, const std::string& source) {
  for (const Work work : all_work) {
    const bool latency_unknown = (work == Work::network || work == Work::memory) && large_messages_alone(samples[work]);
    const Cost cost = fit_cost(latency_unknown ? without_steps(samples[work]) : samples[work]);
    if (!cost.known()) continue;
    Figure& figure = machine.figures[work];
    const Figure before = figure;
    figure = {cost, source};
    if (!latency_unknown || before.cost.per_step == 0) continue;
    figure.cost.per_step = before.cost.per_step;
    figure.source += "; latency: " + before.source;
  }
}

}  // namespace glinpack::app::model
