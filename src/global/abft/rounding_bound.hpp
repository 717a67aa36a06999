// The largest difference between a row's sum and its checksum that rounding explains.
//
// Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002: a sum of n products has an error of at most
// gamma_n = n u / (1 - n u) times the sum of their magnitudes (section 3.1), and the factors of a matrix, its checksum
// columns included, are those of A + E, |E| <= gamma_k |L| |U| after k columns (theorem 9.3). The row sum of E and its
// entry in the checksum column need not agree. The check itself sums C elements: gamma_C times their magnitudes
// (section 4.2).
//
// gamma_n is the worst case. Rounding errors have mean zero: n becomes lambda sqrt(n) with a probability of at least
// 1 - 2 n exp(-lambda^2 / 2) for each sum (Higham and Mary, A new approach to probabilistic rounding error analysis,
// SIAM J. Sci. Comput. 41, 2019). With lambda = 10 one of 10^20 sums exceeds its bound.
//
// |L| |U| is not assumed from the pivoting, but measured: the growth factor of Wilkinson's kind of matrix is 2^30, of
// HPL's below 100. See Checksums.
#pragma once

#include <algorithm>
#include <cmath>

#include "backend/matrix_view.hpp"

namespace glinpack {

/// `unit`: u of the precision. `eliminated`: columns k. `summed`: elements C of a row. `scale`: largest magnitude of
/// the rows. `noise`: largest error of rounding in a column like their sum, as measured.
inline double rounding_bound(double unit, Index eliminated, Index summed, double scale, double noise) {
  constexpr double lambda = 10;
  const double terms = std::sqrt(static_cast<double>(eliminated)) + std::sqrt(static_cast<double>(summed) + 1);
  return lambda * (unit * terms * scale + noise);
}

/// Passes between two checks if none are given. A check reads every element of the trailing matrix once, as long as
/// about 100 operations of the update, which does 2 nb with it: 60 on two Xeon cores, 72 (double) and 96 (single) on an
/// H200. One percent of the update's time.
inline Index passes_between_checks(Index nb) {
  constexpr Index operations = 100, percent = 100;
  return std::max<Index>(1, operations * percent / (2 * nb));
}

}  // namespace glinpack
