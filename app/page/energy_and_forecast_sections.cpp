#include <spdlog/fmt/fmt.h>

#include "app/page/numbers.hpp"
#include "app/page/sections.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t most_energy_rows = 2000;

/// A section with one row per run that has data, and a note; empty if no run has data. `columns` and `cells` follow the
/// run's name and repetition.
template <class Cells>
Html section_of_runs(std::span<const RunGroup> groups, const char* id, const char* heading,
                     const std::vector<Table::Column>& columns, const Cells& cells, const Html& remark) {
  std::vector<Table::Column> all{{"run"}, {"repetition", Align::right}};
  all.insert(all.end(), columns.begin(), columns.end());
  Table table(std::move(all));
  std::size_t found = 0;
  for (const RunGroup& group : groups) {
    for (const PluRun* run : group.runs) {
      std::vector<Html> row{escaped(group.name), escaped(std::to_string(run->repeat + 1))};
      const std::vector<Html> more = cells(*run);
      if (more.empty() || ++found > most_energy_rows) continue;
      row.insert(row.end(), more.begin(), more.end());
      table.row(row);
    }
  }
  if (found == 0) return {};
  Html html = element("h2", {{"id", id}}, escaped(heading)) + table.html();
  if (found > most_energy_rows) html += text_element("p", fmt::format("The first {} of {} runs.", most_energy_rows, found));
  return html + remark;
}

std::vector<Html> energy_cells(const PluRun& run) {
  if (!run.energy) return {};
  const RunEnergy& energy = *run.energy;
  return {escaped(figures(energy.joules)), escaped(figures(energy.average_watts)), escaped(figures(energy.peak_watts)),
          escaped(figures(energy.gflops_per_watt)),
          escaped(energy.scope + (energy.rough ? "; rough: a short run" : ""))};
}

std::string source_of(const RunPrediction& prediction) {
  const bool passes = prediction.from == "first passes";
  const std::int64_t count = passes ? prediction.passes : prediction.runs;
  return fmt::format("{} {}{}", count, passes ? "first pass" : "earlier run", count == 1 ? "" : passes ? "es" : "s");
}

std::vector<Html> forecast_cells(const PluRun& run) {
  if (!run.prediction) return {};
  const RunPrediction& prediction = *run.prediction;
  return {escaped(prediction.part == "run" ? "run" : "factorisation"), escaped(figures(prediction.expected_seconds)),
          escaped(figures(prediction.measured_seconds)), escaped(fmt::format("{:.2f}", prediction.ratio)),
          escaped(source_of(prediction))};
}

}  // namespace

Html energy_section(std::span<const RunGroup> groups) {
  return section_of_runs(
      groups, "energy", "Energy",
      {{"energy", Align::right, "J"},
       {"mean", Align::right, "W"},
       {"most", Align::right, "W"},
       {"GFLOPS/W", Align::right},
       {"of"}},
      energy_cells,
      R"(<p class="faint">Of factorisation and solution, by the sensors that could be read; no GFLOPS/W where some
 of the run's nodes or GPUs could not.</p>
)"_html);
}

Html forecast_section(std::span<const RunGroup> groups) {
  return section_of_runs(
      groups, "forecast", "Expected and measured",
      {{"of"},
       {"expected", Align::right, "s"},
       {"measured", Align::right, "s"},
       {"measured / expected", Align::right},
       {"figures from"}},
      forecast_cells,
      R"(<p class="faint">What the model of <code>glinpack plan</code> expected, its figures fitted to what was
 measured before. Well above 1 something came in between: a clock that fell, a neighbour, waits that the model does
 not know.</p>
)"_html);
}

}  // namespace glinpack::app
