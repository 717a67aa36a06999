#include "app/modes/mode_options.hpp"

#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_text.hpp"

namespace glinpack::app {

namespace {

constexpr int largest_count = 1'000'000;
constexpr int largest_device = 4096;
constexpr int largest_threads = 4096;

}  // namespace

std::string mode_units(const std::string& more_codes) {
  return "\n"
         "Times are in seconds, rates in GFLOPS (10^9 operations a second), the median of the repetitions unless said\n"
         "otherwise. Exit code: 0 all checks passed, 1 one failed, 2 unusable input, 3 an error while running" +
         more_codes + ".";
}

void describe_mode(CLI::App& app, const std::string& name, const std::string& description, const std::string& examples,
                   const std::string& units) {
  describe(app, "glinpack " + name, description, "Examples:\n" + examples + units);
}

void define_mode_orders(CLI::App& app, ModeOptions& o) {
  begin_group(app, "Problem");
  add_list(app, "--n", "N,...", list_text(o.n), "Sizes, in rows", [&o](const std::vector<std::string>& values) {
    o.n.clear();
    for (const std::string& value : values) o.n.push_back(parse_whole(value, 1, largest_n));
  });
}

void define_mode_sizes(CLI::App& app, ModeOptions& o) {
  define_mode_orders(app, o);
  add(app, "--seed", "SEED", std::to_string(o.seed), "Seed of random numbers",
      [&o](const std::string& t) { o.seed = static_cast<std::uint64_t>(parse_whole(t, 0, LLONG_MAX)); });
}

void define_mode_problem(CLI::App& app, ModeOptions& o, const std::string& input_help, const std::string& output_help) {
  define_mode_sizes(app, o);
  add_text(app, "--input", "FILE", input_help, o.input);
  add_text(app, "--output", "FILE", output_help, o.output);
}

void define_mode_measuring(CLI::App& app, ModeOptions& o) {
  begin_group(app, "Measuring");
  add(app, "--repeat", "COUNT", std::to_string(o.repeat), "Repetitions of every measurement",
      [&o](const std::string& t) { o.repeat = static_cast<int>(parse_whole(t, 1, largest_count)); });
  add(app, "--warm-up", "COUNT", std::to_string(o.warm_up), "Runs before them that do not count",
      [&o](const std::string& t) { o.warm_up = static_cast<int>(parse_whole(t, 0, largest_count)); });
  add_flag(
      app, "--fit",
      "Fit a polynomial in N to the times by weighted least squares, and compare its dominant coefficient with the "
      "processor's",
      [&o] { o.fit = true; });
}

void define_mode_machine(CLI::App& app, ModeOptions& o) {
  begin_group(app, "Machine");
  add(app, "--device", "INDEX", "the first that is hardware, else software", "EGL device, as `glinpack devices` counts",
      [&o](const std::string& t) { o.device = static_cast<int>(parse_whole(t, 0, largest_device)); });
  add(app, "--threads", "COUNT", "cores", "Threads of the host",
      [&o](const std::string& t) { o.threads = static_cast<int>(parse_whole(t, 1, largest_threads)); });
  add_text(app, "--shader-dir", "DIR", "GLSL files here override the built-in ones", o.shader_dir);
}

namespace {

void define_outputs(CLI::App& app, ModeOptions& o, bool with_trace) {
  begin_group(app, "Output");
  add_text(app, "--output-dir", "DIR",
           "Folder for the files below, made if missing; without names: report.txt, results.json, results.csv",
           o.output_dir);
  add_text(app, "--json", "FILE", "All results as JSON (docs/solver.schema.json)", o.json);
  add_text(app, "--csv", "FILE", "One line per result", o.csv);
  if (with_trace) {
    add_text(app, "--trace", "FILE", "The stages of every result in Chrome's trace format, for ui.perfetto.dev",
             o.trace);
  }
  add_flag(app, "--force", "Overwrite output files that exist", [&o] { o.force = true; });
  add(app, "--progress", one_of(when_choices()), "auto", "Progress on stderr; auto: from runs of seconds on",
      [&o](const std::string& t) { o.progress = parse_when(t); });
  begin_group(app, "Configuration");
  define_config_option(app, o.config);
}

}  // namespace

void define_mode_output(CLI::App& app, ModeOptions& o) { define_outputs(app, o, true); }
void define_mode_files(CLI::App& app, ModeOptions& o) { define_outputs(app, o, false); }

nlohmann::json mode_to_json(const ModeOptions& o) {
  const auto number = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  const auto text = [](const std::string& value) { return value.empty() ? nlohmann::json() : nlohmann::json(value); };
  return {{"n", o.n},
          {"seed", o.seed},
          {"input", text(o.input)},
          {"output", text(o.output)},
          {"repeat", o.repeat},
          {"warm-up", o.warm_up},
          {"fit", o.fit},
          {"device", number(o.device)},
          {"threads", number(o.threads)},
          {"shader-dir", text(o.shader_dir)},
          {"output-dir", text(o.output_dir)},
          {"json", text(o.json)},
          {"csv", text(o.csv)},
          {"trace", text(o.trace)},
          {"force", o.force},
          {"progress", text_of(o.progress)}};
}

std::vector<std::string> parse_names(const std::vector<std::string>& values, std::span<const std::string> choices) {
  if (values == std::vector<std::string>{"all"}) return {choices.begin(), choices.end()};
  std::vector<std::string> names;
  for (const std::string& value : values) {
    if (value == "all") throw InputError("'all' stands in a list with other values; give it alone, or values alone");
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
      throw InputError(in_quotes(value) + " is not one of " + enumerate(choices) + ", nor all" +
                       did_you_mean(value, choices));
    }
    if (std::find(names.begin(), names.end(), value) == names.end()) names.push_back(value);
  }
  return names;
}

std::string list_text(const std::vector<Index>& values) {
  std::string text;
  for (const Index value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

}  // namespace glinpack::app
