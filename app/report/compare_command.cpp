#include "app/report/compare_command.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "app/program/outputs.hpp"
#include "app/program/program_context.hpp"
#include "app/record/text.hpp"

namespace glinpack::app {

namespace {

const Footer compare_footer{
    .examples =
        "glinpack compare before.json after.json\n"
        "glinpack compare openblas.json gl-compute.json --ignore backend\n"
        "glinpack compare reference.json today.json --fail-below 0.95 --json comparison.json",
    .notes =
        {"Runs match if all parameters that decide what is computed are equal. Matching runs of one file are "
         "repetitions (--repeat of plu). The ratio is the speed of b divided by that of a: more than 1 means that b is "
         "faster. It is the ratio of the medians; its range is that of all pairs of repetitions. b is faster or slower "
         "if Mann and Whitney's test says so with at least --confidence: 90 % needs three repetitions in each file. "
         "Standalone modes keep minimum, median and maximum of their repetitions: ranges must then not overlap. Runs "
         "that FAILED have no speed. See docs/report-page.md."},
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

using nlohmann::json;

/// The names of the compared runs, and their common parameters.
struct Names {
  std::set<std::string> differ;
  std::string common;
};

Names names_of(const Comparison& comparison) {
  std::vector<Parameters> all;
  for (const ComparedPair& pair : comparison.pairs) all.push_back(pair.a.parameters);
  for (const Measurement& one : comparison.only_a) all.push_back(one.parameters);
  for (const Measurement& one : comparison.only_b) all.push_back(one.parameters);
  Names names{.differ = differing(all), .common = {}};
  if (all.size() == 1) names.differ = {"n", "nb", "grid", "size", "variant", "settings", "of", "what"};
  if (!all.empty()) names.common = listed(all.front(), names.differ, false);
  return names;
}

using Row = std::vector<std::string>;

/// A table: every column is as wide as its widest cell. The first and the last column are left-aligned, others
/// right-aligned.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += i == 0 || i + 1 == row.size() ? fmt::format("{:<{}}", row[i], widths[i])
                                            : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string only_lines(const char* which, const std::vector<Measurement>& measurements, const Names& names) {
  std::string text;
  for (const Measurement& one : measurements) {
    text += fmt::format("  of {} alone: {}, {} {}\n", which, free_text(listed(one.parameters, names.differ)),
                        measured_text(one, "none"), one.quantity);
  }
  return text;
}

json measurement_json(const Measurement& measurement) {
  const std::optional<Measured> spread = measurement.spread();
  return {{"median", spread ? json(spread->median) : json()},
          {"least", spread ? json(spread->min) : json()},
          {"most", spread ? json(spread->max) : json()},
          {"repetitions", spread ? spread->repetitions : 0},
          {"failed", measurement.failed}};
}

json parameters_json(const Measurement& measurement) {
  json parameters = json::object();
  for (const auto& [name, value] : measurement.parameters) parameters[name] = value;
  return parameters;
}

json only_json(const std::vector<Measurement>& measurements) {
  json all = json::array();
  for (const Measurement& one : measurements) {
    all.push_back(
        {{"parameters", parameters_json(one)}, {"quantity", one.quantity}, {"measured", measurement_json(one)}});
  }
  return all;
}

json pair_json(const ComparedPair& pair) {
  json all{{"parameters", parameters_json(pair.a)},
           {"quantity", pair.a.quantity},
           {"a", measurement_json(pair.a)},
           {"b", measurement_json(pair.b)},
           {"ratio", nullptr},
           {"least", nullptr},
           {"most", nullptr},
           {"confidence", nullptr},
           {"finding", pair.finding}};
  if (const auto& speed = pair.speed) {
    all.update(
        {{"ratio", speed->ratio}, {"least", speed->min}, {"most", speed->max}, {"confidence", speed->confidence}});
  }
  return all;
}

/// A name of --ignore is an error if no run has that parameter.
void check_ignored(const std::set<std::string>& ignored, const ResultFile& a) {
  std::set<std::string> known;
  for (const Measurement& one : measurements_of(a)) {
    for (const auto& [name, value] : one.parameters) known.insert(name);
  }
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& name : ignored) {
    if (known.contains(name)) continue;
    throw InputError("--ignore: " + in_quotes(name) + " is not one of " + enumerate(names) + did_you_mean(name, names));
  }
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
      {"confidence", real(o.confidence, "PERCENT", parse_confidence), "Confidence of findings, in per cent", "90"},
      {"fail-below", real(o.fail_below, "RATIO", parse_ratio),
       "Exit with code 1 if the speed of b is less than RATIO times that of a"},
  };
  const std::vector<Field> output{
      {"json", text(o.json, "FILE"), "Write the comparison as JSON (docs/compare.schema.json)"},
      {"force", flag(o.force), "Overwrite an existing file"},
  };
  return {.command = "compare",
          .description = "Compares the speeds of the runs in two result files by a rank test.",
          .footer = compare_footer,
          .groups = {{"", files}, {"Matching", matching}, {"Judging", judging}, {"Output", output}}};
}

CompareOptions parse_compare_options(const Texts& arguments) {
  const CompareOptions options = parse(arguments, compare_table).options;
  if (options.files.size() == 2) return options;
  throw InputError("two files are compared, not " + std::to_string(options.files.size()) +
                   "; for example: glinpack compare before.json after.json");
}

std::vector<std::string> shortfalls_of(const Comparison& comparison, double fail_below) {
  const Names names = names_of(comparison);
  std::vector<std::string> found;
  const auto add = [&](const Measurement& one, const std::string& why) {
    found.push_back(free_text(listed(one.parameters, names.differ)) + ": " + why);
  };
  for (const ComparedPair& pair : comparison.pairs) {
    if (pair.b.failed > 0) add(pair.b, fmt::format("{} of b FAILED", pair.b.failed));
    if (!pair.speed && pair.a.spread() && pair.b.failed == 0) add(pair.b, "b has no result");
    if (pair.speed && pair.speed->ratio < fail_below) {
      add(pair.a, fmt::format("the ratio {:.3f} is below {}", pair.speed->ratio, fail_below));
    }
  }
  for (const Measurement& one : comparison.only_a) add(one, "b has no such run");
  return found;
}

std::string comparison_text(const ResultFile& a, const ResultFile& b, const Comparison& comparison) {
  const Names names = names_of(comparison);
  const auto file = [](const char* letter, const ResultFile& f) {
    const std::string missing = f.context.incomplete.empty() ? "" : fmt::format("   {}\n", f.context.incomplete);
    return fmt::format("{}: {} (glinpack {}{}{})\n{}", letter, f.path, free_text(f.context.version),
                       f.context.git_commit.empty() ? "" : " ", free_text(f.context.git_commit), missing);
  };
  std::string text = file("a", a) + file("b", b);
  if (!names.common.empty()) text += "All runs: " + free_text(names.common) + "\n";
  std::vector<Row> rows{{"run", "a", "b", "in", "speed b/a", "range", "finding"}};
  for (const ComparedPair& pair : comparison.pairs) {
    std::string finding(pair.finding);
    if (pair.a.failed + pair.b.failed > 0) {
      finding += fmt::format("; FAILED: {} of a, {} of b", pair.a.failed, pair.b.failed);
    }
    const auto& speed = pair.speed;
    rows.push_back({free_text(listed(pair.a.parameters, names.differ)), measured_text(pair.a, "none"),
                    measured_text(pair.b, "none"), pair.a.quantity, speed ? fmt::format("{:.3f}", speed->ratio) : "-",
                    speed ? fmt::format("{:.3f} ... {:.3f}", speed->min, speed->max) : "-", finding});
  }
  text += "\n" + aligned(rows);
  const std::string alone = only_lines("a", comparison.only_a, names) + only_lines("b", comparison.only_b, names);
  return text + (alone.empty() ? "" : "\nNot matched:\n" + alone);
}

json comparison_json(const ResultFile& a, const ResultFile& b, const Comparison& comparison) {
  json pairs = json::array();
  for (const ComparedPair& pair : comparison.pairs) pairs.push_back(pair_json(pair));
  const auto file = [](const ResultFile& f) {
    return json{{"file", f.path},
                {"version", f.context.version},
                {"git_commit", f.context.git_commit},
                {"incomplete", null_if_empty(f.context.incomplete)}};
  };
  return {{"format", 2},
          {"a", file(a)},
          {"b", file(b)},
          {"pairs", pairs},
          {"only_a", only_json(comparison.only_a)},
          {"only_b", only_json(comparison.only_b)}};
}

int run_compare_command(const CompareOptions& options, const std::vector<std::string>& command_line,
                        std::ostream& out) {
  check_output("--json", options.json, options.force, options.files);
  const ResultFile a = read_result_file(options.files[0]), b = read_result_file(options.files[1]);
  check_ignored(options.ignored, a);
  const Comparison comparison = compare(a, b, options.ignored, options.confidence / 100);
  if (comparison.pairs.empty()) {
    throw InputError(b.path + ": has no run with the parameters of one of " + a.path +
                     "; --ignore leaves parameters out that may differ");
  }
  std::string text = comparison_text(a, b, comparison);
  const std::vector<std::string> shortfalls =
      options.fail_below ? shortfalls_of(comparison, *options.fail_below) : std::vector<std::string>{};
  if (!shortfalls.empty()) text += "\nFAILED, --fail-below:\n";
  for (const std::string& shortfall : shortfalls) text += "  " + shortfall + '\n';
  json document = comparison_json(a, b, comparison);
  json configuration = to_json(options, compare_table);
  configuration.update({{"a", a.path}, {"b", b.path}});
  document["context"] = program_context(command_line, configuration);
  document["shortfalls"] = shortfalls;
  write_findings(out, text, options.json, options.force, document);
  return shortfalls.empty() ? 0 : 1;
}

}  // namespace glinpack::app
