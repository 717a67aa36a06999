// `glinpack-papers poisson` (docs/papers/poisson.md): the Poisson equation by conjugate gradients, on one rank or
// several; and Table 1 of Wang, Gobbert, Olano and Griffin, "A GPU memory system comparison for an elliptic test
// problem", section 5.2.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/papers/mode.hpp"
#include "solvers/poisson/device_paper_kernels.hpp"

namespace glinpack::app {

struct PoissonOptions : ModeOptions {
  PoissonOptions() {
    n = {32, 64, 128, 256};
    precision = Precision::double_;
  }

  std::vector<solvers::PoissonMemory> memory{solvers::PoissonMemory::global};  // empty: only the host
  std::vector<solvers::PoissonKernel> kernel{solvers::PoissonKernel::walk};
  std::optional<Index> tile;  // P of the paper's shared memory; empty: the largest power of two
  double tolerance = 1e-6;
  std::optional<Index> max_iterations;  // empty: many more than needed, and not to converge is an error
  std::string first_guess;              // a file of u; empty: zero
  Texts host{"serial", "threads"};      // the processor's variants; may be empty
  std::vector<PoissonPreconditioner> preconditioner{PoissonPreconditioner::none};
  bool all_preconditioners = false;  // --preconditioner all
  bool all_memories = false;         // --memory all
  bool all_kernels = false;          // --kernel all
  std::optional<double> watchdog;    // seconds without progress, for several ranks; empty: off
};

OptionTable poisson_table(PoissonOptions& options);
PoissonOptions parse_poisson_options(const Texts& arguments, TextFiles& files);
/// Collective; the same on every rank.
int run_poisson(const Invocation& invocation, const MpiSession& session);

/// True if a preconditioner supports a kernel and a memory; `all` of any excludes other combinations.
bool allowed(solvers::PoissonKernel kernel, solvers::PoissonMemory memory, PoissonPreconditioner preconditioner);

/// Checks the options for several ranks. Throws InputError if a size has fewer rows than ranks, or if a named memory,
/// kernel or preconditioner does not support strips. Removes such ones from `all`. Returns notes for the report's head.
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
  double tolerance = 1e-6;
  bool from_zero = true;  // the first guess
};

/// Checks against the paper in double precision without multigrid, if the paper has the size, the tolerance and the
/// first guess: the same iterations, and the same error to the printed digits. Otherwise checks the error against the
/// bound of the discretisation, plus those of rounding in single precision and of a larger tolerance. Empty if the
/// bound is too large to be useful.
std::optional<ModeCheck> check_poisson(const PoissonResult& result);

/// The bound of the rounding error in |u - u_h| in single precision. u has an error of epsilon, A u thus 8 epsilon, and
/// the inverse of A is at most (n + 1)^2 / 8 in the maximum norm.
double poisson_rounding_bound(Index n, Precision precision);

/// The memories of the records of one size and kernel by their seconds an iteration, the fastest first, a line for each
/// that has several; empty without one.
std::string memory_order_text(std::span<const ModeRecord> records);

}  // namespace glinpack::app
