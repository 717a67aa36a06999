// The page without results, from page.html. CMake generates the definition (cmake/EmbedPage.cmake).
#pragma once

#include <string_view>

namespace glinpack::app {

/// page.html with its styles and scripts; results replace `page_data_mark`. Empty if Chart.js was missing at build
/// time.
extern const std::string_view page_template;
inline constexpr std::string_view page_data_mark = "@DATA@";

}  // namespace glinpack::app
