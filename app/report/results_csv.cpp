#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "app/report/breakdown.hpp"
#include "app/report/report.hpp"

namespace glinpack::app {
namespace {

constexpr std::string_view head_line =
    "n,nb,p,q,time,gflops,residual,passed,precision,backend,pivoting,broadcast,order,repeat,factor_seconds,"
    "solve_seconds,computing_seconds,transfer_seconds,network_seconds,network_exposed_seconds,idle_seconds,epsilon,"
    "threshold,growth,singular_column,start_time,device,failure,compute_only\n";

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); }

std::string line_of(const RunRecord& record) {
  const RunParameters& parameters = record.parameters;
  const RunResult& result = record.result;
  const Breakdown breakdown = break_down(result);
  const bool timed = !breakdown.phases.empty();
  const auto mean = [timed](const Spread& spread) { return timed ? number(spread.mean) : std::string(); };
  const bool answered = result.checked && !result.singular_column;

  const std::vector<std::string> fields{
      fmt::format("{}", parameters.n),
      fmt::format("{}", parameters.nb),
      fmt::format("{}", record.grid.rows),
      fmt::format("{}", record.grid.columns),
      number(result.seconds),
      number(result.gflops),
      answered ? number(result.residual.scaled) : "",
      result.checked ? (result.passed ? "true" : "false") : "",
      std::string(name_of(record.precision)),
      record.backend,
      std::string(name_of(parameters.pivoting)),
      std::string(name_of(parameters.broadcast)),
      record.order == RankOrder::row_major ? "row-major" : "column-major",
      fmt::format("{}", record.repeat),
      number(result.factor_seconds),
      number(result.solve_seconds),
      mean(breakdown.computing),
      mean(breakdown.transfer),
      mean(breakdown.network),
      mean(breakdown.network_exposed),
      mean(breakdown.idle),
      number(epsilon_of(record.precision)),
      number(parameters.threshold),
      number(result.growth),
      result.singular_column ? fmt::format("{}", *result.singular_column) : "",
      number(result.start_time),
      result.ranks.empty() ? "" : result.ranks.front().backend.device,
      result.failure,
      parameters.parts == RunParts::compute ? "true" : "false",
  };
  std::string line;
  for (const std::string& field : fields) {
    if (!line.empty()) line += ',';
    line += csv_field(field);
  }
  line += '\n';
  return line;
}

}  // namespace

std::string results_csv(std::span<const RunRecord> records) {
  std::string text(head_line);
  for (const RunRecord& record : records) text += line_of(record);
  return text;
}

}  // namespace glinpack::app
