#include "app/modes/plu_packed_options.hpp"

namespace glinpack::app {

namespace {

constexpr const char* plu_packed_examples =
    "  glinpack plu-packed --n 255,512\n"
    "  glinpack plu-packed --n 1000 --rhs 0 --variant all      the factors alone, as the paper measures\n"
    "  glinpack plu-packed --n 64,96,128,192,256 --fit\n"
    "  glinpack plu-packed --input A.npy --input-b B.mtx --output X.npy\n";

}  // namespace

OptionTable plu_packed_table(PluPackedOptions& o) {
  return {.command = "plu-packed",
          .description =
              "Factorises P A = L U on a device, two rows of U a step, and solves A X = B with the factors, as the "
              "paper\nhas it, and by single rows; judges by residuals and compares with LAPACK.",
          .footer = mode_footer(plu_packed_examples),
          .groups = mode_groups(
              o, {{"Problem", elimination_problem_fields(o, 0)}, {"Variants", elimination_variant_fields(o)}})};
}

PluPackedOptions parse_plu_packed_options(const std::vector<std::string>& arguments) {
  const Parsed<PluPackedOptions> parsed = parse(arguments, plu_packed_table);
  check_system_sources(parsed);
  const PluPackedOptions& o = parsed.options;
  if (o.right_hand_sides == 0 && !o.output.empty()) {
    throw InputError("--output " + o.output + ": with --rhs 0 there is no solution to be written");
  }
  return o;
}

}  // namespace glinpack::app
