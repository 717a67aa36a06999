// The largest difference between a row's sum and its checksum that rounding explains.
//
// Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002. The sum of C elements has an error of at most
// gamma_C = C u / (1 - C u) times the sum of their magnitudes (section 4.2). The factors of a matrix, its checksum
// columns included, are those of A + E, |E| <= gamma_k |L| |U| after k columns (theorem 9.3); the row sum of E and its
// entry in the checksum column need not agree.
//
// gamma_C is the worst case. Errors of rounding have mean zero: C becomes lambda sqrt(C) with a probability of at least
// 1 - 2 exp(-lambda^2 / 2) (Higham and Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci.
// Comput. 41, 2019), 1 - 3e-8 for lambda = 6; and partial sums are seldom as large as the largest sum of all rows.
//
// Not so if all elements of a row are rounded alike, as those of HPL-MxP's matrix, which are equal: their errors add
// up, one for each time that an element is rounded. That is once a pass; and, in the block of its own panel, up to nb
// times.
//
// E is not bounded, but sampled: |L| |U| and what elimination makes of an error depend on matrix and pivoting by many
// orders of magnitude. Wilkinson's kind of matrix grows by 2^30, and with local pivoting an error may grow by more than
// the matrix. The largest of six samples a row (checksums.hpp) stands for the standard deviation of E's row sums.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/matrix_view.hpp"

namespace glinpack {

/// `unit`: u of the precision. `terms`: elements C of the sum. `roundings`: of an element, on average. `scale`: largest
/// magnitude of a sum. `noise`: largest sample of E: of all rows so far, or of the rows of U down to the row.
inline double rounding_bound(double unit, Index terms, double roundings, double scale, double noise) {
  constexpr double lambda = 6;
  return lambda * (unit * std::max(std::sqrt(static_cast<double>(terms) + 1), roundings) * scale + noise);
}

/// Passes between two checks if none are given. A check reads every element of the trailing matrix once, as long as
/// about 100 operations of the update, which does 2 nb with it: 60 on two Xeon cores, 72 (double) and 96 (single) on an
/// H200. A quarter of a percent of the update's time.
inline Index passes_between_checks(Index nb) {
  constexpr Index operations = 100, share = 400;
  return std::max<Index>(1, operations * share / (2 * nb));
}

}  // namespace glinpack
