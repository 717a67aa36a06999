#include "app/report_options.hpp"

namespace glinpack::app {

namespace {

constexpr const char* report_examples =
    "Examples:\n"
    "  mpirun -np 4 glinpack plu --n 1000,2000,4000 --nb 128 --repeat 3 --json results.json --trace trace.json\n"
    "  glinpack report results.json trace.json -o report.html\n"
    "  glinpack report before/*.json after/*.json -o report.html --title \"New switches\" --force\n"
    "\n"
    "The page shows the runs with PASSED and FAILED, the best and median of each configuration, GFLOPS over N and\n"
    "over GPUs, where the time went, roles, phases and ranks, the timeline of the passes (of traces), comparisons of\n"
    "files, hosts and versions. Tables sort and filter; the timeline zooms and pans. The page is one file that works\n"
    "offline, on a phone, in dark colours and on paper. See docs/report-page.md.\n"
    "Exit code: 0 written, 2 unusable input, 3 an error while writing. Runs that FAILED are shown, and do not change "
    "it.";

}  // namespace

OptionTable report_table(ReportOptions& o) {
  constexpr int most_files = 10'000;
  const std::vector<Field> files{
      {"FILE", positional(o.files, most_files),
       "What --json wrote (plu, network, the standalone modes, ceilings, tune), and --trace of plu"},
  };
  const std::vector<Field> output{
      {"output,-o", text(o.output, "PAGE"), "The page to write"},
      {"title", text(o.title, "TEXT"), "Title of the page instead of its own"},
      {"force", flag(o.force), "Overwrite a page that exists"},
  };
  return {.command = "report",
          .description = "Writes one HTML page about results: tables, charts, timelines, comparisons.",
          .footer = report_examples,
          .groups = {{"", files}, {"Output", output}}};
}

ReportOptions parse_report_options(const Texts& arguments) {
  const ReportOptions options = parse(arguments, report_table).options;
  if (options.files.empty()) {
    throw InputError(
        "no file is given; name what --json wrote, for example: glinpack report results.json -o report.html");
  }
  return options;
}

}  // namespace glinpack::app
