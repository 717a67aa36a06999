// The options of `glinpack poisson` (docs/poisson.md).
#pragma once

#include <string>
#include <vector>

#include "app/modes/mode_options.hpp"
#include "backend/precision.hpp"
#include "solvers/poisson/poisson_device_strip.hpp"

namespace glinpack::app {

struct PoissonOptions : ModeOptions {
  PoissonOptions() { n = {32, 64, 128, 256}; }

  std::vector<solvers::PoissonMemory> memory{solvers::PoissonMemory::global};  // empty: the host alone
  std::vector<std::string> host{"serial", "threads"};                          // the processor's loops; may be empty
  Precision precision = Precision::double_;
  std::vector<PoissonPreconditioner> preconditioner{PoissonPreconditioner::none};
  bool all_preconditioners = false;  // --preconditioner all
  bool textures_skipped = false;     // of --memory all, in double precision
  bool all_memories = false;         // --memory all
  std::optional<double> watchdog;    // of several ranks: seconds without progress; empty: off
};

OptionTable poisson_table(PoissonOptions& options);
/// Command line over file over default. Throws InputError.
PoissonOptions parse_poisson_options(const std::vector<std::string>& arguments, TextFiles& files);

/// A preconditioner works with a memory; those that do not are left out of `all` of either.
bool allowed(solvers::PoissonMemory memory, PoissonPreconditioner preconditioner);

/// Before any work of several ranks: throws InputError where a size has fewer rows than there are ranks, or where a
/// memory or a preconditioner that is named is not for strips; leaves such a one out of `all`. Returns notes for the
/// report's head.
std::vector<std::string> adapt_to_ranks(PoissonOptions& options, int ranks);

}  // namespace glinpack::app
