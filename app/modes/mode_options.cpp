#include "app/modes/mode_options.hpp"

#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>

#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

constexpr int largest_count = 1'000'000;
constexpr int largest_device = 4096;
constexpr int largest_threads = 4096;

std::vector<Field> measuring_fields(ModeOptions& o) {
  return {
      {"repeat", whole(o.repeat, 1, largest_count), "Repetitions of every measurement"},
      {"warm-up", whole(o.warm_up, 0, largest_count), "Runs before them that do not count"},
      {"fit", flag(o.fit),
       "Fit a polynomial in N to the times by weighted least squares, and compare its dominant coefficient with the "
       "processor's"},
  };
}

std::vector<Field> machine_fields(ModeOptions& o) {
  return {
      {"device", whole(o.device, 0, largest_device, "INDEX"), "EGL device, as `glinpack devices` counts",
       "the first that is hardware, else software"},
      {"threads", whole(o.threads, 1, largest_threads), "Threads of the host", "cores"},
      {"shader-dir", text(o.shader_dir, "DIR"), "GLSL files here override the built-in ones"},
  };
}

std::vector<Field> output_fields(ModeOptions& o, bool with_trace) {
  const Field trace{"trace", text(o.trace, "FILE"),
                    "The stages of every result in Chrome's trace format, for ui.perfetto.dev"};
  return joined(
      {
          {"output-dir", text(o.output_dir, "DIR"),
           "Folder for the files below, made if missing; without names: report.txt, results.json, results.csv"},
          {"json", text(o.json, "FILE"), "All results as JSON (docs/solver.schema.json)"},
          {"csv", text(o.csv, "FILE"), "One line per result"},
      },
      with_trace ? std::vector{trace} : std::vector<Field>{},
      std::vector<Field>{
          {"force", flag(o.force), "Overwrite output files that exist"},
          {"progress", choice(o.progress, all_whens), "Progress on stderr; auto: from runs of seconds on"},
      });
}

}  // namespace

Field size_field(ModeOptions& o) { return {"n", wholes(o.n, 1, largest_n, "N,..."), "Sizes, in rows"}; }

Field seed_field(ModeOptions& o) { return {"seed", whole(o.seed, 0, LLONG_MAX, "SEED"), "Seed of random numbers"}; }

std::vector<Field> problem_fields(ModeOptions& o, const std::string& input_help, const std::string& output_help) {
  return {size_field(o),
          seed_field(o),
          {"input", text(o.input, "FILE"), input_help},
          {"output", text(o.output, "FILE"), output_help}};
}

Field variant_field(Texts& option, Texts variants, const std::string& host, const std::string& default_text) {
  variants.push_back(host);
  return {"variant", names_value(option, std::move(variants)), "The ways to compute it; all: every one of them",
          default_text};
}

std::vector<FieldGroup> mode_groups(ModeOptions& o, std::vector<FieldGroup> own, bool with_times) {
  if (with_times) own.push_back({"Measuring", measuring_fields(o)});
  own.push_back({"Machine", machine_fields(o)});
  own.push_back({"Output", output_fields(o, with_times)});
  own.push_back({"Configuration", {config_field(o.config)}});
  return own;
}

std::string mode_footer(const std::string& examples, const std::string& more_codes) {
  return "Examples:\n" + examples +
         "\n"
         "Times are in seconds, rates in GFLOPS (10^9 operations a second), the median of the repetitions unless said\n"
         "otherwise. Exit code: 0 all checks passed, 1 one failed, 2 unusable input, 3 an error while running" +
         more_codes + ".";
}

Texts parse_names(const Texts& values, const Texts& names) {
  if (values == Texts{"all"}) return names;
  Texts chosen;
  for (const std::string& value : values) {
    if (value == "all") throw InputError("'all' stands in a list with other values; give it alone, or values alone");
    const std::string& name = names[choose(value, names, "all")];
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.push_back(name);
  }
  return chosen;
}

FieldValue list_value(std::string type, std::function<void(const Texts&)> read, std::function<Texts()> print) {
  return {.form = FieldValue::Form::list,
          .type = std::move(type),
          .read = std::move(read),
          .json = [print = std::move(print)] { return nlohmann::json(print()); }};
}

FieldValue names_value(Texts& option, Texts names) {
  std::string type = some_of(names, {"all"});
  return list_value(
      std::move(type), [&option, names = std::move(names)](const Texts& t) { option = parse_names(t, names); },
      [&option] { return option; });
}

FieldValue or_auto(FieldValue value, std::function<void()> reset) {
  return {.type = value.type + "|auto",
          .read = [read = value.read,
                   reset = std::move(reset)](const Texts& texts) { texts.front() == "auto" ? reset() : read(texts); },
          .json =
              [json = value.json] {
                const nlohmann::json set = json();
                return set.is_null() ? nlohmann::json("auto") : set;
              }};
}

}  // namespace glinpack::app
