// The check of a solution: HPL's scaled residual, from the regenerated matrix; and the record of its refinement.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/enumerators.hpp"
#include "base/precision.hpp"
#include "matrix/original_matrix.hpp"
#include "transport/communicator.hpp"

namespace glinpack {

/// HPL's test: scaled = ||Ax-b||_oo / (eps (||A||_oo ||x||_oo + ||b||_oo) N), with the epsilon of the precision
/// (HPL_pdtest.c). Norms are those of the original matrix, which is regenerated. Always computed in double precision.
///
/// A large element of x makes ||x|| large and hides its own error. Not so in columnwise = ||Ax-b||_1 /
/// (eps sum_j ||a_j||_1 |x_j| N), which is the same if columns of A are scaled, as the pivots of Gaussian elimination
/// are: |Ax-b| <= c N eps |L| |U| |x| (Higham, Accuracy and Stability of Numerical Algorithms, theorem 9.4) bounds it
/// by the growth of each column. If one element of x dominates, it is 1 / (eps N): A^-1 gives no such x.
/// Runs that refine x are judged by `scaled` alone, by which the refinement ends: with the epsilon of double precision
/// that is large, too, if one element dominates.
struct Residual {
  double scaled = 0;
  double columnwise = 0;  // only of combine_sums() and compute_residual()
  double epsilon = 0;
  double norm_residual_inf = 0;
  double norm_a_inf = 0;
  double norm_a_one = 0;
  double norm_x_inf = 0;
  double norm_x_one = 0;
  double norm_b_inf = 0;
  double largest_a = 0;  // max |a_ij|, for the growth
};

/// How a solution was refined in double precision.
struct Refinement {
  enum class Method { factors, classical, gmres };
  struct Step {
    Method method;
    double scaled_residual;
  };
  /// HPL's scaled residual with double precision's epsilon: first of the initial solution, then after every iteration.
  /// Within GMRES it is the recurrence's, except for the last step of a cycle.
  std::vector<Step> history;
  bool converged = false;
  std::string stopped;  // why it did not converge, one line; empty if it converged
  double seconds = 0;   // part of the run's: after the last rank had its first solution

  int iterations() const { return static_cast<int>(history.size()) - 1; }
  int iterations_of(Method method) const {
    return static_cast<int>(
        std::count_if(history.begin(), history.end(), [method](const Step& step) { return step.method == method; }));
  }
};
constexpr std::string_view name_of(Refinement::Method method) {
  return text_by_value(method, "factors", "classical", "GMRES");
}

/// HPL's test (HPL_pdtest.c), computed in double precision. `precision` selects epsilon. x: this rank's part, one
/// element per local column of A. Collective over the grid; the same result on every rank. A NaN in x or in the
/// residual makes its norm NaN, and both quotients infinite.
Residual compute_residual(OriginalMatrix& matrix, const Distribution& distribution, const Grid& grid,
                          Precision precision, std::span<const double> x);

/// The second half of compute_residual(): combines the ranks' sums. sums.residual becomes the sum over the process row.
/// Collective over the grid.
Residual combine_sums(LocalSums& sums, const Distribution& distribution, const Grid& grid, Precision precision,
                      std::span<const double> x);

/// The same test without the matrix. `known` has the norms of A and b; `residual`: b - A x in this rank's local rows,
/// summed over the process row. Collective over the grid.
Residual test_with_known_norms(const Residual& known, const Distribution& distribution, const Grid& grid,
                               std::span<const double> residual, std::span<const double> x);

}  // namespace glinpack
