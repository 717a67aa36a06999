#include <nlohmann/json.hpp>

#include "app/report/breakdown.hpp"
#include "app/report/energy.hpp"
#include "app/report/report.hpp"

namespace glinpack::app {

using nlohmann::json;

json spread_json(const Spread& spread) { return {{"min", spread.min}, {"mean", spread.mean}, {"max", spread.max}}; }

namespace {

json phase_json(const PhaseTotal& line) {
  return {{"role", name_of(line.role)},
          {"phase", name_of(line.phase)},
          {"lane", name_of(line.lane)},
          {"flops", line.flops},
          {"bytes", line.bytes}};
}

json phases_json(const Breakdown& breakdown) {
  json lines = json::array();
  for (const PhaseTotal& total : breakdown.phases) {
    json line = phase_json(total);
    line["ranks"] = total.ranks;
    line["seconds"] = spread_json(total.seconds);
    // Rates of one rank during this work.
    const double busy = total.busy_seconds;
    line["gflops"] = busy > 0 ? json(total.flops / busy * 1e-9) : json();
    line["gigabytes_per_second"] = busy > 0 ? json(total.bytes / busy * 1e-9) : json();
    lines.push_back(std::move(line));
  }
  return lines;
}

/// RoleTime and RoleTotal have the same member names; only the conversion of a member differs.
template <class Time, class Write>
json role_json(Role role, const Time& time, Write write) {
  return {{"role", name_of(role)},
          {"seconds", write(time.seconds)},
          {"computing", write(time.computing)},
          {"transfer", write(time.transfer)},
          {"network", write(time.network)},
          {"idle", write(time.idle)},
          {"waiting", write(time.waiting)}};
}

json roles_json(const Breakdown& breakdown) {
  json roles = json::array();
  for (const RoleTotal& total : breakdown.roles) {
    roles.push_back(role_json(total.role, total, spread_json));
    roles.back()["ranks"] = total.ranks;
  }
  return roles;
}

json roles_json(const RankTime& time) {
  json roles = json::array();
  for (const Role role : all_roles) {
    const RoleTime& in_role = time.roles[static_cast<std::size_t>(role)];
    if (in_role.seconds > 0) roles.push_back(role_json(role, in_role, [](double seconds) { return seconds; }));
  }
  return roles;
}

json breakdown_json(const Breakdown& breakdown) {
  return {{"phases", phases_json(breakdown)},
          {"computing", spread_json(breakdown.computing)},
          {"transfer", spread_json(breakdown.transfer)},
          {"network",
           {{"total", spread_json(breakdown.network)},
            {"exposed", spread_json(breakdown.network_exposed)},
            {"hidden", spread_json(breakdown.network_hidden)}}},
          {"idle", spread_json(breakdown.idle)},
          {"waiting", spread_json(breakdown.waiting)},
          {"roles", roles_json(breakdown)},
          {"flops", breakdown.flops},
          {"transfer_bytes", breakdown.transfer_bytes},
          {"network_bytes", breakdown.network_bytes}};
}

json rank_json(const RankRecord& rank, const RankTime& time) {
  const BackendInfo& info = rank.backend;
  json phases = json::array();
  for (const PhaseTotal& total : phases_of(rank.intervals)) {
    json line = phase_json(total);
    line["seconds"] = total.busy_seconds;
    phases.push_back(std::move(line));
  }
  return {{"rank", rank.world_rank},
          {"row", rank.row},
          {"column", rank.column},
          {"host", rank.host},
          {"backend", info.backend},
          {"device", info.device},
          {"device_index", info.device_index < 0 ? json() : json(info.device_index)},
          {"software_gl", info.software_gl},
          {"driver", info.driver},
          {"blas", info.blas},
          {"kernels", info.kernels},
          {"threads", info.threads},
          {"free_bytes", info.free_bytes > 0 ? json(info.free_bytes) : json()},
          {"displaced_bytes", rank.displaced_bytes},
          {"computing_seconds", time.computing},
          {"transfer_seconds", time.transfer},
          {"network_seconds", time.network},
          {"network_exposed_seconds", time.network_exposed},
          {"network_hidden_seconds", time.network_hidden},
          {"idle_seconds", time.idle},
          {"waiting_seconds", time.waiting},
          {"roles", roles_json(time)},
          {"phases", std::move(phases)}};
}

json norms_json(const Residual& residual) {
  return {{"residual_inf", residual.norm_residual_inf},
          {"a_inf", residual.norm_a_inf},
          {"a_one", residual.norm_a_one},
          {"x_inf", residual.norm_x_inf},
          {"x_one", residual.norm_x_one},
          {"b_inf", residual.norm_b_inf}};
}

json refinement_json(const Refinement& refinement) {
  json history = json::array();
  for (const Refinement::Step& step : refinement.history) {
    history.push_back({{"method", name_of(step.method)}, {"residual", step.scaled_residual}});
  }
  return {{"converged", refinement.converged},
          {"iterations", refinement.iterations()},
          {"gmres_iterations", refinement.iterations_of(Refinement::Method::gmres)},
          {"seconds", refinement.seconds},
          {"stopped", refinement.stopped.empty() ? json() : json(refinement.stopped)},
          {"history", std::move(history)}};
}

json prediction_json(const Prediction& prediction) {
  return {{"expected_seconds", prediction.expected_seconds},
          {"measured_seconds", prediction.measured_seconds},
          {"ratio", prediction.ratio()},
          {"part", prediction.of_factorization ? "factorization" : "run"},
          {"from", prediction.runs > 0 ? "earlier runs" : "first passes"},
          {"runs", prediction.runs},
          {"passes", prediction.passes}};
}

json parameters_json(const RunRecord& record) {
  const HplVariant& variant = record.variant;
  return {{"n", record.parameters.n},
          {"nb", record.parameters.nb},
          {"p", record.grid.rows},
          {"q", record.grid.columns},
          {"matrix", name_of(record.matrix)},
          {"precision", name_of(record.precision)},
          {"backend", record.backend},
          {"pivoting", name_of(record.parameters.pivoting)},
          {"panel", name_of(record.parameters.panel)},
          {"broadcast", name_of(record.parameters.broadcast)},
          {"row_swap", row_swap_json(record.parameters.row_swap)},
          {"order", record.order == RankOrder::row_major ? "row-major" : "column-major"},
          {"threshold", record.parameters.threshold},
          {"compute_only", record.parameters.parts == RunParts::compute},
          {"repeat", record.repeat},
          {"variant",
           {{"depth", record.parameters.lookahead},
            {"nbmin", variant.nbmin},
            {"ndiv", variant.ndiv},
            {"pfact", std::string(1, variant.pfact)},
            {"rfact", std::string(1, variant.rfact)}}}};
}

json run_json(const RunRecord& record) {
  const RunResult& result = record.result;
  const bool answered = result.checked && !result.singular_column;
  const Breakdown breakdown = break_down(result);
  json ranks = json::array();
  for (std::size_t i = 0; i < result.ranks.size(); ++i) {
    ranks.push_back(rank_json(result.ranks[i], breakdown.by_rank[i]));
  }
  json run = parameters_json(record);
  run["time"] = result.seconds;
  run["gflops"] = result.gflops;
  run["residual"] = answered ? json(result.residual.scaled) : json();
  run["passed"] = result.passed;
  run["checked"] = result.checked;
  run["epsilon"] = epsilon_of(record.precision);
  run["refinement"] = result.refinement ? refinement_json(*result.refinement) : json();
  run["norms"] = answered ? norms_json(result.residual) : json();
  run["growth"] = result.growth;
  run["failure"] = result.failure.empty() ? json() : json(result.failure);
  run["singular_column"] = result.singular_column ? json(*result.singular_column) : json();
  run["factor_seconds"] = result.factor_seconds;
  run["solve_seconds"] = result.solve_seconds;
  run["start_time"] = result.start_time;
  run["end_time"] = result.end_time;
  run["prediction"] = record.prediction ? prediction_json(*record.prediction) : json();
  run["breakdown"] = breakdown.phases.empty() ? json() : breakdown_json(breakdown);
  run["energy"] = energy_json(result);
  run["ranks"] = std::move(ranks);
  return run;
}

json context_of(const ReportContext& context, std::span<const RunRecord> records) {
  std::set<std::string> hosts, libraries, kernels;
  for (const RunRecord& record : records) {
    for (const RankRecord& rank : record.result.ranks) {
      hosts.insert(rank.host);
      if (!rank.backend.blas.empty()) libraries.insert(rank.backend.blas);
      if (!rank.backend.kernels.empty()) kernels.insert(rank.backend.kernels);
    }
  }
  json document = context_json(context, hosts);
  document["blas_library"] = libraries;
  document["blas_kernels"] = kernels;
  return document;
}

}  // namespace

json row_swap_json(const RowSwap& swap) {
  return {{"kind", name_of(swap.kind)}, {"threshold", swap.threshold}, {"pieces", swap.pieces}};
}

json context_json(const ReportContext& context, const std::set<std::string>& hosts) {
  return {{"program", "glinpack"},
          {"version", context.version},
          {"git_commit", context.git_commit},
          {"mpi_library", context.mpi_library},
          {"world_size", context.world_size},
          {"hosts", hosts},
          {"command_line", context.command_line},
          {"configuration", context.configuration.is_null() ? json::object() : context.configuration},
          {"notes", context.notes}};
}

json results_json(const ReportContext& context, std::span<const RunRecord> records,
                  const std::optional<Incomplete>& incomplete) {
  json runs = json::array();
  for (const RunRecord& record : records) runs.push_back(run_json(record));
  json document{{"format", 1}, {"context", context_of(context, records)}, {"runs", std::move(runs)}};
  if (incomplete) document["incomplete"] = incomplete_json(*incomplete);
  // Written and parsed once. JSON has no NaN and infinity, which become null. Command lines and driver names may have
  // bytes that are not UTF-8, which are replaced.
  return json::parse(document.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace glinpack::app
