#include "app/modes/paranoia_options.hpp"

#include <algorithm>
#include <array>

namespace glinpack::app {

namespace {

constexpr Index largest_samples = 10'000'000;

constexpr const char* paranoia_footer =
    "Examples:\n"
    "  glinpack paranoia\n"
    "  glinpack paranoia --part arithmetic --variant compute,cpu --samples 1000000 --seed 7\n"
    "  glinpack paranoia --part lu --n 64,128,256,512,1024 --matrix uniform --json paranoia.json\n"
    "\n"
    "Errors of operations are in units in the last place (ULP), of solutions in epsilon (2^-24 single, 2^-53 double).\n"
    "Exit code: 0 all that GLSL demands was met, and all factors pass HPL's test, 1 not so, 2 unusable input, 3 an "
    "error\n"
    "while running.";

constexpr std::array measured_precisions{Precision::single, Precision::double_};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool ParanoiaOptions::has_part(const std::string& name) const { return contains(part, name); }
bool ParanoiaOptions::has_variant(const std::string& name) const { return contains(variant, name); }

OptionTable paranoia_table(ParanoiaOptions& o) {
  const std::vector<Field> problem{
      size_field(o),
      seed_field(o),
      {"matrix", choice(o.matrix, matrix_formulas), "Of lu"},
      {"samples", whole(o.samples, 0, largest_samples),
       "Random operands of every operation, besides directed ones that are always tried"},
  };
  const std::vector<Field> variants{
      {"part", names_value(o.part, {"arithmetic", "lu"}), "What is measured; all: both", "all"},
      {"variant", names_value(o.variant, {"compute", "fragment", "cpu"}),
       "compute: compute shaders; fragment: fragment shaders, of arithmetic in single precision; cpu: the processor; "
       "all: every one of them",
       "all"},
      {"precision", kinds_value(o.precision, measured_precisions), "Precisions of the operands; all: both", "all"},
  };
  return {.command = "paranoia",
          .description =
              "Measures the errors of +, -, x, /, fma and 1/x on a device and on the processor, against exact results\n"
              "and what GLSL demands, and how the error of LU grows with N on both.",
          .footer = paranoia_footer,
          .groups = mode_groups(o, {{"Problem", problem}, {"Variants", variants}}, false)};
}

ParanoiaOptions parse_paranoia_options(const std::vector<std::string>& arguments) {
  const Parsed<ParanoiaOptions> parsed = parse(arguments, paranoia_table);
  const ParanoiaOptions& o = parsed.options;
  if (o.variant == std::vector<std::string>{"fragment"}) {
    if (!o.has_part("arithmetic")) throw InputError("--variant fragment: --part lu has compute and cpu only");
    if (o.precision == std::vector<Precision>{Precision::double_}) {
      throw InputError(
          "--variant fragment: fragment shaders draw in single precision only; --precision double needs "
          "--variant compute or cpu");
    }
  }
  return parsed.options;
}

}  // namespace glinpack::app
