#include "app/variant_command.hpp"

#include <spdlog/fmt/fmt.h>

#include <ostream>

namespace glinpack::app {

namespace {

constexpr const char* variant_examples =
    "Examples:\n"
    "  glinpack variant WR11C2R4\n"
    "  glinpack variant WR00L2L2 WC15R2R16\n"
    "\n"
    "The code is the column T/V of HPL's and of glinpack's reports: W, PMAP, DEPTH, BCAST, RFACT, NDIV, PFACT, NBMIN, "
    "as\n"
    "HPL.dat names them.\n"
    "Exit code: 0 explained, 2 unusable input.";

}  // namespace

OptionTable variant_table(VariantOptions& o) {
  constexpr int most_codes = 1000;
  return {.command = "variant",
          .description = "Explains HPL's code of a variant, and says which options of glinpack plu are the same.",
          .footer = variant_examples,
          .groups = {{"", {{"CODE", positional(o.codes, most_codes), "Such as WR11C2R4"}}}}};
}

VariantOptions parse_variant_options(const Texts& arguments) {
  const VariantOptions options = parse(arguments, variant_table).options;
  if (options.codes.empty()) throw InputError("no code is given; for example: glinpack variant WR11C2R4");
  return options;
}

std::string variant_text(const VariantCode& code) {
  std::string text = text_of(code) + '\n';
  std::string options;
  for (const VariantPart& part : explain(code)) {
    text += fmt::format("  {:<4}{:<7}{}\n", part.text, part.name, part.meaning);
    if (!part.option.empty()) options += " " + part.option;
  }
  return text + "  glinpack plu" + options + "\n" +
         "  RFACT, NDIV, PFACT and NBMIN come from HPL.dat (--hpl-dat) and are shown as given: glinpack computes the "
         "same\n"
         "  whatever they are.\n";
}

void run_variant_command(const VariantOptions& options, std::ostream& out) {
  std::string text;
  for (const std::string& code : options.codes) {
    text += (text.empty() ? "" : "\n") + variant_text(parse_variant_code(code));
  }
  if (!(out << text << std::flush)) throw std::runtime_error("the table cannot be written to standard output");
}

}  // namespace glinpack::app
