#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "app/page/chart.hpp"
#include "app/page/svg.hpp"

namespace glinpack::app {

namespace {

std::string x_of(const LineChart& chart, double x) { return percent(100 * chart.x.place(x)); }
std::string y_of(const LineChart& chart, double y) { return percent(100 - 100 * chart.y.place(y)); }

Html line(const std::string& kind, const std::string& x1, const std::string& y1, const std::string& x2,
          const std::string& y2) {
  return element("line", {{"class", kind}, {"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}}, {});
}

Html grid(const LineChart& chart) {
  Html lines;
  for (const double tick : chart.x.ticks) {
    lines += line("grid", x_of(chart, tick), "0", x_of(chart, tick), "100%");
  }
  for (const double tick : chart.y.ticks) {
    lines += line("grid", "0", y_of(chart, tick), "100%", y_of(chart, tick));
  }
  return lines;
}

/// Tick labels outside the plot's frame; CSS lets them overflow.
Html tick_names(const LineChart& chart) {
  Html names;
  for (const double tick : chart.y.ticks) {
    names += element("text", {{"class", "tick y"}, {"x", "-8"}, {"y", y_of(chart, tick)}, {"dy", "4"}},
                     escaped(tick_text(tick)));
  }
  for (const double tick : chart.x.ticks) {
    names += element("text", {{"class", "tick x"}, {"x", x_of(chart, tick)}, {"y", "100%"}, {"dy", "18"}},
                     escaped(chart.x.binary ? binary_tick_text(tick) : tick_text(tick)));
  }
  return names;
}

Html series_shapes(const LineChart& chart, const Series& series, const std::string& look, std::size_t index) {
  Html shapes;
  const std::vector<Point>& points = series.points;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    shapes += line("line", x_of(chart, points[i].x), y_of(chart, points[i].y), x_of(chart, points[i + 1].x),
                   y_of(chart, points[i + 1].y));
  }
  for (const Point& point : points) {
    const std::string x = x_of(chart, point.x);
    if (point.most > point.least) shapes += line("range", x, y_of(chart, point.least), x, y_of(chart, point.most));
    shapes += element("use", {{"href", fmt::format("#marker-{}", index % 8)}, {"x", x}, {"y", y_of(chart, point.y)}},
                      text_element("title", series.name + (series.name.empty() ? "" : ": ") + point.note));
  }
  return element("g", {{"class", look}}, shapes);
}

std::string series_class(std::size_t index) {
  return fmt::format("series series-{}{}", index % 8, index / 8 % 2 == 1 ? " dashed" : "");
}

Html series_legend(const std::vector<Series>& all) {
  if (all.size() < 2 && (all.empty() || all.front().name.empty())) return {};
  Html items;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Html sample = line("line", "0", "50%", "100%", "50%") +
                        element("use", {{"href", fmt::format("#marker-{}", i % 8)}, {"x", "50%"}, {"y", "50%"}}, {});
    items +=
        element("span", element("svg", {{"class", "sample wide " + series_class(i)}, {"aria-hidden", "true"}}, sample) +
                            escaped(all[i].name));
  }
  return element("p", {{"class", "legend"}}, items) + "\n"_html;
}

}  // namespace

Html line_chart(const LineChart& chart) {
  Html shapes = grid(chart) + tick_names(chart);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    shapes += series_shapes(chart, chart.series[i], series_class(i), i);
  }
  const Html plot = element("svg", {{"class", "plot"}, {"role", "img"}, {"aria-label", chart.title}}, shapes);
  return element("figure", {{"class", "chart"}},
                 element("div", {{"class", "y-name"}}, escaped(chart.y_name)) +
                     element("div", {{"class", "frame"}}, plot) +
                     element("div", {{"class", "x-name"}}, escaped(chart.x_name)) + series_legend(chart.series)) +
         "\n"_html;
}

}  // namespace glinpack::app
