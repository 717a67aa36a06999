#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "app/page/numbers.hpp"
#include "app/page/sections.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t most_run_rows = 2000;

std::vector<Table::Column> columns_of(const PageData& data) {
  std::vector<Table::Column> columns{{"check"}};  // first: narrow screens show it without scrolling
  if (data.several_files()) columns.push_back({"file"});
  for (const char* name : {"N", "NB"}) columns.push_back({name, Align::right});
  columns.push_back({"P x Q"});
  for (const char* name : {"backend", "precision", "pivoting"}) columns.push_back({name});
  columns.push_back({"T/V"});
  columns.push_back({"time", Align::right, "s"});
  columns.push_back({"GFLOPS", Align::right});
  columns.push_back({"scaled residual", Align::right});
  return columns;
}

std::vector<Html> cells_of(const PageData& data, std::size_t file, const PluRun& run) {
  std::vector<Html> cells;
  const auto add = [&](const std::string& text) { cells.push_back(escaped(text)); };
  cells.push_back(verdict_html(run.verdict));
  if (data.several_files()) add(data.files[file].name);
  add(std::to_string(run.n));
  add(std::to_string(run.nb));
  add(fmt::format("{} x {}", run.p, run.q));
  add(run.backend + (run.hardware.empty() ? "" : " (software)"));
  add(run.precision);
  add(run.pivoting);
  cells.push_back(text_element("code", run.variant));
  add(figures(run.seconds));
  add(figures(run.gflops));
  add(run.residual ? fmt::format("{:.3e}", *run.residual) : "-");
  return cells;
}

}  // namespace

Html runs_section(const PageData& data) {
  if (data.runs.empty()) return {};
  Table table(columns_of(data));
  const std::size_t shown = std::min(data.runs.size(), most_run_rows);
  for (std::size_t i = 0; i < shown; ++i) table.row(cells_of(data, data.runs[i].file, data.runs[i].content));
  Html html = element("h2", {{"id", "runs"}}, escaped("Runs")) + table.html();
  if (shown < data.runs.size()) {
    html += text_element("p", fmt::format("The first {} of {} runs.", shown, data.runs.size()));
  }
  return html + R"(<p class="faint">T/V is HPL's code of the variant: <code>glinpack variant CODE</code> explains it.
 The scaled residual is HPL's, with the epsilon of the precision: 2<sup>-24</sup> for single, else 2<sup>-53</sup>.
 Only double precision with partial pivoting is what HPL computes.</p>
)"_html;
}

}  // namespace glinpack::app
