#include "app/report_options.hpp"

#include "app/option_set.hpp"

namespace glinpack::app {

namespace {

constexpr const char* report_examples =
    "Examples:\n"
    "  mpirun -np 4 glinpack plu --n 1000,2000,4000 --nb 128 --repeat 3 --json results.json --trace trace.json\n"
    "  glinpack report results.json trace.json -o report.html\n"
    "  glinpack report before/*.json after/*.json -o report.html --title \"New switches\" --force\n"
    "\n"
    "The page holds tables of runs with PASSED and FAILED, GFLOPS against N, where the time went, roles and ranks, "
    "the\n"
    "timeline of the passes (of traces), files beside each other, hosts and versions. It needs no other file, no "
    "network\n"
    "and no script; it adapts to a telephone, to dark screens and to paper. Times are in seconds, rates in GFLOPS "
    "(10^9\n"
    "operations a second) and GB/s (10^9 bytes a second). See docs/report-page.md.\n"
    "Exit code: 0 written, 2 unusable input, 3 an error while writing. Runs that FAILED are shown, and do not change "
    "it.";

constexpr int most_files = 10'000;

void define_report_options(CLI::App& app, ReportOptions& o) {
  describe(app, "glinpack report", "Writes one HTML page about results: tables, charts, timelines, comparisons.",
           report_examples);
  add_positional(app, "FILE",
                 "What --json wrote (plu, network, the standalone modes, ceilings, tune), and --trace of plu",
                 most_files, o.files);
  begin_group(app, "Output");
  add(app, "--output,-o", "PAGE", "report.html", "The page to write", [&o](const std::string& text) {
    if (text.empty()) throw InputError("the name is empty");
    o.output = text;
  });
  add_text(app, "--title", "TEXT", "Title of the page instead of its own", o.title);
  add_flag(app, "--force", "Overwrite a page that exists", [&o] { o.force = true; });
}

}  // namespace

ReportOptions parse_report_options(const std::vector<std::string>& arguments) {
  ReportOptions options;
  parse_arguments(arguments, [&](CLI::App& app) { define_report_options(app, options); });
  if (options.files.empty()) {
    throw InputError(
        "no file is given; name what --json wrote, for example: glinpack report results.json -o report.html");
  }
  return options;
}

std::string report_help() {
  ReportOptions options;
  return help_of([&](CLI::App& app) { define_report_options(app, options); });
}

}  // namespace glinpack::app
