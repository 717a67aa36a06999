#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "app/compare/comparison.hpp"
#include "app/page/chart.hpp"
#include "app/page/numbers.hpp"
#include "app/page/sections.hpp"

namespace glinpack::app {

namespace {

constexpr std::size_t most_bars = 60;

/// GFLOPS of the repetitions that passed or were not checked.
std::vector<double> speeds_of(const RunGroup& group) {
  std::vector<double> speeds;
  for (const PluRun* run : group.runs) {
    if (run->verdict != Verdict::failed && run->gflops && *run->gflops > 0) speeds.push_back(*run->gflops);
  }
  return speeds;
}

struct SpeedChart {
  std::vector<Series> series;
  bool best_alone = false;  // of groups with equal name and n, only the fastest is shown
};

/// One series per combination of the parameters `names`.
SpeedChart series_by(std::span<const RunGroup> groups, const std::set<std::string>& names) {
  SpeedChart chart;
  std::map<std::string, std::map<std::int64_t, Point>> series;
  for (const RunGroup& group : groups) {
    const std::vector<double> speeds = speeds_of(group);
    if (speeds.empty()) continue;
    const Measured spread = spread_of(speeds);
    const std::int64_t n = group.middle->n;
    const std::string note = fmt::format("N {}: {} GFLOPS ({})", n, figures(spread.median), group.name);
    const Point point{static_cast<double>(n), spread.median, spread.least, spread.most, note};
    auto [place, is_new] = series[listed(group.parameters, names)].try_emplace(n, point);
    if (is_new) continue;
    chart.best_alone = true;
    if (point.y > place->second.y) place->second = point;
  }
  for (const auto& [name, points] : series) {
    chart.series.push_back({.name = name, .points = {}});
    for (const auto& [n, point] : points) chart.series.back().points.push_back(point);
  }
  return chart;
}

/// The series, limited to a number that a picture can distinguish.
SpeedChart series_of(std::span<const RunGroup> groups) {
  std::vector<Parameters> all;
  for (const RunGroup& group : groups) all.push_back(group.parameters);
  std::set<std::string> names = differing(all);
  names.erase("n");
  constexpr std::size_t readable = 8;
  const std::vector<std::set<std::string>> choices{
      names, {"file", "backend", "precision", "hardware", "grid"}, {"backend", "precision", "hardware"}, {"backend"}};
  SpeedChart chart;
  for (const std::set<std::string>& choice : choices) {
    std::set<std::string> kept;
    std::set_intersection(choice.begin(), choice.end(), names.begin(), names.end(), std::inserter(kept, kept.end()));
    chart = series_by(groups, kept);
    if (chart.series.size() <= readable) break;
  }
  if (chart.series.size() > largest_series) chart.series.resize(largest_series);
  return chart;
}

Html chart_of(const SpeedChart& speeds) {
  LineChart chart{
      .title = "GFLOPS against N", .x_name = "N", .y_name = "GFLOPS", .x = {}, .y = {}, .series = speeds.series};
  std::vector<double> xs, ys;
  for (const Series& series : speeds.series) {
    for (const Point& point : series.points) {
      xs.push_back(point.x);
      ys.insert(ys.end(), {point.y, point.least, point.most});
    }
  }
  chart.x = axis_of(xs, 7, 1.3);
  chart.y = axis_of(ys, 6, 1.7);
  return line_chart(chart);
}

/// Used if all runs have one N, for which a line would be a point.
Html bars_of(std::span<const RunGroup> groups) {
  std::vector<Bar> bars;
  double most = 0;
  for (const RunGroup& group : groups) {
    const std::vector<double> speeds = speeds_of(group);
    if (speeds.empty()) continue;
    const Measured spread = spread_of(speeds);
    most = std::max(most, spread.median);
    const std::string range =
        speeds.size() == 1 ? "" : fmt::format(" ({} to {})", figures(spread.least), figures(spread.most));
    bars.push_back({.name = group.name,
                    .parts = {{Look::plain, spread.median, "GFLOPS"}},
                    .note = figures(spread.median) + range});
  }
  std::stable_sort(bars.begin(), bars.end(),
                   [](const Bar& a, const Bar& b) { return a.parts.front().length > b.parts.front().length; });
  const std::size_t all = bars.size();
  if (bars.size() > most_bars) bars.resize(most_bars);
  if (bars.empty()) return {};
  Html html = bar_chart(bars, most, false);
  if (all > bars.size()) html += text_element("p", fmt::format("The fastest {} of {}.", bars.size(), all));
  return html;
}

}  // namespace

Html speed_section(std::span<const RunGroup> groups) {
  const SpeedChart speeds = series_of(groups);
  if (speeds.series.empty()) return {};
  std::set<double> orders;
  for (const Series& series : speeds.series) {
    for (const Point& point : series.points) orders.insert(point.x);
  }
  const bool one_order = orders.size() == 1;
  Html html = element("h2", {{"id", "speed"}}, escaped(one_order ? "GFLOPS" : "GFLOPS against N"));
  html += one_order ? bars_of(groups) : chart_of(speeds);
  std::string caption = one_order ? fmt::format("N = {:.0f}. ", *orders.begin()) : "";
  caption += "Medians of the repetitions";
  if (!one_order) caption += ", vertical lines from the least to the most";
  if (!one_order && speeds.best_alone) caption += "; of runs that share a line and N, the fastest";
  return html + element("p", {{"class", "faint"}}, escaped(caption + ". Runs that failed are left out.")) + "\n"_html;
}

}  // namespace glinpack::app
