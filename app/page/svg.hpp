// SVG helpers that the charts share.
#pragma once

#include <string>

#include "app/page/chart.hpp"

namespace glinpack::app {

/// "12.34%", with only the digits that are visible in a drawing.
std::string percent(double value);
/// "look-pivot", ...: the class in style.css.
std::string class_of(Look look);
/// Hatches and markers that the charts refer to. Must be in the page once, before the charts.
Html definitions();

}  // namespace glinpack::app
