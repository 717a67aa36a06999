#include "app/modes/paranoia_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_text.hpp"

namespace glinpack::app {

namespace {

constexpr Index largest_samples = 10'000'000;

constexpr const char* paranoia_examples =
    "  glinpack paranoia\n"
    "  glinpack paranoia --part arithmetic --variant compute,cpu --samples 1000000 --seed 7\n"
    "  glinpack paranoia --part lu --n 64,128,256,512,1024 --matrix uniform --json paranoia.json\n";

constexpr const char* units =
    "\n"
    "Errors of operations are in units in the last place (ULP), of solutions in epsilon (2^-24 single, 2^-53 double).\n"
    "Exit code: 0 all that GLSL demands was met, and all factors pass HPL's test, 1 not so, 2 unusable input, 3 an "
    "error\n"
    "while running.";

const std::vector<std::string> parts{"arithmetic", "lu"};
const std::vector<std::string> variants{"compute", "fragment", "cpu"};
const std::vector<std::string> precisions{"single", "double"};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void define_paranoia_options(CLI::App& app, ParanoiaOptions& o) {
  describe_mode(
      app, "paranoia",
      "Measures the errors of +, -, x, /, fma and 1/x on a device and on the processor, against exact results\n"
      "and what GLSL demands, and how the error of LU grows with N on both.",
      paranoia_examples, units);
  define_mode_sizes(app, o);
  add(app, "--matrix", one_of(matrix_choices()), std::string(name_of(o.matrix)), "Of lu",
      [&o](const std::string& t) { o.matrix = parse_matrix(t); });
  add(app, "--samples", "COUNT", std::to_string(o.samples),
      "Random operands of every operation, besides directed ones that are always tried",
      [&o](const std::string& t) { o.samples = parse_whole(t, 0, largest_samples); });
  begin_group(app, "Variants");
  add_list(app, "--part", some_of(parts, {"all"}), "all", "What is measured; all: both",
           [&o](const std::vector<std::string>& v) { o.part = parse_names(v, parts); });
  add_list(
      app, "--variant", some_of(variants, {"all"}), "all",
      "compute: compute shaders; fragment: fragment shaders, of arithmetic in single precision; cpu: the processor; "
      "all: every one of them",
      [&o](const std::vector<std::string>& v) { o.variant = parse_names(v, variants); });
  add_list(app, "--precision", some_of(precisions, {"all"}), "all", "Precisions of the operands; all: both",
           [&o](const std::vector<std::string>& v) {
             o.precision.clear();
             for (const std::string& name : parse_names(v, precisions)) o.precision.push_back(parse_precision(name));
           });
  define_mode_machine(app, o);
  define_mode_files(app, o);
}

}  // namespace

bool ParanoiaOptions::has_part(const std::string& name) const { return contains(part, name); }
bool ParanoiaOptions::has_variant(const std::string& name) const { return contains(variant, name); }

ParanoiaOptions parse_paranoia_options(const std::vector<std::string>& arguments) {
  Parsed<ParanoiaOptions> parsed;
  parse_into(parsed, arguments, define_paranoia_options);
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

std::string paranoia_help() {
  ParanoiaOptions options;
  return help_of([&](CLI::App& app) { define_paranoia_options(app, options); });
}

nlohmann::json to_json(const ParanoiaOptions& o) {
  nlohmann::json json = mode_to_json(o);
  for (const char* name : {"input", "output", "repeat", "warm-up", "fit", "trace"}) json.erase(name);
  nlohmann::json precision = nlohmann::json::array();
  for (const Precision p : o.precision) precision.push_back(name_of(p));
  json.update({{"part", o.part},
               {"variant", o.variant},
               {"precision", precision},
               {"samples", o.samples},
               {"matrix", name_of(o.matrix)}});
  return json;
}

}  // namespace glinpack::app
