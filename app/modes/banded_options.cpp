#include "app/modes/banded_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "solvers/banded/banded.hpp"

namespace glinpack::app {

namespace {

constexpr const char* banded_examples =
    "  glinpack banded --n 4096 --diagonals 10\n"
    "  glinpack banded --n 4096 --offsets 0,1,-1,64,-64 --json banded.json\n"
    "  glinpack banded --variant diagonals --n 1024,2048,4096,8192 --fit\n"
    "  glinpack banded --input A.mtx --output y.npy\n";

std::vector<std::string> banded_variant_choices() {
  std::vector<std::string> names;
  for (const solvers::BandedVariant variant : solvers::all_banded_variants) names.emplace_back(name_of(variant));
  names.emplace_back("csr");
  return names;
}

void define_banded_options(CLI::App& app, BandedOptions& o) {
  describe_mode(
      app, "banded",
      "Multiplies a matrix of few diagonals by a vector, y = A x, its diagonals being textures as Krueger and\n"
      "Westermann have them; checks and compares with compressed rows on the processor.",
      banded_examples);
  define_mode_problem(app, o, "A, square, from a Matrix Market file (coordinate) or .npy instead of random numbers",
                      "y of the last result, as .npy or .mtx by the name");
  add_list(app, "--diagonals", "COUNT,...", list_text(o.diagonals),
           "Diagonals of random numbers: the main one, then those above and below it in turn",
           [&o](const std::vector<std::string>& values) {
             o.diagonals.clear();
             for (const std::string& value : values) o.diagonals.push_back(parse_whole(value, 1, largest_n));
           });
  add_list(app, "--offsets", "OFFSET,...", "", "The diagonals instead: 0 the main one, 1 above it, -1 below it",
           [&o](const std::vector<std::string>& values) {
             o.offsets.clear();
             for (const std::string& value : values) {
               o.offsets.push_back(parse_whole(value, -largest_n, largest_n));
               if (std::count(o.offsets.begin(), o.offsets.end(), o.offsets.back()) > 1) {
                 throw InputError(in_quotes(value) + " is in the list twice");
               }
             }
           });
  begin_group(app, "Variants");
  add_list(app, "--variant", some_of(banded_variant_choices(), {"all"}), "diagonals,compute",
           "The ways to compute it; all: every one of them",
           [&o](const std::vector<std::string>& v) { o.variant = parse_names(v, banded_variant_choices()); });
  define_mode_measuring(app, o);
  define_mode_machine(app, o);
  define_mode_output(app, o);
}

}  // namespace

std::vector<Index> offsets_around_main(Index count) {
  std::vector<Index> offsets;
  for (Index d = 0; d < count; ++d) offsets.push_back(d % 2 == 1 ? (d + 1) / 2 : -d / 2);
  return offsets;
}

BandedOptions parse_banded_options(const std::vector<std::string>& arguments) {
  Parsed<BandedOptions> parsed;
  parse_into(parsed, arguments, define_banded_options);
  check_one_source(parsed);
  const auto given = [&](const char* name) {
    return parsed.on_command_line.contains(name) || parsed.in_file.contains(name);
  };
  for (const char* name : {"diagonals", "offsets"}) {
    if (given(name) && !parsed.options.input.empty()) {
      throw InputError("--" + std::string(name) + " and --input " + parsed.options.input +
                       " are both given: leave one of them out");
    }
  }
  if (given("diagonals") && given("offsets")) {
    throw InputError("--diagonals and --offsets are both given: leave one of them out");
  }
  return parsed.options;
}

std::string banded_help() {
  BandedOptions options;
  return help_of([&](CLI::App& app) { define_banded_options(app, options); });
}

nlohmann::json to_json(const BandedOptions& o) {
  nlohmann::json json = mode_to_json(o);
  json.update({{"diagonals", o.diagonals}, {"offsets", o.offsets}, {"variant", o.variant}});
  return json;
}

}  // namespace glinpack::app
