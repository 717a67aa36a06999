#include "app/modes/plu_packed_options.hpp"

#include <nlohmann/json.hpp>

#include "app/option_text.hpp"

namespace glinpack::app {

namespace {

constexpr const char* plu_packed_examples =
    "  glinpack plu-packed --n 255,512\n"
    "  glinpack plu-packed --n 1000 --rhs 0 --variant all      the factors alone, as the paper measures\n"
    "  glinpack plu-packed --n 64,96,128,192,256 --fit\n"
    "  glinpack plu-packed --input A.npy --input-b B.mtx --output X.npy\n";

void define_plu_packed_options(CLI::App& app, PluPackedOptions& o) {
  describe_mode(app, "plu-packed",
                "Factorises P A = L U on a device, two rows of U a step, and solves A X = B with the factors, as the "
                "paper\nhas it, and by single rows; judges by residuals and compares with LAPACK.",
                plu_packed_examples);
  define_elimination_problem(app, o, 0);
  define_elimination_variants(app, o);
  define_mode_measuring(app, o);
  define_mode_machine(app, o);
  define_mode_output(app, o);
}

}  // namespace

PluPackedOptions parse_plu_packed_options(const std::vector<std::string>& arguments) {
  Parsed<PluPackedOptions> parsed;
  parse_into(parsed, arguments, define_plu_packed_options);
  check_system_sources(parsed);
  const PluPackedOptions& o = parsed.options;
  if (o.right_hand_sides == 0 && !o.output.empty()) {
    throw InputError("--output " + o.output + ": with --rhs 0 there is no solution to be written");
  }
  return o;
}

std::string plu_packed_help() {
  PluPackedOptions options;
  return help_of([&](CLI::App& app) { define_plu_packed_options(app, options); });
}

nlohmann::json to_json(const PluPackedOptions& options) { return elimination_to_json(options); }

}  // namespace glinpack::app
