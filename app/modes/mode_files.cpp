#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/modes/mode_report.hpp"
#include "app/program_context.hpp"
#include "app/report/csv.hpp"

namespace glinpack::app {

namespace {

using nlohmann::json;
using solvers::all_stages;
using solvers::Stage;

json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json();
}

json seconds_json(const Measured& measured) { return measured_json(measured, "s", 1); }

json check_json(const std::optional<ModeCheck>& check) {
  if (!check) return {};
  return {{"against", check->against},
          {"error", number_or_null(check->error)},
          {"tolerance", check->tolerance},
          {"passed", check->passed()}};
}

json record_json(const ModeRecord& r) {
  json times, stages;
  if (r.timed()) {
    for (const Stage stage : all_stages) stages[std::string(name_of(stage))] = seconds_json(r.times.of(stage));
    times = {{"compute", seconds_json(r.times.compute)},
             {"with_transfer", seconds_json(r.times.with_transfer)},
             {"with_all", seconds_json(r.times.with_all)},
             {"stages", stages}};
  }
  return {{"variant", r.variant},
          {"settings", r.settings},
          {"size", r.size},
          {"n", r.n},
          {"precision", name_of(r.precision)},
          {"parameters", r.parameters},
          {"rival", r.is_rival},
          {"times", times},
          {"flops", r.flops > 0 ? json(r.flops) : json()},
          {"gflops", r.gflops() > 0 ? json(r.gflops()) : json()},
          {"speedup", number_or_null(r.speedup)},
          {"speedup_with_all", number_or_null(r.speedup_with_all)},
          {"check", check_json(r.check)},
          {"failure", r.failure.empty() ? json() : json(r.failure)},
          {"passed", r.passed()}};
}

json fit_json(const SeriesFit& series) {
  return {{"series", series.series},
          {"rival", series.is_rival},
          {"coefficients", series.fit.coefficients},
          {"mean_relative_error", series.fit.mean_relative_error},
          {"largest_relative_error", series.fit.largest_relative_error},
          {"speedup", number_or_null(series.speedup)}};
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }
std::string csv_number(const std::optional<double>& value) { return value ? csv_number(*value) : std::string(); }

std::vector<std::string> csv_fields(const std::string& mode, const ModeRecord& r) {
  std::vector<std::string> fields{mode,   r.variant,           r.settings,
                                  r.size, std::to_string(r.n), std::string(name_of(r.precision))};
  const bool measured = r.timed();
  const auto add = [&](double value, bool known) { fields.push_back(known ? csv_number(value) : std::string()); };
  add(r.times.compute.median, measured);
  add(r.times.compute.least, measured);
  add(r.times.compute.most, measured);
  add(r.times.with_transfer.median, measured);
  add(r.times.with_all.median, measured);
  for (const Stage stage : all_stages) add(r.times.of(stage).median, measured);
  add(r.gflops(), r.gflops() > 0);
  fields.push_back(csv_number(r.speedup));
  fields.push_back(csv_number(r.speedup_with_all));
  add(r.check ? r.check->error : 0, r.check.has_value());
  add(r.check ? r.check->tolerance : 0, r.check.has_value());
  fields.push_back(r.check ? r.check->against : std::string());
  fields.push_back(r.passed() ? "true" : "false");
  fields.push_back(r.failure);
  return fields;
}

}  // namespace

std::string mode_csv(const std::string& mode, std::span<const ModeRecord> records) {
  std::string text =
      "mode,variant,settings,size,n,precision,seconds,least_seconds,most_seconds,with_transfer_seconds,with_all_"
      "seconds,"
      "pack_seconds,upload_seconds,compute_seconds,download_seconds,unpack_seconds,gflops,speedup,speedup_with_all,"
      "error,"
      "tolerance,against,passed,failure\n";
  for (const ModeRecord& record : records) text += csv_line(csv_fields(mode, record));
  return text;
}

json mode_json(const std::string& mode, const ModeMachine& machine, std::span<const ModeRecord> records,
               std::span<const SeriesFit> fits) {
  json results = json::array(), fitted = json::array();
  for (const ModeRecord& record : records) results.push_back(record_json(record));
  for (const SeriesFit& fit : fits) fitted.push_back(fit_json(fit));
  return {{"format", 1},
          {"mode", mode},
          {"device", machine.device ? device_json(machine.device->description()) : json()},
          {"host",
           {{"name", machine.host_name},
            {"processor", machine.processor},
            {"blas", machine.blas},
            {"kernels", machine.kernels},
            {"threads", machine.threads}}},
          {"notes", machine.notes},
          {"results", results},
          {"fits", fitted}};
}

json mode_trace(const std::string& mode, std::span<const ModeRecord> records) {
  constexpr double micro = 1e6, gap = 1e-3;
  json events = json::array();
  events.push_back({{"ph", "M"}, {"pid", 0}, {"name", "process_name"}, {"args", {{"name", "glinpack " + mode}}}});
  for (const Stage stage : all_stages) {
    events.push_back({{"ph", "M"},
                      {"pid", 0},
                      {"tid", static_cast<int>(stage)},
                      {"name", "thread_name"},
                      {"args", {{"name", name_of(stage)}}}});
  }
  double offset = 0;
  for (const ModeRecord& record : records) {
    if (record.times.intervals.empty()) continue;
    const double first = record.times.intervals.front().start;
    events.push_back({{"ph", "i"},
                      {"s", "g"},
                      {"pid", 0},
                      {"tid", 0},
                      {"ts", offset * micro},
                      {"name", record.series() + ", " + record.size}});
    for (const solvers::StageInterval& interval : record.times.intervals) {
      events.push_back({{"ph", "X"},
                        {"pid", 0},
                        {"tid", static_cast<int>(interval.stage)},
                        {"ts", (offset + interval.start - first) * micro},
                        {"dur", (interval.end - interval.start) * micro},
                        {"name", name_of(interval.stage)},
                        {"args", {{"variant", record.series()}, {"size", record.size}}}});
    }
    offset += record.times.intervals.back().end - first + gap;
  }
  return {{"displayTimeUnit", "ms"}, {"traceEvents", events}};
}

}  // namespace glinpack::app
