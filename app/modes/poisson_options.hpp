// The options of `glinpack poisson` (docs/papers/poisson.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"
#include "backend/precision.hpp"
#include "solvers/poisson/poisson_device_strip.hpp"

namespace glinpack::app {

struct PoissonOptions : ModeOptions {
  PoissonOptions() { n = {32, 64, 128, 256}; }

  std::vector<solvers::PoissonMemory> memory{solvers::PoissonMemory::global};  // empty: only the host
  std::vector<std::string> host{"serial", "threads"};                          // the processor's variants; may be empty
  Precision precision = Precision::double_;
  std::vector<PoissonPreconditioner> preconditioner{PoissonPreconditioner::none};
  bool all_preconditioners = false;  // --preconditioner all
  bool textures_skipped = false;     // --memory all in double precision excludes textures
  bool all_memories = false;         // --memory all
  std::optional<double> watchdog;    // seconds without progress, for several ranks; empty: off
};

OptionTable poisson_table(PoissonOptions& options);
/// Precedence: command line, file, default. Throws InputError.
PoissonOptions parse_poisson_options(const std::vector<std::string>& arguments, TextFiles& files);

/// True if a preconditioner supports a memory; `all` of either excludes other combinations.
bool allowed(solvers::PoissonMemory memory, PoissonPreconditioner preconditioner);

/// Checks the options for several ranks. Throws InputError if a size has fewer rows than ranks, or if a named memory or
/// preconditioner does not support strips. Removes such ones from `all`. Returns notes for the report's head.
std::vector<std::string> adapt_to_ranks(PoissonOptions& options, int ranks);

}  // namespace glinpack::app
