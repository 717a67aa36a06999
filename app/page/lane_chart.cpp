#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "app/page/chart.hpp"
#include "app/page/svg.hpp"

namespace glinpack::app {

namespace {

constexpr double width = 2000;  // of a lane's drawing, in its own units; the narrowest span is 1

/// Converts spans to units of the drawing. Each is at least 1 wide; spans less than 1 apart are merged.
std::vector<LaneSpan> merged(std::vector<LaneSpan> spans, double length) {
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<LaneSpan> pieces;
  for (const LaneSpan& span : spans) {
    const double begin = span.begin / length * width, end = std::max(span.end / length * width, begin + 1);
    if (!pieces.empty() && begin - pieces.back().end < 1) {
      pieces.back().end = std::max(pieces.back().end, end);
    } else {
      pieces.push_back({begin, end});
    }
  }
  return pieces;
}

std::string path_of(const std::vector<LaneSpan>& pieces, bool thin) {
  std::string path;
  for (const LaneSpan& piece : pieces) {
    path += fmt::format("M{:.0f},{}h{:.0f}v{}h-{:.0f}z", piece.begin, thin ? 6 : 1, piece.end - piece.begin,
                        thin ? 2 : 12, piece.end - piece.begin);
  }
  return path;
}

Html lane_svg(const TimelineLane& lane, double length) {
  Html paths;
  for (const LaneShape& shape : lane.shapes) {
    const std::vector<LaneSpan> pieces = merged(shape.spans, length);
    if (pieces.empty()) continue;
    paths += element("path", {{"class", class_of(shape.look)}, {"d", path_of(pieces, shape.thin)}}, {});
  }
  return element("svg",
                 {{"class", "lane"},
                  {"viewBox", fmt::format("0 0 {:.0f} 14", width)},
                  {"preserveAspectRatio", "none"},
                  {"role", "img"},
                  {"aria-label", lane.name}},
                 paths);
}

/// The unit of time in which the length is easy to read.
std::tuple<double, std::string> unit_of(double length) {
  if (length >= 1) return {1, "s"};
  if (length >= 1e-3) return {1e3, "ms"};
  return {1e6, "us"};
}

Html time_axis(double length) {
  const auto [scale, unit] = unit_of(length);
  const Axis axis = linear_axis(0, length * scale, 6);
  Html names;
  for (const double tick : axis.ticks) {
    const double place = 100 * tick / (length * scale);
    if (place > 100.01) continue;
    const char* anchor = place < 4 ? "start" : place > 96 ? "end" : "middle";
    names += element("text", {{"class", "tick"}, {"x", percent(place)}, {"y", "13"}, {"text-anchor", anchor}},
                     escaped(tick_text(tick) + " " + unit));
  }
  return element("svg", {{"class", "times"}, {"height", "18"}, {"aria-hidden", "true"}}, names);
}

Html mark_axis(const std::vector<LaneMark>& marks, double length) {
  Html names;
  double last = -100;
  constexpr double room = 7;  // per cent of the width for a mark's name
  for (const LaneMark& mark : marks) {
    const double place = 100 * mark.at / length;
    if (place - last < room || place > 100) continue;
    last = place;
    names += element(
        "line", {{"class", "grid"}, {"x1", percent(place)}, {"x2", percent(place)}, {"y1", "0"}, {"y2", "18"}}, {});
    names += element("text", {{"class", "tick"}, {"x", percent(place)}, {"dx", "3"}, {"y", "13"}}, escaped(mark.name));
  }
  return element("svg", {{"class", "times"}, {"height", "18"}, {"aria-hidden", "true"}}, names);
}

Html lane_row(const std::string& name, const Html& drawing, Markup kind) {
  return element("div", {{"class", std::string(kind.view())}},
                 element("span", {{"class", "name"}}, escaped(name)) + drawing) +
         "\n"_html;
}

}  // namespace

Html lane_chart(std::span<const LaneGroup> groups, double length, const std::vector<LaneMark>& marks) {
  Html rows;
  if (!marks.empty()) rows += lane_row("pass", mark_axis(marks, length), "row");
  for (const LaneGroup& group : groups) {
    rows += element("div", {{"class", "group"}}, escaped(group.name)) + "\n"_html;
    for (const TimelineLane& lane : group.lanes) rows += lane_row(lane.name, lane_svg(lane, length), "row");
  }
  rows += lane_row("", time_axis(length), "row");
  return element("div", {{"class", "lanes"}}, "\n"_html + rows) + "\n"_html;
}

}  // namespace glinpack::app
