#include "app/modes/background_options.hpp"

#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

constexpr Index largest_systems = 1'000'000;

constexpr const char* background_examples =
    "  glinpack background --n 256 --systems 30 --ratio auto\n"
    "  glinpack background --n 128,256,384,512 --ratio 2 --json background.json\n"
    "  glinpack background --operation tridiagonal --n 512 --threads 1\n"
    "  glinpack background --operation gauss-jordan --input A.mtx --output x.npy\n";

std::string operations_help() {
  std::string text = "What a system is:";
  for (const BackgroundOperation& operation : background_operations()) {
    text += (text.back() == ':' ? " " : "; ") + std::string(operation.name) + ", " + operation.summary;
  }
  return text;
}

FieldValue operation_value(const BackgroundOperation*& option) {
  Texts names;
  for (const BackgroundOperation& operation : background_operations()) names.emplace_back(operation.name);
  return word(
      one_of(names), [&option, names](const std::string& t) { option = &background_operations()[choose(t, names)]; },
      [&option] { return std::string(option->name); });
}

double parse_ratio(std::string_view text) {
  double ratio = -1;
  try {
    ratio = parse_real(text);
  } catch (const InputError&) {
    // reported below
  }
  if (ratio < 0) {
    throw InputError(in_quotes(text) +
                     " is not a load ratio; auto, or a number of at least 0 is expected: systems that the processor "
                     "solves while the device solves one");
  }
  return ratio;
}

}  // namespace

OptionTable background_table(BackgroundOptions& o) {
  const std::vector<Field> more_problem{
      {"systems", whole(o.systems, 1, largest_systems), "Systems of every size"},
      {"operation", operation_value(o.operation), operations_help()},
      {"ratio", or_auto(real(o.ratio, "RATIO", parse_ratio), [&o] { o.ratio.reset(); }),
       "Systems that the processor solves while the device solves one; auto: measured, and adjusted meanwhile"},
  };
  return {.command = "background",
          .description =
              "Splits systems between the processor and a device that works in the background, by a load ratio;\n"
              "checks all answers, and compares with the processor alone and the device alone.",
          .footer = mode_footer(background_examples),
          .groups = mode_groups(
              o, {{"Problem", joined(problem_fields(o,
                                                    "A of every system, from a .npy or Matrix Market file, instead of "
                                                    "random numbers",
                                                    "The last system's result, as .npy or .mtx by the name"),
                                     more_problem)}})};
}

BackgroundOptions parse_background_options(const std::vector<std::string>& arguments) {
  const Parsed<BackgroundOptions> parsed = parse(arguments, background_table);
  check_one_source(parsed);
  return parsed.options;
}

}  // namespace glinpack::app
