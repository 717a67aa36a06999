// Writes a page of results: one self-contained HTML file. page.html, page.css and page.js make the page; this puts the
// results into it.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

/// The whole document in UTF-8; the same files give the same page. `title`: empty for the default. Throws InputError if
/// a file is not one that --json or --trace writes, or is given twice, and std::runtime_error if this glinpack was
/// built without the page.
std::string report_page(const std::vector<std::string>& paths, const std::string& title);

}  // namespace glinpack::app
