// Everything that `glinpack plu-packed` can be told (docs/plu-packed.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/elimination_options.hpp"

namespace glinpack::app {

struct PluPackedOptions : EliminationOptions {};

/// Command line over file over default. Throws InputError.
PluPackedOptions parse_plu_packed_options(const std::vector<std::string>& arguments);
std::string plu_packed_help();
nlohmann::json to_json(const PluPackedOptions& options);

}  // namespace glinpack::app
