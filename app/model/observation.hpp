// What was measured, as samples for the model's costs: of a run's timelines, pass by pass, or of what its JSON tells.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/model/machine.hpp"
#include "app/report/run_record.hpp"

namespace glinpack::app::model {

/// Passes [first, first + count) of a run: seconds of each kind of work, sums over all ranks of the grid, 0 where not
/// known. Messages count from when their other end had begun. That of substitution is the whole solution's.
struct Observation {
  Problem problem;
  Index first = 0;
  Index count = 0;
  ByWork<double> seconds;
};

/// How the ranks of a run are arranged, as they report it.
Arrangement arrangement_of(std::span<const RankRecord> ranks);
Problem problem_of(const RunRecord& record, const Arrangement& arrangement);
/// Whether the model knows how a run goes: by blocks, without refinement.
bool is_modelled(const Problem& problem, const std::string& backend);

/// Adds seconds in a phase and lane to their kind of work, those of messages to `messages`; what the model has none
/// for, such as waits, is left out.
void add_phase(ByWork<double>& seconds, Phase phase, Lane lane, std::optional<Work> messages, double added);
/// Of messages between any two ranks: network where every rank has its node to itself, memory where all share one;
/// none where there are both, which cannot be told apart.
std::optional<Work> kind_of_messages(const Problem& problem);

/// An observation for each of the first `passes` passes, by the ranks' timelines.
std::vector<Observation> observe_passes(const RunRecord& record, Index passes);
/// All passes and the solution.
std::vector<Observation> observe(const RunRecord& record);

/// Samples by kind of work.
using Samples = ByWork<std::vector<Sample>>;
void add_samples(Samples& samples, const Observation& observation);

/// Costs that explain the samples, `source` beside them; kinds without samples keep what `machine` has.
void fit(MachineModel& machine, const Samples& samples, const std::string& source);

}  // namespace glinpack::app::model
