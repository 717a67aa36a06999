#include "app/modes/background_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_text.hpp"

namespace glinpack::app {

namespace {

constexpr Index largest_systems = 1'000'000;

constexpr const char* background_examples =
    "  glinpack background --n 256 --systems 30 --ratio auto\n"
    "  glinpack background --n 128,256,384,512 --ratio 2 --json background.json\n"
    "  glinpack background --operation tridiagonal --n 512 --threads 1\n"
    "  glinpack background --operation gauss-jordan --input A.mtx --output x.npy\n";

std::vector<std::string> operation_choices() {
  std::vector<std::string> names;
  for (const BackgroundOperation& operation : background_operations()) names.emplace_back(operation.name);
  return names;
}

std::string operations_help() {
  std::string text = "What a system is:";
  for (const BackgroundOperation& operation : background_operations()) {
    text += (text.back() == ':' ? " " : "; ") + std::string(operation.name) + ", " + operation.summary;
  }
  return text;
}

const BackgroundOperation* parse_operation(const std::string& text) {
  const auto operations = background_operations();
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [&](const BackgroundOperation& operation) { return text == operation.name; });
  if (found != operations.end()) return &*found;
  throw InputError(in_quotes(text) + " is not one of " + enumerate(operation_choices()) +
                   did_you_mean(text, operation_choices()));
}

std::optional<double> parse_ratio(const std::string& text) {
  if (text == "auto") return std::nullopt;
  double ratio = -1;
  try {
    ratio = parse_real(text);
  } catch (const InputError&) {
    // said below
  }
  if (ratio < 0) {
    throw InputError(in_quotes(text) +
                     " is not a load ratio; auto, or a number of at least 0 is expected: systems that the processor "
                     "solves while the device solves one");
  }
  return ratio;
}

void define_background_options(CLI::App& app, BackgroundOptions& o) {
  describe_mode(app, "background",
                "Splits systems between the processor and a device that works in the background, by a load ratio;\n"
                "checks all answers, and compares with the processor alone and the device alone.",
                background_examples);
  define_mode_problem(app, o, "A of every system, from a .npy or Matrix Market file, instead of random numbers",
                      "The last system's result, as .npy or .mtx by the name");
  add(app, "--systems", "COUNT", std::to_string(o.systems), "Systems of every size",
      [&o](const std::string& t) { o.systems = parse_whole(t, 1, largest_systems); });
  add(app, "--operation", one_of(operation_choices()), o.operation->name, operations_help(),
      [&o](const std::string& t) { o.operation = parse_operation(t); });
  add(app, "--ratio", "RATIO|auto", "auto",
      "Systems that the processor solves while the device solves one; auto: measured, and adjusted meanwhile",
      [&o](const std::string& t) { o.ratio = parse_ratio(t); });
  define_mode_measuring(app, o);
  define_mode_machine(app, o);
  define_mode_output(app, o);
}

}  // namespace

BackgroundOptions parse_background_options(const std::vector<std::string>& arguments) {
  Parsed<BackgroundOptions> parsed;
  parse_into(parsed, arguments, define_background_options);
  check_one_source(parsed);
  return parsed.options;
}

std::string background_help() {
  BackgroundOptions options;
  return help_of([&](CLI::App& app) { define_background_options(app, options); });
}

nlohmann::json to_json(const BackgroundOptions& o) {
  nlohmann::json json = mode_to_json(o);
  json.update({{"systems", o.systems},
               {"operation", o.operation->name},
               {"ratio", o.ratio ? nlohmann::json(*o.ratio) : nlohmann::json("auto")}});
  return json;
}

}  // namespace glinpack::app
