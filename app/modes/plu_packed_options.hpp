// The options of `glinpack plu-packed` (docs/papers/coprocessor.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/elimination_options.hpp"

namespace glinpack::app {

using PluPackedOptions = EliminationOptions;

OptionTable plu_packed_table(PluPackedOptions& options);
/// Precedence: command line, file, default. Throws InputError.
PluPackedOptions parse_plu_packed_options(const std::vector<std::string>& arguments);

}  // namespace glinpack::app
