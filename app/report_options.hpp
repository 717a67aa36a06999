// Everything that `glinpack report` can be told.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

struct ReportOptions {
  std::vector<std::string> files;  // at least one
  std::string output = "report.html";
  std::string title;  // empty: the page's own
  bool force = false;
};

/// `arguments`: what follows `glinpack report`. Throws InputError.
ReportOptions parse_report_options(const std::vector<std::string>& arguments);

/// What `glinpack report --help` prints.
std::string report_help();

}  // namespace glinpack::app
