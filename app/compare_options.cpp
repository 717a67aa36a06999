#include "app/compare_options.hpp"

#include <nlohmann/json.hpp>

#include "app/input/values.hpp"

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

double parse_confidence(std::string_view text) {
  const double per_cent = parse_real(text);
  if (per_cent > 0 && per_cent < 100) return per_cent;
  throw InputError(in_quotes(text) + " is out of range; per cent, more than 0 and less than 100, are expected");
}

double parse_ratio(std::string_view text) {
  const double ratio = parse_real(text);
  if (ratio > 0) return ratio;
  throw InputError(in_quotes(text) + " is out of range; a ratio of more than 0 is expected, such as 0.95");
}

}  // namespace

OptionTable compare_table(CompareOptions& o) {
  constexpr int two_and_more = 1000;  // checked here, because CLI11's message for a third file is unclear
  const FieldValue ignored{.form = FieldValue::Form::list,
                           .type = "NAME,...",
                           .read = [&o](const Texts& names) { o.ignored = std::set(names.begin(), names.end()); },
                           .json = [&o] { return nlohmann::json(o.ignored); }};
  const std::vector<Field> files{
      {"FILE", positional(o.files, two_and_more), "Two files that --json wrote: a, which is compared with, and b"},
  };
  const std::vector<Field> matching{
      {"ignore", ignored, "Parameters that may differ: backend, nb, grid, precision, pivoting, ...", "none"},
  };
  const std::vector<Field> judging{
      {"confidence", real(o.confidence, "PERCENT", parse_confidence), "Confidence of intervals and findings", "90"},
      {"fail-below", real(o.fail_below, "RATIO", parse_ratio),
       "Exit code 1 where b has less than so much of the speed of a"},
  };
  const std::vector<Field> output{
      {"json", text(o.json, "FILE"), "The comparison as JSON (docs/compare.schema.json)"},
      {"force", flag(o.force), "Overwrite a file that exists"},
  };
  return {.command = "compare",
          .description = "Compares the runs of two result files: which is faster, and is that more than chance?",
          .footer = compare_examples,
          .groups = {{"", files}, {"Matching", matching}, {"Judging", judging}, {"Output", output}}};
}

CompareOptions parse_compare_options(const Texts& arguments) {
  const CompareOptions options = parse(arguments, compare_table).options;
  if (options.files.size() == 2) return options;
  throw InputError(std::to_string(options.files.size()) +
                   " files are given; two are expected, for example: glinpack compare before.json after.json");
}

}  // namespace glinpack::app
