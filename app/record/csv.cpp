#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "app/options/option_text.hpp"
#include "app/record/csv.hpp"
#include "app/record/network_record.hpp"
#include "app/record/run_record.hpp"
#include "app/record/text.hpp"

namespace glinpack::app {
namespace {

constexpr std::string_view head_line =
    "n,nb,p,q,time,gflops,residual,passed,matrix,precision,backend,pivoting,broadcast,order,repeat,"
    "factor_seconds,solve_seconds,computing_seconds,transfer_seconds,network_seconds,network_exposed_seconds,idle_"
    "seconds,epsilon,"
    "threshold,growth,singular_column,start_time,device,failure,compute_only,waiting_seconds,"
    "iterations,gmres_iterations,refinement_seconds,residual_history";

/// Additional columns for each role: pivot_seconds, pivot_computing_seconds, ...
struct RoleColumn {
  std::string_view name;
  Spread RoleTotal::*part;
};
constexpr std::array role_columns{
    RoleColumn{"seconds", &RoleTotal::seconds},           RoleColumn{"computing_seconds", &RoleTotal::computing},
    RoleColumn{"transfer_seconds", &RoleTotal::transfer}, RoleColumn{"network_seconds", &RoleTotal::network},
    RoleColumn{"idle_seconds", &RoleTotal::idle},         RoleColumn{"waiting_seconds", &RoleTotal::waiting}};
constexpr std::array roles_of_passes{Role::pivot, Role::normalize, Role::eliminate, Role::reduce};

/// The last columns are younger than those before them.
constexpr std::array hpl_phase_columns{HplPhase::pfact,  HplPhase::bcast, HplPhase::laswp,  HplPhase::trsm,
                                       HplPhase::update, HplPhase::ptrsv, HplPhase::refine, HplPhase::copies};
constexpr std::array last_columns{HplPhase::ckpt, HplPhase::check};
static_assert(hpl_phase_columns.size() + last_columns.size() == all_hpl_phases.size());

/// HPL's phases: pfact_seconds, ...; with idle_seconds they add up to the time.
void add_hpl_phase_fields(const Breakdown& breakdown, std::span<const HplPhase> phases,
                          std::vector<std::string>& fields) {
  for (const HplPhase phase : phases) {
    const auto total = std::find_if(breakdown.hpl_phases.begin(), breakdown.hpl_phases.end(),
                                    [phase](const HplPhaseTotal& candidate) { return candidate.phase == phase; });
    fields.push_back(total == breakdown.hpl_phases.end() ? std::string() : fmt::format("{}", total->seconds.mean));
  }
}

/// The rate by GPU or core, the peak, and the node grid.
constexpr std::string_view rate_columns = ",unit,units,gflops_per_unit,peak_gflops,of_peak,node_grid";

/// From the readable sensors; the rate is by a wall meter if there was one.
constexpr std::string_view energy_columns = ",energy_joules,average_watts,peak_watts,gflops_per_watt";

/// New columns come last, so that readers by position find the older ones.
std::string measured_columns() {
  std::string line(head_line);
  for (const Role role : roles_of_passes) {
    for (const RoleColumn& column : role_columns) line += fmt::format(",{}_{}", name_of(role), column.name);
  }
  line += energy_columns;
  for (const HplPhase phase : hpl_phase_columns) line += fmt::format(",{}_seconds", name_of(phase));
  line += rate_columns;
  for (const HplPhase phase : last_columns) line += fmt::format(",{}_seconds", name_of(phase));
  return line + ",resumed_passes";
}

/// Columns from describe() of the run and the option table: all that no other column has.
class KeyColumns {
 public:
  KeyColumns(const ReportContext& context, const RunRecord& run) : known_(column_names()) {
    std::set<std::string> hosts;
    for (const RankRecord& rank : run.result.ranks) hosts.insert(rank.host);
    add("version", context.version);
    add("git_commit", context.git_commit);
    add("hosts", nlohmann::json(hosts));
    const nlohmann::json parameters = parameters_json(run);
    for (const auto& [key, value] : parameters.items()) {
      if (!value.is_object() || known_.contains(key)) add(key, value);
      if (value.is_object() && !known_.contains(key)) add_members(key, value);
    }
    // options that the parameters have by another name
    for (const char* name : {"grid", "lookahead", "row_major", "column_major", "row_swap"}) known_.insert(name);
    for (const auto& [key, value] : context.configuration.items()) add(key, value);
  }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& fields() const { return fields_; }

 private:
  static std::set<std::string> column_names() {
    const std::string line = measured_columns();
    std::set<std::string> names;
    for (std::size_t start = 0, end = 0; end != line.npos; start = end + 1) {
      end = line.find(',', start);
      names.insert(line.substr(start, end - start));
    }
    return names;
  }
  void add(std::string name, const nlohmann::json& value) {
    std::ranges::replace(name, '-', '_');
    if (!known_.insert(name).second) return;
    names_.push_back(std::move(name));
    fields_.push_back(text_of_json(value));
  }
  void add_members(const std::string& key, const nlohmann::json& object) {
    for (const auto& [member, value] : object.items()) add(key + "_" + member, value);
  }

