// Failed checks, and what rounding explains.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/enumerators.hpp"
#include "base/matrix_view.hpp"

namespace glinpack {

/// Columns of checksums behind the right-hand side.
inline constexpr Index checksum_columns = 8;

enum class CheckedPart { trailing_matrix, received_l, l, u, solution };
inline constexpr auto all_checked_parts = values_up_to<CheckedPart::solution>;
constexpr std::string_view name_of(CheckedPart part) {
  return text_by_value(part, "trailing matrix", "received L", "L", "U", "solution");
}

/// The worst row of a failed check.
struct Mismatch {
  Index pass = 0;  // after which it was found; the last one for L, U and the solution
  CheckedPart part = CheckedPart::trailing_matrix;
  Index block_row = 0;    // of the global matrix
  double difference = 0;  // of the sums, or of U x and y; may be NaN or infinite
  double bound = 0;       // that rounding explains
  bool overflow = false;  // sums near the largest number: a matrix whose factors grow makes them without any fault
};

/// One line.
std::string text_of(const Mismatch& mismatch);
/// An error in the log.
void log_failed_check(const Mismatch& mismatch, const std::string& device);
/// Found earlier, or else by more of its bound. A difference that is no number is largest.
bool is_worse(const Mismatch& a, const Mismatch& b);

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
// the matrix. The largest of six samples a row (copies, checksums.hpp) stands for the standard deviation of E's row
// sums.

/// `unit`: u of the precision. `terms`: elements C of the sum. `roundings`: of an element, on average. `scale`: largest
/// magnitude of a sum. `noise`: largest sample of E: of all rows so far, or of the rows of U down to the row.
inline double rounding_bound(double unit, Index terms, double roundings, double scale, double noise) {
  constexpr double lambda = 6;
  return lambda * (unit * std::max(std::sqrt(static_cast<double>(terms) + 1), roundings) * scale + noise);
}

}  // namespace glinpack
