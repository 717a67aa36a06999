// Charts as SVG. Positions are per cent of the width, so that a chart fills a telephone as it fills a desk, its text
// keeping its size; colours and hatches come from style.css.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/page/axis.hpp"
#include "app/page/html.hpp"

namespace glinpack::app {

/// How something is drawn: its colour, and its hatch where there is room for one.
enum class Look { computing, transfer, network, waiting, idle, pivot, normalize, eliminate, reduce, outside, plain };

/// Of a role's name: "pivot", "normalize", ..., else `outside`.
Look look_of_role(const std::string& role);
/// "pivot", ...; "outside the passes" of what is no role.
std::string shown_role(const std::string& role);

/// Names beside samples of their looks.
Html legend(const std::vector<std::pair<Look, std::string>>& entries);

struct BarPart {
  Look look = Look::plain;
  double length = 0;  // in the units of `full`
  std::string name;   // what a pointer that rests on it is told
};

struct Bar {
  std::string name;
  std::vector<BarPart> parts;
  std::string note;  // at its end
};

/// A horizontal bar for each, the longest possible being `full`, which is more than 0. Parts write their share where it
/// fits and `with_shares` asks for it.
Html bar_chart(std::span<const Bar> bars, double full, bool with_shares);

struct Point {
  double x = 0, y = 0;
  double least = 0, most = 0;  // of y, over repetitions
  std::string note;            // what a pointer that rests on it is told
};

struct Series {
  std::string name;
  std::vector<Point> points;  // by x
};

struct LineChart {
  std::string title;  // for readers that see no picture
  std::string x_name, y_name;
  Axis x, y;
  std::vector<Series> series;  // largest_series at most are told apart
};

inline constexpr std::size_t largest_series = 16;

Html line_chart(const LineChart& chart);

struct LaneSpan {
  double begin = 0, end = 0;
};

/// What one look does in a lane; `thin` while it only waits.
struct LaneShape {
  Look look = Look::plain;
  bool thin = false;
  std::vector<LaneSpan> spans;
};

struct TimelineLane {
  std::string name;
  std::vector<LaneShape> shapes;
};

struct LaneGroup {
  std::string name;
  std::vector<TimelineLane> lanes;
};

struct LaneMark {
  double at = 0;
  std::string name;
};

/// Lanes under one another over [0, length]; marks (passes) above, times below, in seconds or parts of it.
Html lane_chart(std::span<const LaneGroup> groups, double length, const std::vector<LaneMark>& marks);

}  // namespace glinpack::app
