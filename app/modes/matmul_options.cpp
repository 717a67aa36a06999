#include "app/modes/matmul_options.hpp"

#include <algorithm>

#include "app/input/values.hpp"
#include "app/option_text.hpp"
#include "gl/compute/tuning.hpp"

namespace glinpack::app {

namespace {

using solvers::ProductExtents;

constexpr const char* matmul_examples =
    "  glinpack matmul --variant multi-pass --packing 2x2 --n 64,100,257\n"
    "  glinpack matmul --variant all --packing all --n 128 --json matmul.json\n"
    "  glinpack matmul --variant single-pass,openblas --n 64,96,128,192,256 --fit\n"
    "  glinpack matmul --variant compute --precision double --shape 300x200x100\n"
    "  glinpack matmul --tune --n 128\n"
    "  glinpack matmul --input A.npy --input-b B.mtx --output C.npy\n";

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

std::vector<Field> variant_fields(MatmulOptions& o) {
  return {
      variant_field(o.variant, names_of(solvers::all_matmul_variants), "openblas",
                    "what --tune has chosen, or compute"),
      {"packing", kinds_value(o.packing, solvers::all_packings),
       "Rows x columns of a texel, of variants that draw; all: every one of them", "2x2"},
      {"pass-length", wholes(o.pass_length, 1, largest_n, "STEPS,..."),
       "multi-pass: steps that a pass sums, one step being a texel of A and one of B", "1"},
      {"tune", flag(o.tune),
       "Find the fastest variant, packing and pass length of those named, or of all, and keep it for this device and "
       "size: later runs without --variant take it"},
      {"precision", single_or_double(o.precision), "double: of the variants compute and openblas"},
      {"tile", text(o.tile, "NAME"), "compute: its tile, of those that `glinpack tune` lists",
       "what that has chosen, or the first of them"},
  };
}

// Only some variants have double precision: those that draw do not.
void check_precision(const MatmulOptions& o) {
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
  if (!o.shape.empty() && (parsed.given("n") || parsed.given("input"))) {
    throw InputError("--shape and " + std::string(parsed.given("n") ? "--n" : "--input") +
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

OptionTable matmul_table(MatmulOptions& o) {
  const auto read_shapes = [&o](const Texts& values) {
    o.shape.clear();
    for (const std::string& value : values) o.shape.push_back(parse_shape(value));
  };
  const auto print_shapes = [&o] {
    Texts texts;
    for (const ProductExtents& extents : o.shape) texts.push_back(text_of(extents));
    return texts;
  };
  const std::vector<Field> more_problem{
      {"shape", list_value("MxKxN,...", read_shapes, print_shapes),
       "Rectangular sizes instead of --n: A is M x K, B K x N"},
      {"input-b", text(o.input_b, "FILE"), "B, with --input", "A again"},
  };
  return {.command = "matmul",
          .description =
              "Multiplies matrices, C = A B, on fragment shaders as the papers have it, and on compute shaders; checks "
              "and\ncompares with OpenBLAS.",
          .footer = mode_footer(matmul_examples),
          .groups = mode_groups(
              o, {{"Problem", joined(problem_fields(o, "A from a .npy or Matrix Market file instead of random numbers",
                                                    "C of the last result, as .npy or .mtx by the name"),
                                     more_problem)},
                  {"Variants", variant_fields(o)}})};
}

MatmulOptions parse_matmul_options(const std::vector<std::string>& arguments) {
  const Parsed<MatmulOptions> parsed = parse(arguments, matmul_table);
  check_sizes(parsed);
  check_precision(parsed.options);
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

std::string text_of(const ProductExtents& e) {
  return std::to_string(e.rows) + "x" + std::to_string(e.depth) + "x" + std::to_string(e.columns);
}

}  // namespace glinpack::app
