// Tournament pivoting over a process column: TSLU (Grigori, Demmel, Xiang, "CALU: a communication optimal LU
// factorization algorithm", SIAM J. Matrix Anal. Appl. 32, 2011). For every block of columns each rank chooses
// candidate rows, whole rows of the panel, and a tree reduces them. Its root, the pivot rank, broadcasts the winners,
// L11 \ U11 and the rows that the winners displace. Then L21 = A21 U11^-1.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "lu/panel/panel.hpp"

namespace glinpack {

/// Columns of a panel whose pivots one tree chooses. Fewer columns need more messages of the same total size. More
/// columns need more arithmetic, since every rank factorises its rows of these columns twice.
inline constexpr Index tournament_columns = 64;

/// A node of the reduction tree: process row `from` sends its candidates to `to`, which chooses from its own and these,
/// in that order.
struct TournamentStep {
  int from = 0;
  int to = 0;
  Index rows = 0;  // sent, >= 1
  friend bool operator==(const TournamentStep&, const TournamentStep&) = default;
};

/// Columns [first, first + width) of a panel, and the steps of their tree in an order in which they may be done.
struct TournamentBlock {
  Index first = 0;
  Index width = 0;
  std::vector<TournamentStep> steps;
};

/// A binomial tree over process rows that hold `rows_of` rows each. The root ends with `width` winners, or with all
/// rows; in ceil(log2 P) levels. A process row without rows sends none. Pure.
std::vector<TournamentStep> tournament_steps(std::span<const Index> rows_of, int root, Index width);

/// The process rows whose candidates are in the message from `from` to `to`. Pure.
std::set<int> process_rows_behind(const TournamentBlock& block, int from, int to);

/// The trees of a pass, one for each block of the panel's columns; the root is the pivot's process row. Pure.
std::vector<TournamentBlock> tournaments_of_pass(const Distribution& distribution, Index pass);

/// A message of rows: 64-bit integers, then a matrix of `width` columns, column-major. A view of its elements.
///   candidates  their global numbers | whole rows of the panel
///   winners     the column without a pivot (or -1), the pivots | the winners, the rows that they displace. In the
///               block's columns, the winners are L11 \ U11
template <class Real>
class RowsMessage {
 public:
  static constexpr Index number_elements = sizeof(std::int64_t) / sizeof(Real);
  static constexpr Index elements(Index numbers, Index rows, Index width) {
    return numbers * number_elements + rows * width;
  }

  /// `elements` must have elements() elements.
  RowsMessage(std::span<Real> elements, Index numbers, Index rows, Index width)
      : elements_(elements), header_(numbers * number_elements), rows_(rows), width_(width) {}

  void set_number(Index i, Index value) {
    const std::int64_t number = value;
    std::memcpy(elements_.data() + i * number_elements, &number, sizeof number);
  }
  Index number(Index i) const {
    std::int64_t number = 0;
    std::memcpy(&number, elements_.data() + i * number_elements, sizeof number);
    return number;
  }
  ColumnMajorView<Real> rows() const { return {elements_.data() + header_, rows_, width_, rows_}; }
  std::span<Real> message() const { return elements_; }

 private:
  std::span<Real> elements_;
  Index header_;
  Index rows_;
  Index width_;
};

/// The number of candidates in a message of `elements` elements.
template <class Real>
constexpr Index candidates_in_message(Index elements, Index panel_width) {
  return elements / (RowsMessage<Real>::number_elements + panel_width);
}

/// This rank's rows of a panel, in host memory or in the matrix of a device. Rows count from the rank's first in the
/// panel.
template <class Real>
class PanelRows {
 public:
  struct Choice {
    std::vector<Index> rows;
    std::optional<Index> zero;  // the first column of the block without a pivot
  };
  /// L11 \ U11 of a block's winners (columns x columns), and L11^-1 A12 (columns x the rest of the panel).
  struct Winners {
    ColumnMajorView<const Real> l11_u11;
    ColumnMajorView<const Real> u12;
  };

  PanelRows() = default;
  PanelRows(const PanelRows&) = delete;
  PanelRows& operator=(const PanelRows&) = delete;
  virtual ~PanelRows() = default;

  /// Returns those of the rows first ... first + count - 1 that would be pivots of the block's columns, in that order;
  /// factors <- L \ U of these. See PanelArithmetic::choose_rows.
  virtual Choice choose(const TournamentBlock& block, Index first, Index count, ColumnMajorView<Real> factors) = 0;
  /// Row i of `to` <- row rows[i], all columns of the panel.
  virtual void read(std::span<const Index> rows, ColumnMajorView<Real> to) = 0;
  /// Row rows[i] <- row i of `from`, all columns of the panel.
  virtual void write(ColumnMajorView<const Real> from, std::span<const Index> rows) = 0;
  /// L21 <- A21 U11^-1 in the block's columns, and A22 <- A22 - L21 U12 to the right of them, in rows first ... first +
  /// count - 1.
  virtual void solve_l21_and_update(const TournamentBlock& block, Index first, Index count, const Winners& winners) = 0;
};

/// factorize_panel_tournament() for rows outside the panel's host memory, on a grid of several process rows. It fills
/// only the pivots, the zero pivot and the diagonal block above of the panel in host memory.
template <class Real>
void factorize_panel_tournament(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel,
                                PanelRows<Real>& rows);

}  // namespace glinpack
