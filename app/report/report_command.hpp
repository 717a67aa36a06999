// `glinpack report`: writes a page of results.
#pragma once

#include <iosfwd>

#include "app/report/report_options.hpp"

namespace glinpack::app {

/// Reads the files, writes the page and reports it on `out`. Throws InputError before writing for errors that the user
/// can correct, std::runtime_error for others.
void run_report_command(const ReportOptions& options, std::ostream& out);

}  // namespace glinpack::app
