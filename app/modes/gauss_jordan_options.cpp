#include "app/modes/gauss_jordan_options.hpp"

#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/option_text.hpp"

namespace glinpack::app {

namespace {

constexpr const char* gauss_jordan_examples =
    "  glinpack gauss-jordan --n 100,256 --rhs 3\n"
    "  glinpack gauss-jordan --n 255 --inverse --variant all\n"
    "  glinpack gauss-jordan --n 128 --variant double-rows,plain --pivoting all --measure all\n"
    "  glinpack gauss-jordan --input A.npy --input-b B.mtx --output X.npy\n";

const std::vector<std::string>& pivoting_choices() {
  static const std::vector<std::string> names{"partial", "full"};
  return names;
}

void define_gauss_jordan_options(CLI::App& app, GaussJordanOptions& o) {
  describe_mode(app, "gauss-jordan",
                "Solves A X = B, or inverts A, by Gauss-Jordan elimination on a device, two rows and columns a step as "
                "the\npaper has it, and by single rows; judges X by its residual and compares with LAPACK.",
                gauss_jordan_examples);
  define_elimination_problem(app, o, 1);
  add_flag(app, "--inverse", "The inverse of A: the identity takes the place of right-hand sides",
           [&o] { o.inverse = true; });
  define_elimination_variants(app, o);
  add_list(app, "--pivoting", some_of(pivoting_choices(), {"all"}), "partial",
           "partial: candidates are in the column; full: in all that is left; all: both, one after the other",
           [&o](const std::vector<std::string>& v) { o.pivoting = parse_names(v, pivoting_choices()); });
  define_mode_measuring(app, o);
  define_mode_machine(app, o);
  define_mode_output(app, o);
}

}  // namespace

GaussJordanOptions parse_gauss_jordan_options(const std::vector<std::string>& arguments) {
  Parsed<GaussJordanOptions> parsed;
  parse_into(parsed, arguments, define_gauss_jordan_options);
  check_system_sources(parsed);
  const GaussJordanOptions& o = parsed.options;
  if (o.inverse && !o.input_b.empty()) {
    throw InputError("--inverse and --input-b " + o.input_b + " are both given: leave one of them out");
  }
  if (o.inverse && (parsed.on_command_line.contains("rhs") || parsed.in_file.contains("rhs"))) {
    throw InputError("--inverse and --rhs are both given: leave one of them out");
  }
  return o;
}

std::string gauss_jordan_help() {
  GaussJordanOptions options;
  return help_of([&](CLI::App& app) { define_gauss_jordan_options(app, options); });
}

nlohmann::json to_json(const GaussJordanOptions& o) {
  nlohmann::json json = elimination_to_json(o);
  json.update({{"inverse", o.inverse}, {"pivoting", o.pivoting}});
  return json;
}

}  // namespace glinpack::app
