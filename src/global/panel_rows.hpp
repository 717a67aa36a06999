// What tournament pivoting needs of this rank's rows of a panel, wherever they lie: in host memory, or in the matrix of
// a device (device_panel_rows.hpp). Rows count from the rank's first in the panel.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "global/tournament_tree.hpp"
#include "local/matrix_view.hpp"

namespace glinpack {

template <class Real>
class PanelRows {
 public:
  struct Choice {
    std::vector<Index> rows;
    std::optional<Index> zero;  // the first column of the block without a pivot
  };
  /// L11 \ U11 of a block's winners (columns x columns), and their elements to the right of it, L11^-1 A12 (columns x
  /// the rest of the panel).
  struct Winners {
    ColumnMajorView<const Real> l11_u11;
    ColumnMajorView<const Real> u12;
  };

  PanelRows() = default;
  PanelRows(const PanelRows&) = delete;
  PanelRows& operator=(const PanelRows&) = delete;
  virtual ~PanelRows() = default;

  /// Of the rows first ... first + count - 1, those that would be pivots of the block's columns, in that order; factors
  /// <- L \ U of these. See PanelArithmetic::choose_rows.
  virtual Choice choose(const TournamentBlock& block, Index first, Index count, ColumnMajorView<Real> factors) = 0;
  /// Row i of `to` <- row rows[i], all columns of the panel.
  virtual void read(std::span<const Index> rows, ColumnMajorView<Real> to) = 0;
  /// Row rows[i] <- row i of `from`, all columns of the panel.
  virtual void write(ColumnMajorView<const Real> from, std::span<const Index> rows) = 0;
  /// L21 <- A21 U11^-1 in the block's columns, and A22 <- A22 - L21 U12 to the right of them, in rows first ... first +
  /// count - 1.
  virtual void eliminate(const TournamentBlock& block, Index first, Index count, const Winners& winners) = 0;
};

}  // namespace glinpack
