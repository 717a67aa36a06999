#include "app/record/run_record.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "app/options/option_text.hpp"
#include "app/record/text.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

using nlohmann::json;

LuAlgorithm algorithm_of(const RunRecord& run) {
  return lu_algorithm(can_factorize_row_by_row(run.backend), run.parameters.pivoting, run.grid);
}

// The keys of docs/result.schema.json.

/// RoleTime and RoleTotal have the same member names.
template <class Json, class Time>
void describe_times(Json& json, Time& time) {
  json("seconds", time.seconds);
  json("computing", time.computing);
  json("transfer", time.transfer);
  json("network", time.network);
  json("idle", time.idle);
  json("waiting", time.waiting);
}

template <class Json>
void describe_kind(Json& json, PhaseWork& work) {
  json("role", work.role);
  json("phase", work.phase);
  json("lane", work.lane);
  json("flops", work.flops);
  json("bytes", work.bytes);
}

template <class Json>
void describe(Json& json, PhaseWork& work) {
  describe_kind(json, work);
  json("seconds", work.busy_seconds);
}

template <class Json>
void describe(Json& json, PhaseTotal& total) {
  describe_kind(json, total);
  json("ranks", total.ranks);
  json("seconds", total.seconds);
  if constexpr (Json::reads) total.busy_seconds = total.seconds.mean * total.ranks;
  const auto rate_of_a_rank = [&total](double amount) {
    return total.busy_seconds > 0 ? std::optional(amount / total.busy_seconds * 1e-9) : std::nullopt;
  };
  json.derived("gflops", rate_of_a_rank(total.flops));
  json.derived("gigabytes_per_second", rate_of_a_rank(total.bytes));
}

template <class Json>
void describe(Json& json, RoleTotal& total) {
  json("role", total.role);
  json("ranks", total.ranks, 1);
  describe_times(json, total);
}

inline auto enumerators(HplPhase) { return all_hpl_phases; }

GLINPACK_DESCRIBE(HplPhaseTotal, phase, seconds, hidden, gflops, gigabytes_per_second)

template <class Json>
void describe(Json& json, Breakdown& breakdown) {
  json("phases", breakdown.phases);
  json("computing", breakdown.computing);
  json("transfer", breakdown.transfer);
  json.object("network", [&breakdown](auto& network) {
    network("total", breakdown.network);
    network("exposed", breakdown.network_exposed);
    network("hidden", breakdown.network_hidden);
  });
  json("idle", breakdown.idle);
  json.later("waiting", breakdown.waiting);
  json.later("roles", breakdown.roles);
  json.later("hpl_phases", breakdown.hpl_phases);
  json("flops", breakdown.flops);
  json("transfer_bytes", breakdown.transfer_bytes);
  json("network_bytes", breakdown.network_bytes);
}

/// A rank's time in one role.
struct TimeInRole : RoleTime {
  Role role = Role::none;
};

template <class Json>
void describe(Json& json, TimeInRole& time) {
  json("role", time.role);
  describe_times(json, time);
}

template <class Json>
void describe(Json& json, Mismatch& mismatch) {
  json("pass", mismatch.pass);
  json("part", mismatch.part);
  json("block_row", mismatch.block_row);
  json.number_or_null("difference", mismatch.difference);
  json.number_or_null("bound", mismatch.bound);
}

template <class Json>
void describe(Json& json, RankRecord& rank, RankTime& time) {
  describe_rank(json, rank);
  json("computing_seconds", time.computing);
  json("transfer_seconds", time.transfer);
  json("network_seconds", time.network);
  json("network_exposed_seconds", time.network_exposed);
  json("network_hidden_seconds", time.network_hidden);
  json("idle_seconds", time.idle);
  json.later("waiting_seconds", time.waiting);
  std::vector<TimeInRole> roles;
  for (const Role role : all_roles) {
    const RoleTime& in_role = time.roles[static_cast<std::size_t>(role)];
    if (in_role.seconds > 0) roles.push_back({in_role, role});
  }
  json.later("roles", roles);
  if constexpr (Json::reads) {
    for (const TimeInRole& in_role : roles) time.roles[static_cast<std::size_t>(in_role.role)] = in_role;
  }
  json("phases", time.phases);
}

