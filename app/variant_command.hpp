// `glinpack variant`: explains HPL's variant codes.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/variant/variant_code.hpp"

namespace glinpack::app {

struct VariantOptions {
  std::vector<std::string> codes;  // at least one
};

/// `arguments`: what follows `glinpack variant`. Throws InputError.
VariantOptions parse_variant_options(const std::vector<std::string>& arguments);

/// What `glinpack variant --help` prints.
std::string variant_help();

/// A table of a code's parts.
std::string variant_text(const VariantCode& code);

/// All of the codes, or InputError before anything is printed.
void run_variant_command(const VariantOptions& options, std::ostream& out);

}  // namespace glinpack::app