  std::set<std::string> known_;
  std::vector<std::string> names_, fields_;
};

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }

/// Means over the ranks that have the role; empty for roles without ranks.
void add_role_fields(const Breakdown& breakdown, std::vector<std::string>& fields) {
  for (const Role role : roles_of_passes) {
    const auto total = std::find_if(breakdown.roles.begin(), breakdown.roles.end(),
                                    [role](const RoleTotal& candidate) { return candidate.role == role; });
    for (const RoleColumn& column : role_columns) {
      fields.push_back(total == breakdown.roles.end() ? std::string() : cell(((*total).*column.part).mean));
    }
  }
}

void add_rate_fields(const RunRecord& record, std::vector<std::string>& fields) {
  const auto optional_cell = [](const std::optional<double>& value) { return value ? cell(*value) : std::string(); };
  fields.push_back(record.units.name);
  fields.push_back(record.units.count > 0 ? fmt::format("{}", record.units.count) : std::string());
  fields.push_back(optional_cell(record.gflops_per_unit()));
  fields.push_back(record.peak ? cell(record.peak->gflops) : std::string());
  fields.push_back(optional_cell(record.of_peak()));
  fields.push_back(record.node_grid ? text_of(*record.node_grid) : "");
}

void add_energy_fields(const std::optional<Energy>& energy, std::vector<std::string>& fields) {
  for (const auto part : {&Energy::joules, &Energy::average_watts, &Energy::peak_watts, &Energy::gflops_per_watt}) {
    fields.push_back(energy ? cell((*energy).*part) : std::string());
  }
}

/// Iterations, GMRES iterations, seconds, and the blank-separated residuals of the iterations; empty without
/// refinement.
void add_refinement_fields(const std::optional<Refinement>& refinement, std::vector<std::string>& fields) {
  if (!refinement) {
    fields.insert(fields.end(), 4, "");
    return;
  }
  std::string history;
  for (const Refinement::Step& step : refinement->history) {
    history += fmt::format("{}{}", history.empty() ? "" : " ", step.scaled_residual);
  }
  fields.push_back(fmt::format("{}", refinement->iterations()));
  fields.push_back(fmt::format("{}", refinement->iterations_of(Refinement::Method::gmres)));
  fields.push_back(cell(refinement->seconds));
  fields.push_back(history);
}

std::string line_of(const ReportContext& context, const RunRecord& record) {
  const RunParameters& parameters = record.parameters;
  const RunResult& result = record.result;
  const Breakdown& breakdown = record.breakdown;
  const bool timed = !breakdown.phases.empty();
  const auto mean = [timed](const Spread& spread) { return timed ? cell(spread.mean) : std::string(); };
  const bool answered = result.checked && !result.singular_column;

  std::vector<std::string> fields{
      fmt::format("{}", parameters.n),
      fmt::format("{}", parameters.nb),
      fmt::format("{}", record.grid.rows),
      fmt::format("{}", record.grid.columns),
      cell(result.seconds),
      cell(result.gflops),
      answered ? cell(result.residual.scaled) : "",
      result.checked ? (result.passed ? "true" : "false") : "",
      std::string(name_of(record.matrix)),
      std::string(name_of(record.precision)),
      record.backend,
      std::string(name_of(parameters.pivoting)),
      std::string(name_of(parameters.broadcast)),
      std::string(name_of(record.order)),
      fmt::format("{}", record.repeat),
      cell(result.factor_seconds),
      cell(result.solve_seconds),
      mean(breakdown.computing),
      mean(breakdown.transfer),
      mean(breakdown.network),
      mean(breakdown.network_exposed),
      mean(breakdown.idle),
      cell(epsilon_of(record.precision)),
      cell(parameters.threshold),
      cell(result.growth),
      result.singular_column ? fmt::format("{}", *result.singular_column) : "",
      cell(result.start_time),
      result.ranks.empty() ? "" : result.ranks.front().backend.device,
      result.failure,
      parameters.parts == RunParts::compute ? "true" : "false",
      mean(breakdown.waiting),
  };
  add_refinement_fields(result.refinement, fields);
  add_role_fields(breakdown, fields);
  add_energy_fields(record.energy, fields);
  add_hpl_phase_fields(breakdown, hpl_phase_columns, fields);
  add_rate_fields(record, fields);
  add_hpl_phase_fields(breakdown, last_columns, fields);
  fields.push_back(result.resumed ? fmt::format("{}", result.resumed->passes) : "");
  const KeyColumns keys(context, record);
  fields.insert(fields.end(), keys.fields().begin(), keys.fields().end());
  return csv_line(fields);
}

}  // namespace

std::string text_of_json(const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const nlohmann::json& item : value) text += (text.empty() ? "" : " ") + text_of_json(item);
  return text;
}

std::string results_csv(const ReportContext& context, std::span<const RunRecord> records) {
  std::string text = measured_columns() + ',' + csv_line(KeyColumns(context, RunRecord{}).names());
  for (const RunRecord& record : records) text += line_of(context, record);
  return text;
}

std::string network_csv(const std::vector<NetworkRun>& runs) {
  std::string text =
      "n,nb,p,q,time,broadcast,pivoting,precision,order,repeat,network_share,bytes,messages,receiving_seconds,"
      "row_seconds,column_seconds,rows_exchanged,start_time\n";
  for (const NetworkRun& run : runs) {
    const RunRecord& record = run.record;
    const NetworkTotals& totals = run.totals;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", record.parameters.n,
                        record.parameters.nb, record.grid.rows, record.grid.columns, record.result.seconds,
                        name_of(record.parameters.broadcast), name_of(record.parameters.pivoting),
                        name_of(record.precision), name_of(record.order), record.repeat, totals.share,
                        totals.traffic.bytes, totals.traffic.messages, totals.traffic.seconds, totals.row_seconds.mean,
                        totals.column_seconds.mean, totals.rows_exchanged, record.result.start_time);
  }
  return text;
}

}  // namespace glinpack::app
