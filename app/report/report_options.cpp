#include "app/report/report_options.hpp"

namespace glinpack::app {

namespace {

const Footer report_footer{
    .examples =
        "mpirun -np 4 glinpack plu --n 1000,2000,4000 --repeat 3 --json results.json --trace trace.json\n"
        "glinpack report results.json trace.json -o report.html\n"
        "glinpack report before.json after.json -o report.html --title Switches --force",
    .notes =
        {"The page has the runs with PASSED and FAILED, the best and median of each configuration, GFLOPS against N "
         "and GPUs, times by phase, role and rank, the timeline of traces, comparisons of files, hosts and versions. "
         "Tables sort and filter, the timeline zooms and pans. It is one file and needs no network. See "
         "docs/report-page.md."},
    .exit_codes = {
        {0, "written, whether runs PASSED or FAILED"}, {2, "unusable input"}, {3, "an error while writing"}}};

}  // namespace

OptionTable report_table(ReportOptions& o) {
  constexpr int most_files = 10'000;
  const std::vector<Field> files{
      {"FILE", positional(o.files, most_files),
       "Files that --json wrote (plu, network, the solvers, ceilings, tune), and traces of plu"},
  };
  const std::vector<Field> output{
      {"output,-o", text(o.output, "PAGE"), "The page to write"},
      {"title", text(o.title, "TEXT"), "Title of the page"},
      {"force", flag(o.force), "Overwrite an existing page"},
  };
  return {.command = "report",
          .description = "Writes an HTML page of results: tables, charts, timelines, comparisons.",
          .footer = report_footer,
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
