// What the charts' drawings have in common.
#pragma once

#include <string>

#include "app/page/chart.hpp"

namespace glinpack::app {

/// "12.34%": without digits that nobody sees.
std::string percent(double value);
/// "look-pivot", ...: the class in style.css.
std::string class_of(Look look);
/// Hatches and markers that the charts refer to: once in a page, before them.
Html definitions();

}  // namespace glinpack::app
