// `glinpack variant`: explains HPL's variant codes.
#pragma once

#include <iosfwd>
#include <string>

#include "app/options/fields.hpp"
#include "app/variant/variant_code.hpp"

namespace glinpack::app {

struct VariantOptions {
  Texts codes;  // at least one
};

OptionTable variant_table(VariantOptions& options);

/// `arguments` follow `glinpack variant`. Throws InputError.
VariantOptions parse_variant_options(const Texts& arguments);

/// A table of the parts of a code.
std::string variant_text(const VariantCode& code);

/// Explains all codes. Throws InputError before printing if one is invalid.
void run_variant_command(const VariantOptions& options, std::ostream& out);

}  // namespace glinpack::app
