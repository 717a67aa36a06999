#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/page/chart.hpp"
#include "app/page/numbers.hpp"
#include "app/page/sections.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t most_mode_rows = 1000;

std::string spread_text(const std::optional<Measured>& measured) {
  if (!measured) return "-";
  if (measured->repetitions == 1) return duration(measured->median);
  return duration(measured->median) + fmt::format(" ({} to {})", duration(measured->least), duration(measured->most));
}

Verdict verdict_of(const ModeRow& row) { return row.passed ? Verdict::passed : Verdict::failed; }

Html rows_table(const ModeResults& mode) {
  Table table({{"variant"},
               {"settings"},
               {"size", Align::right},
               {"precision"},
               {"computing", Align::right},
               {"with packing and transfer", Align::right},
               {"GFLOPS", Align::right},
               {"speed-up", Align::right},
               {"error", Align::right},
               {"check"}});
  const std::size_t shown = std::min(mode.rows.size(), most_mode_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const ModeRow& row = mode.rows[i];
    table.row({escaped(row.variant + (row.rival ? " (host)" : "")), escaped(row.settings), escaped(row.size),
               escaped(row.precision), escaped(spread_text(row.seconds)),
               escaped(row.with_all ? duration(row.with_all->median) : "-"), escaped(figures(row.gflops)),
               escaped(figures(row.speedup)), escaped(row.error ? fmt::format("{:.2e}", *row.error) : "-"),
               verdict_html(verdict_of(row))});
  }
  Html html = table.empty() ? Html() : table.html();
  if (shown < mode.rows.size())
    html += text_element("p", fmt::format("The first {} of {} rows.", shown, mode.rows.size()));
  return html;
}

/// Times over n of results that passed; one line per variant and settings.
Html times_chart(const ModeResults& mode) {
  std::map<std::string, std::map<std::int64_t, Point>> series;
  std::vector<double> xs, ys;
  for (const ModeRow& row : mode.rows) {
    if (!row.passed || !row.seconds || row.seconds->least <= 0) continue;
    const std::string name = row.variant + (row.settings.empty() ? "" : ", " + row.settings) +
                             (row.precision == "single" ? "" : ", " + row.precision);
    const Measured& s = *row.seconds;
    series[name].try_emplace(
        row.n, Point{static_cast<double>(row.n), s.median, s.least, s.most, row.size + ": " + duration(s.median)});
    xs.push_back(static_cast<double>(row.n));
    ys.insert(ys.end(), {s.median, s.least, s.most});
  }
  if (series.empty() || series.size() > largest_series || std::set<double>(xs.begin(), xs.end()).size() < 2) return {};
  LineChart chart{.title = mode.mode + ": seconds against n",
                  .x_name = "n",
                  .y_name = "seconds, computation alone",
                  .x = axis_of(xs, 7, 1.3),
                  .y = axis_of(ys, 6, 1),
                  .series = {}};
  for (const auto& [name, points] : series) {
    chart.series.push_back({.name = name, .points = {}});
    for (const auto& [n, point] : points) chart.series.back().points.push_back(point);
  }
  return line_chart(chart);
}

}  // namespace

Html modes_section(const PageData& data) {
  if (data.modes.empty()) return {};
  Html html = element("h2", {{"id", "modes"}}, escaped("Standalone modes"));
  for (const auto& [file, mode] : data.modes) {
    html += text_element("h3", mode.mode + ": " + data.files[file].name);
    const std::string device =
        mode.device.empty() ? "The host alone" : mode.device + (mode.software ? " (software OpenGL)" : "");
    html += element("p", {{"class", "faint"}},
                    escaped(fmt::format("{}; host {}: {}, {} thread{}.", device, mode.host, mode.processor,
                                        mode.threads, mode.threads == 1 ? "" : "s")));
    html += times_chart(mode) + rows_table(mode);
  }
  return html;
}

Html measured_section(const PageData& data) {
  if (data.measured.empty()) return {};
  Html html = element("h2", {{"id", "ceilings"}}, escaped("Ceilings and tuning"));
  for (const auto& [file, groups] : data.measured) {
    html += text_element("h3", name_of(data.files[file].kind) + ": " + data.files[file].name);
    for (const MeasuredGroup& group : groups) {
      Table table(
          {{"what"}, {"median", Align::right}, {"least", Align::right}, {"most", Align::right}, {"unit"}, {"result"}});
      for (const MeasuredRow& row : group.rows) {
        table.row({escaped(row.what), escaped(figures(row.value.median)), escaped(figures(row.value.least)),
                   escaped(figures(row.value.most)), escaped(row.unit), escaped(row.passed ? "right" : "WRONG")});
      }
      html += text_element("h4", group.name) + table.html();
    }
  }
  return html;
}

}  // namespace glinpack::app
