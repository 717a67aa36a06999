#include "app/compare_options.hpp"

#include "app/input/values.hpp"
#include "app/option_set.hpp"

namespace glinpack::app {

namespace {

constexpr const char* compare_examples =
    "Examples:\n"
    "  glinpack compare before.json after.json\n"
    "  glinpack compare openblas.json gl-compute.json --ignore backend\n"
    "  glinpack compare reference.json today.json --fail-below 0.95 --json comparison.json\n"
    "\n"
    "Runs are matched by all that decides what is computed; runs with the same parameters are repetitions (--repeat "
    "of\n"
    "plu). The ratio is that of speeds, b to a: GFLOPS of plu, and of times the reverse, so that more than 1 always "
    "means\n"
    "that b is faster. It is the median over all pairs of repetitions; its interval is between two of these ordered "
    "ratios\n"
    "and holds the true one with --confidence at least (Hodges and Lehmann), which takes three repetitions of each "
    "for\n"
    "90 %. Standalone modes keep least, median and most of their repetitions: the interval is then the widest. Runs "
    "that\n"
    "FAILED have no speed. See docs/report-page.md.\n"
    "Exit code: 0 compared, 1 with --fail-below: a ratio is below it, or a run of a has no result in b, 2 unusable "
    "input\n"
    "or no run in common, 3 an error while writing.";

double parse_confidence(const std::string& text) {
  const double per_cent = parse_real(text);
  if (per_cent > 0 && per_cent < 100) return per_cent / 100;
  throw InputError(in_quotes(text) + " is out of range; per cent, more than 0 and less than 100, are expected");
}

double parse_ratio(const std::string& text) {
  const double ratio = parse_real(text);
  if (ratio > 0) return ratio;
  throw InputError(in_quotes(text) + " is out of range; a ratio of more than 0 is expected, such as 0.95");
}

struct Given {
  CompareOptions options;
  std::vector<std::string> files;
};

void define_compare_options(CLI::App& app, Given& given) {
  constexpr int two_and_more = 1000;  // CLI11 would take a third for a mistake of another kind
  CompareOptions& o = given.options;
  describe(app, "glinpack compare",
           "Compares the runs of two result files: which is faster, and is that more than chance?", compare_examples);
  add_positional(app, "FILE", "Two files that --json wrote: a, which is compared with, and b", two_and_more,
                 given.files);
  begin_group(app, "Matching");
  add_list(app, "--ignore", "NAME,...", "none",
           "Parameters that may differ: backend, nb, grid, precision, pivoting, ...",
           [&o](const std::vector<std::string>& names) { o.ignored.insert(names.begin(), names.end()); });
  begin_group(app, "Judging");
  add(app, "--confidence", "PERCENT", "90", "Confidence of intervals and findings",
      [&o](const std::string& t) { o.confidence = parse_confidence(t); });
  add(app, "--fail-below", "RATIO", "", "Exit code 1 where b has less than so much of the speed of a",
      [&o](const std::string& t) { o.fail_below = parse_ratio(t); });
  begin_group(app, "Output");
  add_text(app, "--json", "FILE", "The comparison as JSON (docs/compare.schema.json)", o.json);
  add_flag(app, "--force", "Overwrite a file that exists", [&o] { o.force = true; });
}

}  // namespace

CompareOptions parse_compare_options(const std::vector<std::string>& arguments) {
  Given given;
  parse_arguments(arguments, [&](CLI::App& app) { define_compare_options(app, given); });
  if (given.files.size() != 2) {
    throw InputError(std::to_string(given.files.size()) +
                     " files are given; two are expected, for example: "
                     "glinpack compare before.json after.json");
  }
  given.options.a = given.files[0];
  given.options.b = given.files[1];
  return given.options;
}

std::string compare_help() {
  Given given;
  return help_of([&](CLI::App& app) { define_compare_options(app, given); });
}

}  // namespace glinpack::app
