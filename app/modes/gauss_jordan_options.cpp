#include "app/modes/gauss_jordan_options.hpp"

namespace glinpack::app {

namespace {

constexpr const char* gauss_jordan_examples =
    "  glinpack gauss-jordan --n 100,256 --rhs 3\n"
    "  glinpack gauss-jordan --n 255 --inverse --variant all\n"
    "  glinpack gauss-jordan --n 128 --variant double-rows,plain --pivoting all --measure all\n"
    "  glinpack gauss-jordan --input A.npy --input-b B.mtx --output X.npy\n";

}  // namespace

OptionTable gauss_jordan_table(GaussJordanOptions& o) {
  const Field inverse{"inverse", flag(o.inverse), "The inverse of A: the identity takes the place of right-hand sides"};
  const Field pivoting{"pivoting", kinds_value(o.pivoting, solvers::all_elimination_pivotings),
                       "partial: candidates are in the column; full: in all that is left; all: both, one after the "
                       "other"};
  return {.command = "gauss-jordan",
          .description =
              "Solves A X = B, or inverts A, by Gauss-Jordan elimination on a device, two rows and columns a step as "
              "the\npaper has it, and by single rows; judges X by its residual and compares with LAPACK.",
          .footer = mode_footer(gauss_jordan_examples),
          .groups = mode_groups(o, {{"Problem", joined(elimination_problem_fields(o, 1), std::vector{inverse})},
                                    {"Variants", joined(elimination_variant_fields(o), std::vector{pivoting})}})};
}

GaussJordanOptions parse_gauss_jordan_options(const std::vector<std::string>& arguments) {
  const Parsed<GaussJordanOptions> parsed = parse(arguments, gauss_jordan_table);
  check_system_sources(parsed);
  const GaussJordanOptions& o = parsed.options;
  if (o.inverse && !o.input_b.empty()) {
    throw InputError("--inverse and --input-b " + o.input_b + " are both given: leave one of them out");
  }
  if (o.inverse && parsed.given("rhs")) {
    throw InputError("--inverse and --rhs are both given: leave one of them out");
  }
  return o;
}

}  // namespace glinpack::app
