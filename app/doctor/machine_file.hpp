// The machine that `glinpack doctor` has measured, for `glinpack plan --machine FILE`.
#pragma once

#include <string>

#include "app/doctor/facts.hpp"

namespace glinpack::app::doctor {

/// TOML with nodes, ranks and memory as the job has them, and the median link between nodes. What was not measured is
/// left out and named in a comment. `facts`: as of judge(), with a screening if there are several ranks.
std::string machine_file_text(const Facts& facts);

}  // namespace glinpack::app::doctor
