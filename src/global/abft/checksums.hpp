// Algorithm-based fault tolerance: which rank has computed, stored or received a wrong number (Huang and Abraham,
// Algorithm-based fault tolerance for matrix operations, IEEE Trans. Comput. C-33, 1984; Davies, Karlsson, Liu, Ding
// and Chen, High Performance Linpack benchmark: a fault tolerant implementation without checkpointing, ICS 2011).
//
// Every rank carries eight more columns at the end of its matrix, as b is carried in the last one:
//
//   sum     A e, of the rank's own columns, b included. Rows are exchanged, solved and updated in it as in the others.
//           Therefore, after every pass, a trailing row's sum is its checksum, and at the end a row of U has its sum: a
//           panel needs no step of its own, because L^-1 eliminates its columns from the sum as well.
//   probe   A z + s with random signs z, and s the norms of some rows, chosen at random: A z stays as large as the rows
//           of the trailing matrix, and s grows by L^-1 as errors do, whether they have one sign or random ones. Its
//           largest magnitude is the scale of rounding_bound().
//   copies  the two multiplied by 3, 5 and 7. Divided again, they differ from them by samples of the errors of rounding
//           in a column, with all that elimination has made of them: by far more than by the growth of the matrix if
//           pivots are poor. A fault in other columns does not change them.
//
// A wrong L is as wrong in the sum as in the other columns. Every rank sums the rows of every L that it uses, plainly
// and with random signs. They are compared with the sums on the rank that sent it, and at the end with L as stored.
//
// The solution of U x = y is compared with y, row by row, by a product in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "base/matrix_view.hpp"
#include "matrix/pass.hpp"
#include "transport/rank_context.hpp"

namespace glinpack {

/// Carried by every rank.
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
/// Found earlier, or else by more of its bound. A difference that is no number is largest.
bool is_worse(const Mismatch& a, const Mismatch& b);

/// The checksums of rows of a rank.
template <class Real>
class RowChecksums {
 public:
  explicit RowChecksums(Index columns);
  /// Appends the sums of local row `row` behind its elements: elements[columns] and the next ones.
  void append(Index row, Real* elements) const;

 private:
  std::vector<double> signs_;
};

struct ChecksumStatistics {
  Index checks = 0;
  double seconds = 0;        // of the checks, waiting for the device included
  double largest_share = 0;  // of its bound that a difference had, in checks that passed
};

/// The checks of a factorisation.
template <class Real>
class Checksums {
 public:
  /// `a`: this rank's part of the matrix, with checksums. `every`: passes between two checks. Allocates. All must
  /// outlive it. Not collective.
  Checksums(const RankContext<Real>& context, DeviceMatrix<Real>& a, Index every);
  Checksums(const Checksums&) = delete;
  Checksums& operator=(const Checksums&) = delete;

  /// Before the first pass. Collective over process columns.
  void start();
  /// Whether trailing rows are checked after a pass.
  bool is_due(const PassPlan& pass) const;
  /// With look-ahead, in a pass that is_due(): before the next panel, which pass has updated, is factorised.
  void sum_next_panel(const PassPlan& pass, const PassPlan& next);
  /// Adds the sums of a pass's L. `factors`: [L11 \ U11; L21] transposed, with `above` rows of other ranks first. Where
  /// L is stored after the update, call it before: an L that changes in between differs from its sums. Elsewhere call
  /// it after the update, which has used the same L then. Not collective.
  void sum_l(const PassPlan& pass, DeviceBlock<Real> factors, Index above);
  /// After a pass: checks the trailing rows if is_due(). `next`: the pass whose panel is summed, or null. Collective
  /// over the grid.
  void finish_pass(const PassPlan& pass, const PassPlan* next);
  /// After a pass whose next panel is not factorised yet: all of the matrix, before it is saved. Does not change the
  /// bounds of other checks. Collective over the grid.
  void check_state(const PassPlan& pass);
  /// After the last pass: L and U. Collective over the grid.
  void check_factors();
  /// x: the solution of U x = y, one element per local column of A. Checks it on the rank of each diagonal block. Skips
  /// rows whose sums are not finite. Collective over the grid.
  void check_solution(std::span<const double> x);
  /// What restore() needs to go on from the matrix of this moment, with the same checks; state_bytes() of them.
  std::vector<std::byte> state();
  static Index state_bytes(const Distribution& distribution, GridPosition at);
  /// In place of start().
  void restore(std::span<const std::byte> state);
  void forget_mismatches() { mismatches_.clear(); }

  Index every() const { return every_; }
  const std::vector<Mismatch>& mismatches() const { return mismatches_; }
  const ChecksumStatistics& statistics() const { return statistics_; }

 private:
  class Worst;
  class DiagonalBlocks;
  struct CarriedSums {
    std::vector<double> sums;
    std::vector<double> noise;  // of each row: the largest difference of its copies
  };

  static Index elements_of_sums(const Distribution& distribution, Index rows);
  static Index staged_elements(const Distribution& distribution, Index rows);
  void clear(DeviceMatrix<Real>& sums);
  void sum_rows(Index row, Index rows, Index column, Index columns, DeviceMatrix<Real>& sums);
  std::vector<Real> downloaded(DeviceBlock<Real> block);
  CarriedSums carried_sums(Index first_row, Index rows);
  void check_trailing_matrix(const PassPlan& pass, const PassPlan* next);
  void check_received_l(Index pass, Index eliminated);
  void check_stored_factors(Index passes);
  void report(Index pass, CheckedPart part, const Worst& worst);

  const Distribution& distribution_;
  const Grid& grid_;
  GridPosition position_;
  Backend<Real>& backend_;
  Timeline& timeline_;
  DeviceMatrix<Real>& a_;
  Index every_;
  Index rows_, columns_;  // of this rank, without the checksums
  struct Largest {        // of the process column so far
    double scale = 0;     // magnitude of a checksum
    double noise = 0;     // difference of a copy
  };
  Largest largest_;
  bool panel_is_summed_ = false;
  std::unique_ptr<DeviceMatrix<Real>> minus_ones_;                // a column
  std::unique_ptr<DeviceMatrix<Real>> weights_;                   // nb x 2: minus ones, and signs
  std::unique_ptr<DeviceMatrix<Real>> zeros_, sums_, sums_of_u_;  // columns
  // rows 2q and 2q + 1: of every L of process column q, L11 of other process rows in the first nb columns
  std::unique_ptr<DeviceMatrix<Real>> sums_of_l_;
  std::unique_ptr<HostBuffer<Real>> staging_;
  std::vector<Real> sent_sums_of_l_;  // of every process column; empty with one
  std::vector<Mismatch> mismatches_;
  ChecksumStatistics statistics_;
};

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
// the matrix. The largest of six samples a row (copies, above) stands for the standard deviation of E's row sums.

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
