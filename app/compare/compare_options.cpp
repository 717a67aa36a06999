#include "app/compare/compare_options.hpp"

#include <nlohmann/json.hpp>

#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

const Footer compare_footer{
    .examples =
        "glinpack compare before.json after.json\n"
        "glinpack compare openblas.json gl-compute.json --ignore backend\n"
        "glinpack compare reference.json today.json --fail-below 0.95 --json comparison.json",
    .notes =
        {"Runs match if all parameters that decide what is computed are equal. Matching runs of one file are "
         "repetitions (--repeat of plu). The ratio is the speed of b divided by that of a: more than 1 means that b "
         "is faster. It is the median over all pairs of repetitions; its interval contains the true ratio with at "
         "least --confidence (Hodges and Lehmann). An interval with 90 % needs three repetitions in each file. "
         "Standalone modes keep minimum, median and maximum of their repetitions: the interval is then the widest. "
         "Runs that FAILED have no speed. See docs/report-page.md."},
    .exit_codes = {{0, "compared"},
                   {1, "with --fail-below: a ratio is below it, or a run of a has no result in b"},
                   {2, "unusable input, or no run in common"},
                   {3, "an error while writing"}}};

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
      {"FILE", positional(o.files, two_and_more), "Two files that --json wrote: the baseline a, and b"},
  };
  const std::vector<Field> matching{
      {"ignore", ignored, "Parameters that may differ: backend, nb, grid, precision, pivoting, ...", "none"},
  };
  const std::vector<Field> judging{
      {"confidence", real(o.confidence, "PERCENT", parse_confidence),
       "Confidence of intervals and findings, in per cent", "90"},
      {"fail-below", real(o.fail_below, "RATIO", parse_ratio),
       "Exit with code 1 if the speed of b is less than RATIO times that of a"},
  };
  const std::vector<Field> output{
      {"json", text(o.json, "FILE"), "Write the comparison as JSON (docs/compare.schema.json)"},
      {"force", flag(o.force), "Overwrite an existing file"},
  };
  return {.command = "compare",
          .description = "Compares the speeds of the runs in two result files, with confidence intervals.",
          .footer = compare_footer,
          .groups = {{"", files}, {"Matching", matching}, {"Judging", judging}, {"Output", output}}};
}

CompareOptions parse_compare_options(const Texts& arguments) {
  const CompareOptions options = parse(arguments, compare_table).options;
  if (options.files.size() == 2) return options;
  throw InputError(std::to_string(options.files.size()) +
                   " files are given; two are expected, for example: glinpack compare before.json after.json");
}

}  // namespace glinpack::app
