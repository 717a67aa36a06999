// `glinpack-papers poisson` (docs/papers/poisson.md): the Poisson equation by conjugate gradients, on one rank or
// several; and Table 1 of Wang, Gobbert, Olano and Griffin, "A GPU memory system comparison for an elliptic test
// problem", section 5.2.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/papers/mode.hpp"
#include "solvers/poisson/poisson_device_strip.hpp"

namespace glinpack::app {

struct PoissonOptions : ModeOptions {
  PoissonOptions() {
    n = {32, 64, 128, 256};
    precision = Precision::double_;
  }

  std::vector<solvers::PoissonMemory> memory{solvers::PoissonMemory::global};  // empty: only the host
  Texts host{"serial", "threads"};                                             // the processor's variants; may be empty
  std::vector<PoissonPreconditioner> preconditioner{PoissonPreconditioner::none};
  bool all_preconditioners = false;  // --preconditioner all
  bool textures_skipped = false;     // --memory all in double precision excludes textures
  bool all_memories = false;         // --memory all
  std::optional<double> watchdog;    // seconds without progress, for several ranks; empty: off
};

OptionTable poisson_table(PoissonOptions& options);
/// Precedence: command line, file, default. Throws InputError.
PoissonOptions parse_poisson_options(const Texts& arguments, TextFiles& files);
/// Collective; the same on every rank.
int run_poisson(const ModeInvocation& invocation);

/// True if a preconditioner supports a memory; `all` of either excludes other combinations.
bool allowed(solvers::PoissonMemory memory, PoissonPreconditioner preconditioner);

/// Checks the options for several ranks. Throws InputError if a size has fewer rows than ranks, or if a named memory or
/// preconditioner does not support strips. Removes such ones from `all`. Returns notes for the report's head.
std::vector<std::string> adapt_to_ranks(PoissonOptions& options, int ranks);

/// A row of Table 1: double precision, relative tolerance 1e-6.
struct PaperPoisson {
  Index n = 0;
  Index iterations = 0;
  double largest_error = 0;  // as printed, five digits
};
std::span<const PaperPoisson> paper_poisson_table();

/// The result that is checked.
struct PoissonResult {
  Index n = 0;
  Precision precision = Precision::double_;
  PoissonPreconditioner preconditioner = PoissonPreconditioner::none;
  Index iterations = 0;
  double largest_error = 0;  // of |u - u_h|
};

/// Checks against the paper in double precision without multigrid, if the paper has the size: the same iterations, and
/// the same error to the printed digits. Otherwise checks the error against the bound of the discretisation, plus that
/// of rounding in single precision. Empty if the bound is too large to be useful.
std::optional<ModeCheck> check_poisson(const PoissonResult& result);

/// The bound of the rounding error in |u - u_h| in single precision. u has an error of epsilon, A u thus 8 epsilon, and
/// the inverse of A is at most (n + 1)^2 / 8 in the maximum norm.
double poisson_rounding_bound(Index n, Precision precision);

}  // namespace glinpack::app
