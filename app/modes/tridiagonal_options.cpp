#include "app/modes/tridiagonal_options.hpp"

#include "app/input/values.hpp"
#include "app/option_text.hpp"

namespace glinpack::app {

namespace {

using solvers::TridiagonalVariant;

constexpr Index largest_steps = 64;

constexpr const char* tridiagonal_examples =
    "  glinpack tridiagonal --systems 1024 --n 512\n"
    "  glinpack tridiagonal --variant all --systems 64,1024 --n 128,512 --csv times.csv\n"
    "  glinpack tridiagonal --variant cyclic-reduction,lapack --systems 1 --n 1000000 --steps auto\n"
    "  glinpack tridiagonal --input A.mtx --input-b B.npy --output X.npy\n";

std::vector<Field> variant_fields(TridiagonalOptions& o) {
  FieldValue equations = choice(o.share, solvers::all_shares);
  equations.type = "16|all|auto";
  return {
      variant_field(o.variant, names_of(solvers::all_tridiagonal_variants), "lapack"),
      {"equations", equations,
       "compute: equations of a system that an invocation takes; auto: 16 on a GPU, all on software OpenGL"},
      {"steps", or_auto(whole(o.steps, 0, largest_steps), [&o] { o.steps.reset(); }),
       "cyclic-reduction: steps before the parts are solved; auto: until there are 16384 parts"},
      {"tile", whole(o.tile, 1, largest_n, "SIDE"), "raster: most systems, and equations, in a texture",
       "the largest texture"},
      {"precision", single_or_double(o.precision), "double: of all variants but raster"},
  };
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

OptionTable tridiagonal_table(TridiagonalOptions& o) {
  const std::vector<Field> more_problem{
      {"systems", wholes(o.systems, 1, largest_n, "COUNT,..."), "Numbers of systems",
       "1024; with --input 1, or as many as --input-b has"},
      {"input-b", text(o.input_b, "FILE"), "Right-hand sides, one a column, with --input", "random numbers"},
  };
  return {.command = "tridiagonal",
          .description =
              "Solves many tridiagonal systems side by side, on fragment shaders as the paper has it, and on compute\n"
              "shaders; checks and compares with LAPACK's gtsv.",
          .footer = mode_footer(tridiagonal_examples),
          .groups = mode_groups(
              o, {{"Problem",
                   joined(problem_fields(o, "The matrix of all systems, tridiagonal, from a Matrix Market or .npy file",
                                         "Solutions of the last result, one a column, as .npy or .mtx by the name"),
                          more_problem)},
                  {"Variants", variant_fields(o)}})};
}

TridiagonalOptions parse_tridiagonal_options(const std::vector<std::string>& arguments) {
  Parsed<TridiagonalOptions> parsed = parse(arguments, tridiagonal_table);
  check_inputs(parsed);
  check_precision(parsed.options);
  if (parsed.options.systems.empty() && parsed.options.input.empty()) parsed.options.systems = {1024};
  return parsed.options;
}

std::optional<TridiagonalVariant> tridiagonal_variant_from_name(std::string_view name) {
  for (const TridiagonalVariant variant : solvers::all_tridiagonal_variants) {
    if (name_of(variant) == name) return variant;
  }
  return std::nullopt;
}

}  // namespace glinpack::app