GLINPACK_DESCRIBE(Rollback, from, to, seconds, rank, mismatch)

template <class Json>
void describe(Json& json, ChecksumRecord& record) {
  json("every", record.every, 1);
  json("checks", record.checks);
  json("seconds", record.seconds);
  json("corrupted", record.corrupted);
  json.later("overflowed", record.overflowed);
  json("stopped", record.stopped);
  json.later("rollbacks", record.rollbacks);
}

template <class Json>
void describe(Json& json, Residual& residual) {
  json.number_or_null("residual_inf", residual.norm_residual_inf);
  json.number_or_null("a_inf", residual.norm_a_inf);
  json.number_or_null("a_one", residual.norm_a_one);
  json.number_or_null("x_inf", residual.norm_x_inf);
  json.number_or_null("x_one", residual.norm_x_one);
  json.number_or_null("b_inf", residual.norm_b_inf);
}

template <class Json>
void describe(Json& json, Refinement::Step& step) {
  json("method", step.method);
  json.number_or_null("residual", step.scaled_residual);
}

template <class Json>
void describe(Json& json, Refinement& refinement) {
  json("converged", refinement.converged);
  json.derived("iterations", refinement.iterations());
  json.derived("gmres_iterations", refinement.iterations_of(Refinement::Method::gmres));
  json("seconds", refinement.seconds);
  json.nullable("stopped", !refinement.stopped.empty(), refinement.stopped);
  json("history", refinement.history);
}

GLINPACK_DESCRIBE(Coverage, there, read)
GLINPACK_DESCRIBE(ThrottleShare, reason, share)

template <class Json>
void describe(Json& json, SensorEnergy& sensor) {
  describe_sensor(json, sensor.info);
  json("host", sensor.host);
  json("rank", sensor.rank);
  json("joules", sensor.joules);
  json.number_or_null("average_watts", sensor.average_watts);
  json.number_or_null("peak_watts", sensor.peak_watts);
  json("megahertz", sensor.megahertz);
  json("celsius", sensor.celsius);
  json("throttled", sensor.throttled);
  json("samples", sensor.samples);
}

template <class Json>
void describe(Json& json, Energy& energy) {
  const bool measured = energy.measured();
  json.number_or_null("joules", energy.joules);
  json.number_or_null("average_watts", energy.average_watts);
  json.number_or_null("peak_watts", energy.peak_watts);
  json.number_or_null("wall_watts", energy.wall_watts);
  json.number_or_null("gflops_per_watt", energy.gflops_per_watt);
  json.nullable("rough", measured, energy.rough);
  json.nullable("scope", measured, energy.scope);
  json.nullable("nodes", measured, energy.packages);
  json.nullable("nodes_with_memory", measured, energy.memory);
  json.nullable("gpus", measured, energy.gpus);
  json("sensors", energy.sensors);
  json("unread", energy.unread);
}

template <class Json>
void describe_variant(Json& json, RunRecord& run) {
  std::string pfact(1, run.variant.pfact), rfact(1, run.variant.rfact);
  json("depth", run.parameters.lookahead);
  json("nbmin", run.variant.nbmin, INT_MIN);
  json("ndiv", run.variant.ndiv, INT_MIN);
  json("pfact", pfact);
  json("rfact", rfact);
  if constexpr (Json::reads) {
    if (!pfact.empty()) run.variant.pfact = pfact.front();
    if (!rfact.empty()) run.variant.rfact = rfact.front();
  }
}

