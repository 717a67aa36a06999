#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "app/page/chart.hpp"
#include "app/page/svg.hpp"

namespace glinpack::app {

namespace {

constexpr double least_labelled = 9;  // per cent of the width, the minimum for a readable label

Html part_title(const BarPart& part, double share) {
  return text_element("title", fmt::format("{}: {:.3g} %", part.name, share));
}

Html bar_svg(const Bar& bar, double full, bool with_shares) {
  Html shapes;
  double start = 0;
  for (const BarPart& part : bar.parts) {
    const double share = std::min(100 * part.length / full, 100 - start);
    if (share <= 0) continue;
    shapes += element("rect",
                      {{"class", class_of(part.look)},
                       {"x", percent(start)},
                       {"width", percent(share)},
                       {"y", "1"},
                       {"height", "20"}},
                      part_title(part, share));
    if (with_shares && share >= least_labelled) {
      shapes +=
          element("text", {{"class", "on " + class_of(part.look)}, {"x", percent(start + share / 2)}, {"y", "15.5"}},
                  escaped(fmt::format("{:.0f} %", share)));
    }
    start += share;
  }
  return element("svg", {{"class", "track"}, {"height", "22"}, {"role", "img"}, {"aria-label", bar.name}}, shapes);
}

}  // namespace

Html bar_chart(std::span<const Bar> bars, double full, bool with_shares) {
  Html rows;
  for (const Bar& bar : bars) {
    rows += element("div", {{"class", "bar"}},
                    element("span", {{"class", "name"}}, escaped(bar.name)) + bar_svg(bar, full, with_shares) +
                        element("span", {{"class", "note"}}, escaped(bar.note))) +
            "\n"_html;
  }
  return element("div", {{"class", "bars"}}, "\n"_html + rows) + "\n"_html;
}

Html legend(const std::vector<std::pair<Look, std::string>>& entries) {
  Html items;
  for (const auto& [look, name] : entries) {
    const Html sample = element("rect", {{"class", class_of(look)}, {"width", "100%"}, {"height", "100%"}}, {});
    items += element("span", element("svg", {{"class", "sample"}, {"aria-hidden", "true"}}, sample) + escaped(name));
  }
  return element("p", {{"class", "legend"}}, items) + "\n"_html;
}

}  // namespace glinpack::app
