// `glinpack report`: writes a page of results.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/options/fields.hpp"

namespace glinpack::app {

struct ReportOptions {
  Texts files;  // at least one
  std::string output = "report.html";
  std::string title;  // empty: the default title
  bool force = false;
  std::optional<double> watts;  // mean power of the runs, by a wall meter
  std::string power_log;        // CSV of a power meter; empty: none
};

OptionTable report_table(ReportOptions& options);

ReportOptions parse_report_options(const Texts& arguments);

/// page.html with its styles and scripts; results replace `page_data_mark`. Empty if Chart.js was missing at build
/// time.
extern const std::string_view page_template;
inline constexpr std::string_view page_data_mark = "@DATA@";

/// The whole document in UTF-8; the same files give the same page. `title`: empty for the default. Throws InputError if
/// a file is not one that --json writes, or is given twice, and std::runtime_error if this glinpack was
/// built without the page.
std::string report_page(const std::vector<std::string>& paths, const std::string& title);

void run_report_command(const ReportOptions& options, std::ostream& out);

}  // namespace glinpack::app
