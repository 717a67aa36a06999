#include "app/report/report_command.hpp"

#include <ostream>

#include "app/program/outputs.hpp"
#include "app/report/report_page.hpp"

namespace glinpack::app {

void run_report_command(const ReportOptions& options, std::ostream& out) {
  check_not_input("--output", options.output, options.files);
  check_output("--output", options.output, options.force);
  const std::string page = report_page(options.files, options.title);
  write_file(options.output, options.force, [&](std::ostream& file) { file << page; });
  out << options.output << '\n' << std::flush;
}

}  // namespace glinpack::app
