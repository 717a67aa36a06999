#include "app/modes/banded_options.hpp"

#include <algorithm>

#include "app/input/values.hpp"
#include "solvers/banded/banded.hpp"

namespace glinpack::app {

namespace {

constexpr const char* banded_examples =
    "  glinpack banded --n 4096 --diagonals 10\n"
    "  glinpack banded --n 4096 --offsets 0,1,-1,64,-64 --json banded.json\n"
    "  glinpack banded --variant diagonals --n 1024,2048,4096,8192 --fit\n"
    "  glinpack banded --input A.mtx --output y.npy\n";

FieldValue offsets_value(std::vector<Index>& offsets) {
  FieldValue value = wholes(offsets, -largest_n, largest_n, "OFFSET,...");
  value.read = [&offsets, read = value.read](const Texts& texts) {
    read(texts);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (std::count(offsets.begin(), offsets.end(), offsets[i]) == 1) continue;
      throw InputError(in_quotes(texts[i]) + " is in the list twice");
    }
  };
  return value;
}

}  // namespace

std::vector<Index> offsets_around_main(Index count) {
  std::vector<Index> offsets;
  for (Index d = 0; d < count; ++d) offsets.push_back(d % 2 == 1 ? (d + 1) / 2 : -d / 2);
  return offsets;
}

OptionTable banded_table(BandedOptions& o) {
  const std::vector<Field> diagonals{
      {"diagonals", wholes(o.diagonals, 1, largest_n, "COUNT,..."),
       "Diagonals of random numbers: the main one, then those above and below it in turn"},
      {"offsets", offsets_value(o.offsets), "The diagonals instead: 0 the main one, 1 above it, -1 below it"},
  };
  return {
      .command = "banded",
      .description =
          "Multiplies a matrix of few diagonals by a vector, y = A x, its diagonals being textures as Krueger and\n"
          "Westermann have them; checks and compares with compressed rows on the processor.",
      .footer = mode_footer(banded_examples),
      .groups = mode_groups(
          o, {{"Problem", joined(problem_fields(o,
                                                "A, square, from a Matrix Market file (coordinate) or .npy instead of "
                                                "random numbers",
                                                "y of the last result, as .npy or .mtx by the name"),
                                 diagonals)},
              {"Variants", {variant_field(o.variant, names_of(solvers::all_banded_variants), "csr")}}})};
}

BandedOptions parse_banded_options(const std::vector<std::string>& arguments) {
  const Parsed<BandedOptions> parsed = parse(arguments, banded_table);
  check_one_source(parsed);
  for (const char* name : {"diagonals", "offsets"}) {
    if (parsed.given(name) && !parsed.options.input.empty()) {
      throw InputError("--" + std::string(name) + " and --input " + parsed.options.input +
                       " are both given: leave one of them out");
    }
  }
  if (parsed.given("diagonals") && parsed.given("offsets")) {
    throw InputError("--diagonals and --offsets are both given: leave one of them out");
  }
  return parsed.options;
}

}  // namespace glinpack::app
