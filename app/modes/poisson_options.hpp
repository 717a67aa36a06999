// Everything that `glinpack poisson` can be told (docs/poisson.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"
#include "local/precision.hpp"
#include "local/solvers/poisson_device_strip.hpp"

namespace glinpack::app {

struct PoissonOptions : ModeOptions {
  PoissonOptions() { n = {32, 64, 128, 256}; }

  std::vector<solvers::PoissonMemory> memory{solvers::PoissonMemory::global};  // empty: the host alone
  std::vector<std::string> host{"serial", "threads"};                          // the processor's loops; may be empty
  Precision precision = Precision::double_;
  bool textures_left_out = false;  // of --memory all, in double precision
};

/// Command line over file over default. Throws InputError.
PoissonOptions parse_poisson_options(const std::vector<std::string>& arguments);
std::string poisson_help();
nlohmann::json to_json(const PoissonOptions& options);

}  // namespace glinpack::app
