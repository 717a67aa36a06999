// The paper's Table 1 and our results (Wang, Gobbert, Olano and Griffin, "A GPU memory system comparison for an
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

/// One line per solved record, in the form of Table 1.
std::string poisson_results_table(std::span<const ModeRecord> records);
/// The time of messages per iteration on several ranks; one line per solved record.
std::string poisson_ranks_table(std::span<const ModeRecord> records);

}  // namespace glinpack::app