template <class Json>
void describe_parameters(Json& json, RunRecord& run) {
  RunParameters& parameters = run.parameters;
  describe_case(json, run);
  json.later("matrix", run.matrix);
  json("backend", run.backend);
  json.later("panel", parameters.panel);
  json.later("threshold", parameters.threshold);
  bool compute_only = parameters.parts == RunParts::compute;
  json.later("compute_only", compute_only);
  if constexpr (Json::reads) parameters.parts = compute_only ? RunParts::compute : RunParts::all;
  json.object("variant", [&run](auto& variant) { describe_variant(variant, run); });
}

template <class Json>
void describe(Json& json, Peak& peak) {
  json("gflops", peak.gflops);
  json.choice("source", peak.stated, "stated", "measured");
}

GLINPACK_DESCRIBE(Resumed, passes, seconds)

template <class Json>
void describe(Json& json, Saved& saved) {
  json("count", saved.checkpoints);
  json.later("failed", saved.failed);
  json("passes", saved.passes);
  json.later("in_background", saved.in_background);
  json.later("waiting_seconds", saved.waited);
  json.later("disk_seconds", saved.disk);
}

template <class Json>
void describe(Json& json, RunRecord& run) {
  RunResult& result = run.result;
  const bool answered = result.checked && !result.singular_column;
  describe_parameters(json, run);
  json("time", result.seconds);
  json.number_or_null("gflops", result.gflops);
  json.later("peak", run.peak);
  json.derived("of_peak", run.of_peak());
  json.nullable("unit", !run.units.name.empty(), run.units.name);
  json.nullable("units", run.units.count > 0, run.units.count);
  json.derived("gflops_per_unit", run.gflops_per_unit());
  json.nullable("residual", answered, result.residual.scaled);
  json("passed", result.passed);
  json("checked", result.checked);
  json.derived("epsilon", epsilon_of(run.precision));
  json.later("refinement", result.refinement);
  json.nullable("norms", answered, result.residual);
  json.number_or_null("growth", result.growth);
  json.nullable("failure", !result.failure.empty(), result.failure);
  json.later("singular_column", result.singular_column);
  json.later("checksums", result.checksums);
  json("factor_seconds", result.factor_seconds);
  json("solve_seconds", result.solve_seconds);
  json("start_time", result.start_time);
  json.later("end_time", result.end_time);
  json.later("resumed", result.resumed);
  json.later("checkpoints", result.saved);
  json.nullable("breakdown", !run.breakdown.phases.empty(), run.breakdown);
  json.later("energy", run.energy);
  json.zipped("ranks", result.ranks, run.breakdown.by_rank);
  if constexpr (Json::reads) {
    run.breakdown.seconds = result.seconds;
    run.breakdown.ranks = static_cast<int>(result.ranks.size());
  }
}

