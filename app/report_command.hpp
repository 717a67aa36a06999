// `glinpack report`: a page about results.
#pragma once

#include <iosfwd>

#include "app/report_options.hpp"

namespace glinpack::app {

/// Reads the files, writes the page, says so on `out`. Throws InputError for what the user can mend before anything is
/// written, std::runtime_error for the rest.
void run_report_command(const ReportOptions& options, std::ostream& out);

}  // namespace glinpack::app
