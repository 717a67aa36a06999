#include "app/modes/tridiagonal_options.hpp"

#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_text.hpp"

namespace glinpack::app {

namespace {

using solvers::Share;
using solvers::TridiagonalVariant;

constexpr Index largest_steps = 64;

constexpr const char* tridiagonal_examples =
    "  glinpack tridiagonal --systems 1024 --n 512\n"
    "  glinpack tridiagonal --variant all --systems 64,1024 --n 128,512 --csv times.csv\n"
    "  glinpack tridiagonal --variant cyclic-reduction,lapack --systems 1 --n 1000000 --steps auto\n"
    "  glinpack tridiagonal --input A.mtx --input-b B.npy --output X.npy\n";

std::vector<std::string> tridiagonal_variant_choices() {
  std::vector<std::string> names;
  for (const TridiagonalVariant variant : solvers::all_tridiagonal_variants) names.emplace_back(name_of(variant));
  names.emplace_back("lapack");
  return names;
}

Share parse_share(const std::string& text) {
  const std::vector<std::string> choices{"auto", "16", "all"};
  if (text == "auto") return Share::automatic;
  if (text == "16") return Share::sixteen;
  if (text == "all") return Share::system;
  throw InputError(in_quotes(text) + " is not one of " + enumerate(choices) + did_you_mean(text, choices));
}

const char* text_of(Share share) { return share == Share::automatic ? "auto" : share == Share::sixteen ? "16" : "all"; }

void define_variants(CLI::App& app, TridiagonalOptions& o) {
  begin_group(app, "Variants");
  add_list(app, "--variant", some_of(tridiagonal_variant_choices(), {"all"}), "compute",
           "The ways to compute it; all: every one of them",
           [&o](const std::vector<std::string>& v) { o.variant = parse_names(v, tridiagonal_variant_choices()); });
  add(app, "--equations", "16|all|auto", "auto",
      "compute: equations of a system that an invocation takes; auto: 16 on a GPU, all on software OpenGL",
      [&o](const std::string& t) { o.share = parse_share(t); });
  add(app, "--steps", "COUNT|auto", "auto",
      "cyclic-reduction: steps before the parts are solved; auto: until there are 16384 parts",
      [&o](const std::string& t) {
        o.steps = t == "auto" ? std::nullopt : std::optional(parse_whole(t, 0, largest_steps));
      });
  add(app, "--tile", "SIDE", "the largest texture", "raster: most systems, and equations, in a texture",
      [&o](const std::string& t) { o.tile = parse_whole(t, 1, largest_n); });
  add(app, "--precision", "single|double", "single", "double: of all variants but raster",
      [&o](const std::string& t) { o.precision = parse_single_or_double(t); });
}

void define_tridiagonal_options(CLI::App& app, TridiagonalOptions& o) {
  describe_mode(
      app, "tridiagonal",
      "Solves many tridiagonal systems side by side, on fragment shaders as the paper has it, and on compute\n"
      "shaders; checks and compares with LAPACK's gtsv.",
      tridiagonal_examples);
  define_mode_problem(app, o, "The matrix of all systems, tridiagonal, from a Matrix Market or .npy file",
                      "Solutions of the last result, one a column, as .npy or .mtx by the name");
  add_list(app, "--systems", "COUNT,...", "1024; with --input 1, or as many as --input-b has", "Numbers of systems",
           [&o](const std::vector<std::string>& values) {
             o.systems.clear();
             for (const std::string& value : values) o.systems.push_back(parse_whole(value, 1, largest_n));
           });
  add_text(app, "--input-b", "FILE", "Right-hand sides, one a column, with --input [random numbers]", o.input_b);
  define_variants(app, o);
  define_mode_measuring(app, o);
  define_mode_machine(app, o);
  define_mode_output(app, o);
}

void check_inputs(const Parsed<TridiagonalOptions>& parsed) {
  const TridiagonalOptions& o = parsed.options;
  check_one_source(parsed);
  if (!o.input_b.empty() && o.input.empty()) {
    throw InputError("--input-b " + o.input_b + ": give the matrix, too, by --input");
  }
  if (!o.input_b.empty() && !o.systems.empty()) {
    throw InputError("--systems and --input-b " + o.input_b + " are both given: leave one of them out");
  }
  if (o.fit && o.systems.size() > 1) {
    throw InputError("--fit: the polynomial is one in N; give one number of --systems, not " +
                     std::to_string(o.systems.size()));
  }
}

void check_precision(const TridiagonalOptions& o) {
  for (const std::string& name : o.variant) {
    if (o.precision == Precision::single || name != name_of(TridiagonalVariant::raster)) continue;
    throw InputError(
        "--precision double: the variant raster draws into single-precision textures; use --variant "
        "compute,cyclic-reduction,lapack or --precision single");
  }
}

}  // namespace

TridiagonalOptions parse_tridiagonal_options(const std::vector<std::string>& arguments) {
  Parsed<TridiagonalOptions> parsed;
  parse_into(parsed, arguments, define_tridiagonal_options);
  check_inputs(parsed);
  check_precision(parsed.options);
  if (parsed.options.systems.empty() && parsed.options.input.empty()) parsed.options.systems = {1024};
  return parsed.options;
}

std::string tridiagonal_help() {
  TridiagonalOptions options;
  return help_of([&](CLI::App& app) { define_tridiagonal_options(app, options); });
}

nlohmann::json to_json(const TridiagonalOptions& o) {
  nlohmann::json json = mode_to_json(o);
  json.update({{"systems", o.systems},
               {"input-b", o.input_b.empty() ? nlohmann::json() : nlohmann::json(o.input_b)},
               {"variant", o.variant},
               {"equations", text_of(o.share)},
               {"steps", o.steps ? nlohmann::json(*o.steps) : nlohmann::json("auto")},
               {"tile", o.tile ? nlohmann::json(*o.tile) : nlohmann::json()},
               {"precision", name_of(o.precision)}});
  return json;
}

std::optional<TridiagonalVariant> tridiagonal_variant_from_name(std::string_view name) {
  for (const TridiagonalVariant variant : solvers::all_tridiagonal_variants) {
    if (name_of(variant) == name) return variant;
  }
  return std::nullopt;
}

}  // namespace glinpack::app