namespace {

/// Throws InputError for values that no run has: what reads the record may divide by times and find ranks by place.
/// Also for a verdict that contradicts its causes: the file was changed or is damaged.
void check_consistency(const JsonNode& node, const RunRecord& run) {
  for (const char* key : {"time", "factor_seconds", "solve_seconds", "gflops", "residual"}) {
    if (node.optional_number(key).value_or(0) < 0) node.at(key).refuse("is below 0");
  }
  const RunResult& result = run.result;
  if (result.passed && (!result.checked || !result.failure.empty() || result.singular_column ||
                        !(result.residual.scaled < run.parameters.threshold))) {
    node.at("passed").refuse("true contradicts 'checked', 'failure' or the residual");
  }
  if (!result.ranks.empty() && static_cast<int>(result.ranks.size()) != run.grid.size()) {
    node.at("ranks").refuse(
        fmt::format("{} ranks are not those of the grid {}", result.ranks.size(), text_of(run.grid)));
  }
}

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

ComputeUnits compute_units(const std::vector<RankRecord>& ranks) {
  if (ranks.empty()) return {};
  std::set<std::string> gpus;
  int threads = 0;
  for (const RankRecord& rank : ranks) {
    const BackendInfo& info = rank.backend;
    if (info.software_device) return {"process", static_cast<int>(ranks.size())};
    const std::string device = info.device_uuid.empty() ? std::to_string(info.device_index) : info.device_uuid;
    if (info.device_index >= 0) gpus.insert(rank.host + " " + device);
    threads += info.threads;
  }
  if (gpus.empty()) return {"thread", threads};
  return {"GPU", static_cast<int>(gpus.size())};
}

std::optional<double> RunRecord::of_peak() const {
  return peak ? std::optional(result.gflops / peak->gflops) : std::nullopt;
}

std::optional<double> RunRecord::gflops_per_unit() const {
  return units.count > 0 ? std::optional(result.gflops / units.count) : std::nullopt;
}

Verdict verdict_of(const RunResult& result) {
  if (result.checked) return result.passed ? Verdict::passed : Verdict::failed;
  return result.singular_column || !result.failure.empty() ? Verdict::failed : Verdict::unchecked;
}

std::string failure_of(const RunResult& result) {
  std::string text = free_text(result.failure);
  if (result.singular_column && text.find("singular") == std::string::npos) {
    text = fmt::format("singular: zero pivot in global column {}{}{}", *result.singular_column,
                       text.empty() ? "" : "; ", text);
  }
  return text.empty() ? "the scaled residual is not below the threshold" : text;
}

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

json incomplete_json(const Incomplete& incomplete) {
  json document{{"signal", null_if_empty(incomplete.signal)},
                {"runs_planned", incomplete.planned},
                {"runs_finished", incomplete.finished},
                {"ended_run", nullptr}};
  if (incomplete.ended == nullptr) return document;
  const RunRecord& run = *incomplete.ended;
  const Share share = share_of(run);
  document["ended_run"] = {{"n", run.parameters.n},
                           {"nb", run.parameters.nb},
                           {"p", run.grid.rows},
                           {"q", run.grid.columns},
                           {"repeat", run.repeat},
                           {"passes", share.passes},
                           {"passes_done", *run.result.passes_done},
                           {"operations_share", share.of_operations},
                           {"time", run.result.seconds}};
  return document;
}

json results_json(const ReportContext& context, std::span<const RunRecord> records,
                  const std::optional<Incomplete>& incomplete) {
  std::set<std::string> hosts, libraries, kernels;
  for (const RunRecord& record : records) {
    for (const RankRecord& rank : record.result.ranks) {
      hosts.insert(rank.host);
      if (!rank.backend.blas.empty()) libraries.insert(rank.backend.blas);
      if (!rank.backend.kernels.empty()) kernels.insert(rank.backend.kernels);
    }
  }
  json document{{"format", 1}, {"context", context_json(context, hosts)}, {"runs", json_of(records)}};
  document["context"]["blas_library"] = libraries;
  document["context"]["blas_kernels"] = kernels;
  if (incomplete) document["incomplete"] = incomplete_json(*incomplete);
  // Written and parsed once. JSON has no NaN and infinity, which become null. Command lines and driver names may have
  // bytes that are not UTF-8, which are replaced.
  return json::parse(document.dump(-1, ' ', false, json::error_handler_t::replace));
}

json energy_json(const Energy& energy) { return json_of(energy); }

json run_json(const RunRecord& run) { return json_of(run); }

json parameters_json(const RunRecord& run) {
  JsonWriter parameters;
  describe_parameters(parameters, const_cast<RunRecord&>(run));
  return parameters.take();
}

std::vector<RunRecord> read_runs(const JsonNode& root) {
  std::vector<RunRecord> runs;
  for (const JsonNode& node : root.at("runs").items()) {
    check_consistency(node, runs.emplace_back(value_of<RunRecord>(node)));
  }
  return runs;
}

std::string label_of(const RunRecord& run) {
  return "N " + std::to_string(run.parameters.n) + ", NB " + std::to_string(run.parameters.nb) + ", grid " +
         text_of(run.grid) + (run.node_grid ? ", node grid " + text_of(*run.node_grid) : "");
}

}  // namespace glinpack::app
