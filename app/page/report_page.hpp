// A page of results: one HTML file that needs no other, no network and no script.
#pragma once

#include <string>

#include "app/page/page_data.hpp"

namespace glinpack::app {

/// The whole document, UTF-8. The same data gives the same page.
std::string report_page(const PageData& data);

}  // namespace glinpack::app
