#include "app/modes/lu_methods_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/option_text.hpp"

namespace glinpack::app {

namespace {

constexpr const char* lu_methods_examples =
    "  glinpack lu-methods --n 64,128,256 --methods all\n"
    "  glinpack lu-methods --n 256 --methods M1,M3 --strategy switch\n"
    "  glinpack lu-methods --n 32,64,128,256,512,1024,2048 --repeat 1 --warm-up 0     the paper's sizes; minutes on\n"
    "                                                                                 software OpenGL\n"
    "  glinpack lu-methods --input A.npy --methods M3 --strategy switch --output LU.npy\n";

std::vector<std::string> method_choices() {
  std::vector<std::string> names;
  for (const solvers::LuMethod method : solvers::all_lu_methods) names.emplace_back(name_of(method));
  names.emplace_back(blocked_lu_name);
  return names;
}

std::vector<std::string> strategy_choices() {
  std::vector<std::string> names;
  for (const solvers::LuStrategy strategy : solvers::all_lu_strategies) names.emplace_back(name_of(strategy));
  return names;
}

void define_lu_methods_options(CLI::App& app, LuMethodsOptions& o) {
  describe_mode(
      app, "lu-methods",
      "Factorises A = L U without pivoting by the methods of a study of 2005, four ways of drawing, each with "
      "copies\nand with two textures that take turns; counts passes and bytes, splits the time, and compares "
      "with\ncompute shaders and LAPACK. Tables have milliseconds.",
      lu_methods_examples);
  define_mode_problem(app, o, "A from a .npy or Matrix Market file instead of a random diagonally dominant matrix",
                      "L and U of the last result in one matrix, L's diagonal of ones left out, as .npy or .mtx");
  begin_group(app, "Variants");
  add_list(app, "--methods", some_of(method_choices(), {"all"}), "all",
           "M1: two passes a step; M2: one, the shader decides; M3, M4: these on four rows a texel; compute: "
           "blocked, compute shaders; all: every one of them",
           [&o](const std::vector<std::string>& v) { o.methods = parse_names(v, method_choices()); });
  add_list(app, "--strategy", some_of(strategy_choices(), {"all"}), "all",
           "Of M1 to M4: copy (draw, then copy to the texture that is read) or switch (two textures take turns); all: "
           "both",
           [&o](const std::vector<std::string>& v) { o.strategy = parse_names(v, strategy_choices()); });
  define_mode_measuring(app, o);
  define_mode_machine(app, o);
  define_mode_output(app, o);
}

}  // namespace

std::vector<solvers::LuSettings> LuMethodsOptions::drawn() const {
  std::vector<solvers::LuSettings> all;
  for (const std::string& each : strategy) {
    for (const std::string& name : methods) {
      const auto method = solvers::lu_method_from_name(name);
      if (method) all.push_back({*method, *solvers::lu_strategy_from_name(each)});
    }
  }
  return all;
}

bool LuMethodsOptions::blocked() const {
  return std::find(methods.begin(), methods.end(), blocked_lu_name) != methods.end();
}

LuMethodsOptions parse_lu_methods_options(const std::vector<std::string>& arguments) {
  Parsed<LuMethodsOptions> parsed;
  parse_into(parsed, arguments, define_lu_methods_options);
  check_one_source(parsed);
  return parsed.options;
}

std::string lu_methods_help() {
  LuMethodsOptions options;
  return help_of([&](CLI::App& app) { define_lu_methods_options(app, options); });
}

nlohmann::json to_json(const LuMethodsOptions& o) {
  nlohmann::json json = mode_to_json(o);
  json.update({{"methods", o.methods}, {"strategy", o.strategy}});
  return json;
}

}  // namespace glinpack::app
