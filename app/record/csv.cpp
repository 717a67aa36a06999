
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "app/options/option_text.hpp"
#include "app/record/network_record.hpp"
#include "app/record/run_record.hpp"
#include "app/record/text.hpp"

namespace glinpack::app {
namespace {

using nlohmann::json;

/// The places are in flattened().
constexpr std::string_view first_columns =
    "n nb p q time gflops residual passed matrix precision backend pivoting broadcast order repeat factor_seconds "
    "solve_seconds computing_seconds=breakdown/computing/mean transfer_seconds=breakdown/transfer/mean "
    "network_seconds=breakdown/network/total/mean network_exposed_seconds=breakdown/network/exposed/mean "
    "idle_seconds=breakdown/idle/mean epsilon threshold growth singular_column start_time device=ranks/0/device "
    "failure "
    "compute_only waiting_seconds=breakdown/waiting/mean iterations=refinement/iterations "
    "gmres_iterations=refinement/gmres_iterations refinement_seconds=refinement/seconds "
    "residual_history=refinement/history";
/// From the readable sensors; the rate is by a wall meter if there was one.
constexpr std::string_view energy_columns =
    " energy_joules=energy/joules average_watts=energy/average_watts peak_watts=energy/peak_watts "
    "gflops_per_watt=energy/gflops_per_watt";
constexpr std::string_view rate_columns = " unit units gflops_per_unit peak_gflops=peak/gflops of_peak node_grid";
/// HPL's phases; with idle_seconds they add up to the time. The last ones are younger than the rates.
constexpr std::array hpl_phase_columns{HplPhase::pfact,  HplPhase::bcast, HplPhase::laswp,  HplPhase::trsm,
                                       HplPhase::update, HplPhase::ptrsv, HplPhase::refine, HplPhase::copies};
constexpr std::array last_columns{HplPhase::ckpt, HplPhase::check};
static_assert(hpl_phase_columns.size() + last_columns.size() == all_hpl_phases.size());

/// New columns come last, so that readers by position find the older ones.
std::vector<CsvColumn> measured_columns() {
  std::string words(first_columns);
  const auto add_phases = [&words](std::span<const HplPhase> phases) {
    for (const HplPhase phase : phases) {
      words += fmt::format(" {0}_seconds=breakdown/hpl_phases/{0}/seconds/mean", name_of(phase));
    }
  };
  for (const Role role : {Role::pivot, Role::normalize, Role::eliminate, Role::reduce}) {
    words += fmt::format(" {0}_seconds=breakdown/roles/{0}/seconds/mean", name_of(role));
    for (const std::string_view part : {"computing", "transfer", "network", "idle", "waiting"}) {
      words += fmt::format(" {0}_{1}_seconds=breakdown/roles/{0}/{1}/mean", name_of(role), part);
    }
  }
  words += energy_columns;
  add_phases(hpl_phase_columns);
  words += rate_columns;
  add_phases(last_columns);
  return csv_columns(words + " resumed_passes=resumed/passes");
}

/// The JSON of a run with its breakdown's lists by role and by phase as objects, and texts where a cell has one.
json flattened(const RunRecord& run) {
  json document = run_json(run);
  json& breakdown = document["breakdown"];
  for (const auto& [list, key] : {std::pair{"roles", "role"}, {"hpl_phases", "phase"}}) {
    if (breakdown.is_null()) break;
    json by_name;
    for (const json& total : breakdown[list]) by_name[total[key].get<std::string>()] = total;
    breakdown[list] = std::move(by_name);
  }
  if (!run.result.checked) document["passed"] = nullptr;
  if (run.node_grid) document["node_grid"] = text_of(*run.node_grid);
  if (run.result.refinement) {
    std::string history;
    for (const Refinement::Step& step : run.result.refinement->history) {
      history += fmt::format("{}{}", history.empty() ? "" : " ", step.scaled_residual);
    }
    document["refinement"]["history"] = history;
  }
  return document;
}

std::string cell(const json& run, const std::string& place) {
  const json::json_pointer pointer(place);
  if (!run.contains(pointer)) return "";
  const json& value = run.at(pointer);
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  const auto number = value.get<double>();
  return std::isfinite(number) ? fmt::format("{}", number) : "";
}

/// Columns from describe() of the run and the option table: all that no other column has.
class KeyColumns {
 public:
  KeyColumns(const ReportContext& context, const RunRecord& run) {
    for (const CsvColumn& column : measured_columns()) known_.insert(column.name);
    std::set<std::string> hosts;
    for (const RankRecord& rank : run.result.ranks) hosts.insert(rank.host);
    add("version", context.version);
    add("git_commit", context.git_commit);
    add("hosts", json(hosts));
    const json parameters = parameters_json(run);
    for (const auto& [key, value] : parameters.items()) {
      if (!value.is_object() || known_.contains(key)) {
        add(key, value);
        continue;
      }
      for (const auto& [member, of_member] : value.items()) add(key + "_" + member, of_member);
    }
    // options that the parameters have by another name
    for (const char* name : {"grid", "lookahead", "row_swap"}) known_.insert(name);
    for (const auto& [key, value] : context.configuration.items()) add(key, value);
  }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& fields() const { return fields_; }

 private:
  void add(std::string name, const json& value) {
    std::ranges::replace(name, '-', '_');
    if (!known_.insert(name).second) return;
    names_.push_back(std::move(name));
    fields_.push_back(text_of_json(value));
  }

  std::set<std::string> known_;
  std::vector<std::string> names_, fields_;
};

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
  const std::vector<CsvColumn> columns = measured_columns();
  std::string text;
  for (const CsvColumn& column : columns) text += column.name + ',';
  text += csv_line(KeyColumns(context, RunRecord{}).names());
  for (const RunRecord& record : records) {
    const json run = flattened(record);
    std::vector<std::string> fields;
    for (const CsvColumn& column : columns) fields.push_back(cell(run, column.place));
    const KeyColumns keys(context, record);
    fields.insert(fields.end(), keys.fields().begin(), keys.fields().end());
    text += csv_line(fields);
  }
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
