// Converts measurements to samples for the model's costs: from a run's timelines, pass by pass, or from its JSON.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/model/machine.hpp"
#include "app/record/run_record.hpp"

namespace glinpack::app::model {

/// Passes [first, first + count) of a run. Seconds of each kind of work are sums over all ranks of the grid; 0 if
/// unknown. A message counts from when its other end has begun. The substitution is that of the whole solution.
struct Observation {
  Problem problem;
  Index first = 0;
  Index count = 0;
  ByWork<double> seconds;
};

/// The arrangement of a run's ranks, as they report it.
Arrangement arrangement_of(std::span<const RankRecord> ranks);
Problem problem_of(const RunRecord& record, const Arrangement& arrangement);
/// True if the model supports the algorithm: blocked, without refinement.
bool is_modelled(const Problem& problem, const std::string& backend);

/// Adds seconds in a phase and lane to their kind of work, those of messages to `messages`. Ignores phases that the
/// model does not have, such as waits.
void add_phase(ByWork<double>& seconds, Phase phase, Lane lane, std::optional<Work> messages, double added);
/// The kind of messages between any two ranks: network if every rank has its own node, memory if all share one. Empty
/// if there are both, since they cannot be separated.
std::optional<Work> kind_of_messages(const Problem& problem);

/// One observation for each of the first `passes` passes, from the ranks' timelines.
std::vector<Observation> observe_passes(const RunRecord& record, Index passes);
/// One observation of all passes and the solution.
std::vector<Observation> observe(const RunRecord& record);

/// Samples by kind of work.
using Samples = ByWork<std::vector<Sample>>;
void add_samples(Samples& samples, const Observation& observation);

/// Fits costs to the samples and records `source`; kinds without samples keep the costs of `machine`.
void fit(MachineModel& machine, const Samples& samples, const std::string& source);

}  // namespace glinpack::app::model
