#include "app/report/incomplete.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/plan.hpp"

namespace glinpack::app {

namespace {

struct Share {
  Index passes = 0;
  double of_operations = 0;  // fraction of the factorisation's operations
};

Share share_of(const RunRecord& run) {
  const Distribution distribution = distribution_of(run.parameters, run.grid);
  const Index done = *run.result.passes_done;
  const auto columns = static_cast<double>(std::min(done * distribution.nb, distribution.n));
  const double left = 1 - columns / static_cast<double>(distribution.n);
  return {distribution.passes(), 1 - left * left * left};
}

}  // namespace

std::string incomplete_text(const Incomplete& incomplete) {
  std::string text =
      fmt::format("INCOMPLETE: {} ended the program after {} of {} runs{}.\n", incomplete.signal, incomplete.finished,
                  incomplete.planned, incomplete.links_left ? ", before it was done with the links" : "");
  if (incomplete.ended == nullptr) return text;
  const RunRecord& run = *incomplete.ended;
  const Share share = share_of(run);
  return text +
         fmt::format("The run under way, {}, ended after {} of {} passes, {:.1f} % of its operations, {:.2f} s.\n",
                     label_of(run), *run.result.passes_done, share.passes, 100 * share.of_operations,
                     run.result.seconds);
}

nlohmann::json incomplete_json(const Incomplete& incomplete) {
  nlohmann::json json{{"signal", incomplete.signal.empty() ? nlohmann::json() : nlohmann::json(incomplete.signal)},
                      {"runs_planned", incomplete.planned},
                      {"runs_finished", incomplete.finished},
                      {"ended_run", nullptr}};
  if (incomplete.ended == nullptr) return json;
  const RunRecord& run = *incomplete.ended;
  const Share share = share_of(run);
  json["ended_run"] = {{"n", run.parameters.n},
                       {"nb", run.parameters.nb},
                       {"p", run.grid.rows},
                       {"q", run.grid.columns},
                       {"repeat", run.repeat},
                       {"passes", share.passes},
                       {"passes_done", *run.result.passes_done},
                       {"operations_share", share.of_operations},
                       {"time", run.result.seconds}};
  return json;
}

}  // namespace glinpack::app
