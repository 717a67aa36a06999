// Writes a page of results: one self-contained HTML file without scripts.
#pragma once

#include <string>

#include "app/page/page_data.hpp"

namespace glinpack::app {

/// The whole document in UTF-8. Deterministic.
std::string report_page(const PageData& data);

}  // namespace glinpack::app
