// Charts as SVG. Positions are per cent of the width: a chart scales with the page, while its text keeps its size.
// style.css has the colours and hatches.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/page/axis.hpp"
#include "app/page/html.hpp"

namespace glinpack::app {

/// The colour of a shape, and its hatch if there is room.
enum class Look { computing, transfer, network, waiting, idle, pivot, normalize, eliminate, reduce, outside, plain };

/// The look of a role's name: "pivot", "normalize", ...; `outside` for other names.
Look look_of_role(const std::string& role);
/// "pivot", ...; "outside the passes" if it is not a role.
std::string shown_role(const std::string& role);

/// Names with a sample of each look.
Html legend(const std::vector<std::pair<Look, std::string>>& entries);

struct BarPart {
  Look look = Look::plain;
  double length = 0;  // in the units of `full`
  std::string name;   // tooltip
};

struct Bar {
  std::string name;
  std::vector<BarPart> parts;
  std::string note;  // at its end
};

/// One horizontal bar each; `full` > 0 is the longest possible length. With `with_shares`, parts show their share if it
/// fits.
Html bar_chart(std::span<const Bar> bars, double full, bool with_shares);

struct Point {
  double x = 0, y = 0;
  double least = 0, most = 0;  // of y, over repetitions
  std::string note;            // tooltip
};

struct Series {
  std::string name;
  std::vector<Point> points;  // by x
};

struct LineChart {
  std::string title;  // for screen readers
  std::string x_name, y_name;
  Axis x, y;
  std::vector<Series> series;  // at most largest_series have distinct looks
};

inline constexpr std::size_t largest_series = 16;

Html line_chart(const LineChart& chart);

struct LaneSpan {
  double begin = 0, end = 0;
};

/// The spans of one look in a lane; `thin` if it only waits.
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

/// Lanes stacked over [0, length]. Marks (passes) are above, times below in a suitable unit.
Html lane_chart(std::span<const LaneGroup> groups, double length, const std::vector<LaneMark>& marks);

}  // namespace glinpack::app
