#include "app/variant/variant_command.hpp"

#include <spdlog/fmt/fmt.h>

#include "app/program/outputs.hpp"

namespace glinpack::app {

namespace {

const Footer variant_footer{
    .examples = "glinpack variant WR11C2R4\nglinpack variant WR00L2L2 WC15R2R16",
    .notes =
        {"The code is the column T/V in the reports of HPL and glinpack: W, PMAP, DEPTH, BCAST, RFACT, NDIV, PFACT, "
         "NBMIN, named as in HPL.dat."},
    .exit_codes = {{0, "explained"}, {2, "unusable input"}, {3, "an error while printing"}}};

}  // namespace

OptionTable variant_table(VariantOptions& o) {
  constexpr int most_codes = 1000;
  return {.command = "variant",
          .description = "Explains HPL's code of a variant, and prints the same options of `glinpack plu`.",
          .footer = variant_footer,
          .groups = {{"", {{"CODE", positional(o.codes, most_codes), "Codes, such as WR11C2R4"}}}}};
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
  print(out, text);
}

}  // namespace glinpack::app
