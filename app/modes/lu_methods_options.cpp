#include "app/modes/lu_methods_options.hpp"

#include <algorithm>

namespace glinpack::app {

namespace {

constexpr const char* lu_methods_examples =
    "  glinpack lu-methods --n 64,128,256 --methods all\n"
    "  glinpack lu-methods --n 256 --methods M1,M3 --strategy switch\n"
    "  glinpack lu-methods --n 32,64,128,256,512,1024,2048 --repeat 1 --warm-up 0     the paper's sizes; minutes on\n"
    "                                                                                 software OpenGL\n"
    "  glinpack lu-methods --input A.npy --methods M3 --strategy switch --output LU.npy\n";

}  // namespace

std::vector<solvers::LuSettings> LuMethodsOptions::drawn() const {
  std::vector<solvers::LuSettings> all;
  for (const solvers::LuStrategy each : strategy) {
    for (const std::string& name : methods) {
      if (const auto method = solvers::lu_method_from_name(name)) all.push_back({*method, each});
    }
  }
  return all;
}

bool LuMethodsOptions::blocked() const {
  return std::find(methods.begin(), methods.end(), blocked_lu_name) != methods.end();
}

OptionTable lu_methods_table(LuMethodsOptions& o) {
  Texts methods = names_of(solvers::all_lu_methods);
  methods.emplace_back(blocked_lu_name);
  const std::vector<Field> variants{
      {"methods", names_value(o.methods, methods),
       "M1: two passes a step; M2: one, the shader decides; M3, M4: these on four rows a texel; compute: blocked, "
       "compute shaders; all: every one of them",
       "all"},
      {"strategy", kinds_value(o.strategy, solvers::all_lu_strategies),
       "Of M1 to M4: copy (draw, then copy to the texture that is read) or switch (two textures take turns); all: both",
       "all"},
  };
  return {
      .command = "lu-methods",
      .description =
          "Factorises A = L U without pivoting by the methods of a study of 2005, four ways of drawing, each with "
          "copies\nand with two textures that take turns; counts passes and bytes, splits the time, and compares "
          "with\ncompute shaders and LAPACK. Tables have milliseconds.",
      .footer = mode_footer(lu_methods_examples),
      .groups = mode_groups(
          o,
          {{"Problem",
            problem_fields(o, "A from a .npy or Matrix Market file instead of a random diagonally dominant matrix",
                           "L and U of the last result in one matrix, L's diagonal of ones left out, as .npy or .mtx")},
           {"Variants", variants}})};
}

LuMethodsOptions parse_lu_methods_options(const std::vector<std::string>& arguments) {
  const Parsed<LuMethodsOptions> parsed = parse(arguments, lu_methods_table);
  check_one_source(parsed);
  return parsed.options;
}

}  // namespace glinpack::app
