// The paper's Table 1, and ours beside it (Wang, Gobbert, Olano and Griffin, "A GPU memory system comparison for an
// elliptic test problem", section 5.2).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "app/modes/mode_record.hpp"
#include "solvers/poisson/poisson_cg.hpp"

namespace glinpack::app {

/// A row of Table 1: double precision, relative tolerance 1e-6.
struct PaperPoisson {
  Index n = 0;
  Index iterations = 0;
  double largest_error = 0;  // as printed, five digits
};

std::span<const PaperPoisson> paper_poisson_table();

/// What a solution is judged by.
struct PoissonResult {
  Index n = 0;
  Precision precision = Precision::double_;
  PoissonPreconditioner preconditioner = PoissonPreconditioner::none;
  Index iterations = 0;
  double largest_error = 0;  // of |u - u_h|
};

/// In double precision, where the paper has the size, without multigrid, which takes other steps: the iterations are
/// the paper's, and the error is, to the digits printed. Else the error is at most the bound of the discretisation's,
/// in single precision and that of rounding; none where that says nothing.
std::optional<ModeCheck> check_poisson(const PoissonResult& result);

/// What rounding to single precision may add to |u - u_h|: u is off by epsilon, A u so by 8 epsilon, and the inverse of
/// A is at most (n + 1)^2 / 8 in the maximum norm.
double poisson_rounding_bound(Index n, Precision precision);

/// A line for every record that has been solved, as Table 1 has them.
std::string poisson_results_table(std::span<const ModeRecord> records);
/// What an iteration of several ranks spends on messages, a line for every record that has been solved.
std::string poisson_ranks_table(std::span<const ModeRecord> records);

}  // namespace glinpack::app
