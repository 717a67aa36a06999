#include "app/model/predictor.hpp"

#include <algorithm>
#include <tuple>

#include "app/model/forecast.hpp"

namespace glinpack::app::model {

namespace {

// Adds some of the passes, so that the report of a large grid does not wait for the model.
void add_sampled_passes(Samples& samples, std::span<const Observation> observations) {
  constexpr std::size_t most = 2'000;  // number of passes times ranks
  if (observations.empty()) return;
  const auto ranks = static_cast<std::size_t>(observations.front().problem.grid.size());
  const std::size_t stride = 1 + observations.size() * ranks / most;
  for (std::size_t i = 0; i < observations.size(); i += stride) add_samples(samples, observations[i]);
}

bool have_same_parameters(const Problem& a, const Problem& b) {
  const auto key = [](const Problem& problem) {
    const RunParameters& p = problem.parameters;
    return std::tuple(p.n, p.nb, p.pivoting, p.panel, p.broadcast, p.node_memory, p.row_swap.kind, p.row_swap.pieces,
                      p.lookahead > 0, p.parts, problem.grid.rows, problem.grid.columns, problem.order);
  };
  return key(a) == key(b) && a.node_grid == b.node_grid;
}

// The number of first passes with a quarter of the operations, at least two; 0 if too few passes remain.
Index first_passes(const Distribution& distribution) {
  constexpr double quarter_of_the_work = 0.0914;  // as a fraction of the columns: 1 - (1 - x)^3 = 1/4
  const Index passes = distribution.passes();
  const Index first = std::max<Index>(2, static_cast<Index>(quarter_of_the_work * static_cast<double>(passes)));
  return passes >= 2 * first ? first : 0;
}

}  // namespace

std::optional<Prediction> extrapolate(const RunRecord& record, const Problem& problem) {
  const Index passes = first_passes(problem.distribution());
  if (passes == 0) return std::nullopt;
  Samples samples;
  add_sampled_passes(samples, observe_passes(record, passes));
  MachineModel machine;
  fit(machine, samples, "first passes");
  const std::optional<Work> messages = kind_of_messages(problem);
  constexpr double least_seconds = 1e-9;  // shorter messages are below the clock's resolution
  if (messages && !machine.figures[*messages].cost.known()) machine.figures[*messages].cost.per_step = least_seconds;
  machine.figures[Work::substitution].cost.per_step = 1;  // marks it as known: the prediction excludes the solution
  const Forecast expected = forecast(machine, problem);
  if (!expected.missing.empty()) return std::nullopt;
  return Prediction{.expected_seconds = expected.factor_seconds,
                    .measured_seconds = record.result.factor_seconds,
                    .of_factorization = true,
                    .runs = 0,
                    .passes = passes};
}

std::optional<Prediction> Predictor::from_earlier_runs(const RunRecord& record, const Problem& problem) const {
  Samples samples;
  for (const Learnt& run : learnt_) {
    for (const Work work : all_work) {
      samples[work].insert(samples[work].end(), run.samples[work].begin(), run.samples[work].end());
    }
  }
  MachineModel machine;
  fit(machine, samples, "earlier runs");
  const Forecast expected = forecast(machine, problem);
  if (!expected.missing.empty()) return std::nullopt;
  return Prediction{.expected_seconds = expected.seconds,
                    .measured_seconds = record.result.seconds,
                    .of_factorization = problem.parameters.parts != RunParts::all,
                    .runs = static_cast<int>(learnt_.size()),
                    .passes = 0};
}

void Predictor::learn(const RunRecord& record, const Problem& problem) {
  const auto same = std::find_if(learnt_.begin(), learnt_.end(),
                                 [&](const Learnt& run) { return have_same_parameters(run.problem, problem); });
  if (same != learnt_.end() && same->seconds <= record.result.seconds) return;
  Learnt run{problem, record.result.seconds, {}};
  std::vector<Observation> observations = observe(record);
  add_samples(run.samples, observations.back());  // the solution's, over all passes
  observations.pop_back();
  add_sampled_passes(run.samples, observations);
  if (same != learnt_.end()) {
    *same = std::move(run);
  } else {
    constexpr std::size_t most_runs = 16;  // keeps the latest: a sweep can have many thousands
    if (learnt_.size() == most_runs) learnt_.erase(learnt_.begin());
    learnt_.push_back(std::move(run));
  }
}

std::optional<Prediction> Predictor::predict_then_learn(const RunRecord& record) {
  const RunResult& result = record.result;
  const bool rolled_back = result.checksums && !result.checksums->rollbacks.empty();
  const bool ended_well =
      !result.singular_column && result.seconds > 0 && !result.ranks.empty() && !result.resumed && !rolled_back;
  if (!ended_well || record.parameters.parts == RunParts::messages) return std::nullopt;
  const Problem problem = problem_of(record, arrangement_of(result.ranks));
  // all ranks wait for the model, so its cost is bounded
  constexpr double most_steps = 1e6;
  if (static_cast<double>(problem.distribution().passes()) * static_cast<double>(result.ranks.size()) > most_steps) {
    return std::nullopt;
  }
  if (!is_modelled(problem, record.backend)) return std::nullopt;
  std::optional<Prediction> prediction = from_earlier_runs(record, problem);
  if (!prediction) prediction = extrapolate(record, problem);
  if (prediction && !(prediction->expected_seconds > 0)) prediction.reset();
  learn(record, problem);
  return prediction;
}

}  // namespace glinpack::app::model
