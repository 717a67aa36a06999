#include "app/modes/matmul_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_text.hpp"
#include "gl/compute/tuning.hpp"

namespace glinpack::app {

namespace {

using solvers::Packing;
using solvers::ProductExtents;

constexpr const char* matmul_examples =
    "  glinpack matmul --variant multi-pass --packing 2x2 --n 64,100,257\n"
    "  glinpack matmul --variant all --packing all --n 128 --json matmul.json\n"
    "  glinpack matmul --variant single-pass,openblas --n 64,96,128,192,256 --fit\n"
    "  glinpack matmul --variant compute --precision double --shape 300x200x100\n"
    "  glinpack matmul --tune --n 128\n"
    "  glinpack matmul --input A.npy --input-b B.mtx --output C.npy\n";

std::vector<std::string> matmul_variant_choices() {
  std::vector<std::string> names;
  for (const solvers::MatmulVariant variant : solvers::all_matmul_variants) names.emplace_back(name_of(variant));
  names.emplace_back("openblas");
  return names;
}

std::vector<std::string> packing_choices() {
  std::vector<std::string> names;
  for (const Packing packing : solvers::all_packings) names.emplace_back(name_of(packing));
  return names;
}

// "33x21x18": rows, depth, columns.
ProductExtents parse_shape(const std::string& text) {
  const std::string expected = " is not a shape; MxKxN is expected, A being M x K and B K x N, for example 300x200x100";
  std::vector<Index> extents;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of("xX", begin), text.size());
    try {
      extents.push_back(parse_whole(std::string_view(text).substr(begin, end - begin), 1, largest_n));
    } catch (const InputError& error) {
      throw InputError(in_quotes(text) + expected + ": " + error.what());
    }
    begin = end + 1;
  }
  if (extents.size() != 3) throw InputError(in_quotes(text) + expected);
  return {extents[0], extents[1], extents[2]};
}

std::string shape_text(const ProductExtents& e) {
  return std::to_string(e.rows) + "x" + std::to_string(e.depth) + "x" + std::to_string(e.columns);
}

void define_variants(CLI::App& app, MatmulOptions& o) {
  begin_group(app, "Variants");
  add_list(app, "--variant", some_of(matmul_variant_choices(), {"all"}), "what --tune has chosen, or compute",
           "The ways to compute it; all: every one of them",
           [&o](const std::vector<std::string>& v) { o.variant = parse_names(v, matmul_variant_choices()); });
  add_list(app, "--packing", some_of(packing_choices(), {"all"}), "2x2",
           "Rows x columns of a texel, of variants that draw; all: every one of them",
           [&o](const std::vector<std::string>& v) {
             o.packing.clear();
             for (const std::string& name : parse_names(v, packing_choices())) {
               o.packing.push_back(*solvers::packing_from_name(name));
             }
           });
  add_list(app, "--pass-length", "STEPS,...", "1",
           "multi-pass: steps that a pass sums, one step being a texel of A and one of B",
           [&o](const std::vector<std::string>& v) {
             o.pass_length.clear();
             for (const std::string& value : v) o.pass_length.push_back(parse_whole(value, 1, largest_n));
           });
  add_flag(
      app, "--tune",
      "Find the fastest variant, packing and pass length of those named, or of all, and keep it for this device and "
      "size: later runs without --variant take it",
      [&o] { o.tune = true; });
  add(app, "--precision", "single|double", "single", "double: of the variants compute and openblas",
      [&o](const std::string& t) { o.precision = parse_single_or_double(t); });
  add_text(app, "--tile", "NAME",
           "compute: its tile, of those that `glinpack tune` lists [what that has chosen, or the first of them]",
           o.tile);
}

void define_matmul_options(CLI::App& app, MatmulOptions& o) {
  describe_mode(
      app, "matmul",
      "Multiplies matrices, C = A B, on fragment shaders as the papers have it, and on compute shaders; checks "
      "and\ncompares with OpenBLAS.",
      matmul_examples);
  define_mode_problem(app, o, "A from a .npy or Matrix Market file instead of random numbers",
                      "C of the last result, as .npy or .mtx by the name");
  add_list(app, "--shape", "MxKxN,...", "", "Rectangular sizes instead of --n: A is M x K, B K x N",
           [&o](const std::vector<std::string>& values) {
             o.shape.clear();
             for (const std::string& value : values) o.shape.push_back(parse_shape(value));
           });
  add_text(app, "--input-b", "FILE", "B, with --input [A again]", o.input_b);
  define_variants(app, o);
  define_mode_measuring(app, o);
  define_mode_machine(app, o);
  define_mode_output(app, o);
}

// Variants that can: those that draw have single precision only.
void check_precision(const Parsed<MatmulOptions>& parsed) {
  const MatmulOptions& o = parsed.options;
  if (o.precision == Precision::single) return;
  if (o.tune) throw InputError("--tune: in double precision there is one variant, compute; use --precision single");
  for (const std::string& name : o.variant) {
    const std::optional<solvers::MatmulVariant> variant = solvers::matmul_variant_from_name(name);
    if (!variant || !draws(*variant)) continue;
    throw InputError("--precision double: the variant " + name +
                     " draws into single-precision textures; use --variant compute,openblas or --precision single");
  }
}

void check_sizes(const Parsed<MatmulOptions>& parsed) {
  const MatmulOptions& o = parsed.options;
  check_one_source(parsed);
  const auto given = [&](const char* name) {
    return parsed.on_command_line.contains(name) || parsed.in_file.contains(name);
  };
  if (!o.shape.empty() && (given("n") || given("input"))) {
    throw InputError("--shape and " + std::string(given("n") ? "--n" : "--input") +
                     " are both given: leave one of them out");
  }
  if (!o.input_b.empty() && o.input.empty()) throw InputError("--input-b " + o.input_b + ": give A, too, by --input");
}

void check_tuning(const MatmulOptions& o) {
  if (o.tune && o.variant == std::vector<std::string>{"openblas"}) {
    throw InputError("--tune: --variant openblas leaves nothing to choose from; name others, or none");
  }
}

}  // namespace

MatmulOptions parse_matmul_options(const std::vector<std::string>& arguments) {
  Parsed<MatmulOptions> parsed;
  parse_into(parsed, arguments, define_matmul_options);
  check_sizes(parsed);
  check_precision(parsed);
  check_tuning(parsed.options);
  if (!parsed.options.tile.empty()) {
    try {
      gl::reduce_tile(parsed.options.tile, parsed.options.precision);
    } catch (const std::runtime_error& error) {
      throw InputError("--tile: " + std::string(error.what()));
    }
  }
  return parsed.options;
}

std::string matmul_help() {
  MatmulOptions options;
  return help_of([&](CLI::App& app) { define_matmul_options(app, options); });
}

nlohmann::json to_json(const MatmulOptions& o) {
  nlohmann::json json = mode_to_json(o);
  nlohmann::json shapes = nlohmann::json::array(), packings = nlohmann::json::array();
  for (const ProductExtents& e : o.shape) shapes.push_back(shape_text(e));
  for (const Packing packing : o.packing) packings.push_back(name_of(packing));
  json.update({{"shape", shapes},
               {"input-b", o.input_b.empty() ? nlohmann::json() : nlohmann::json(o.input_b)},
               {"variant", o.variant},
               {"packing", packings},
               {"pass-length", o.pass_length},
               {"precision", name_of(o.precision)},
               {"tune", o.tune},
               {"tile", o.tile.empty() ? nlohmann::json() : nlohmann::json(o.tile)}});
  return json;
}

}  // namespace glinpack::app
