// A panel in host memory: a rank's share of the block column that a pass factorises, and the message that takes it
// along the process row. Three ways to factorise it: local, partial and tournament pivoting.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "global/pass_messages.hpp"
#include "global/schedule.hpp"
#include "local/backend.hpp"

namespace glinpack {

template <class Real>
class PanelRows;

/// One message holds it all, contiguous:
///   zero pivot (or -1) | pivots[width] | the panel, column-major, above + rows x width
/// the integers as 64-bit, padded to a whole cache line. After factorisation the ranks of the pivot's process row have
/// L11 \ U11 in the first `width` rows; everyone has L21 below. Where all process rows compute U12, the others have
/// L11 \ U11, too, in `width` rows above their own.
template <class Real>
class Panel {
 public:
  /// For panels of up to `rows` x `width`, those above included.
  Panel(Backend<Real>& backend, Index rows, Index width);

  /// `above` is 0 or width.
  void resize(Index rows, Index width, Index above = 0);
  Index rows() const { return rows_; }
  Index width() const { return width_; }
  Index above() const { return above_; }

  /// rows x width: this rank's own.
  ColumnMajorView<Real> view() const { return {first() + above_, rows_, width_, leading_dimension_}; }
  /// The same elements as the backend takes them: width x rows, row-major.
  HostBlock<Real> transposed() const { return {buffer_.get(), header_ + above_, width_, rows_, leading_dimension_}; }
  /// L11 \ U11, on ranks that have them.
  ColumnMajorView<Real> diagonal_block() const { return {first(), width_, width_, leading_dimension_}; }
  /// width x (above + rows), row-major: all that travels.
  HostBlock<Real> all_transposed() const {
    return {buffer_.get(), header_, width_, above_ + rows_, leading_dimension_};
  }

  /// Global rows that were interchanged with the panel's first, second, ... row.
  std::vector<GlobalIndex> pivots;
  /// The first column of A whose pivot is exactly zero: A is singular.
  std::optional<GlobalIndex> zero_pivot;

  /// Writes pivots and zero_pivot into the message, and reads them out of it.
  void pack();
  void unpack();
  Real* message() const { return buffer_->data(); }
  Index message_elements() const { return header_ + leading_dimension_ * width_; }  // panel_message_elements()

 private:
  Real* first() const { return buffer_->data() + header_; }

  std::unique_ptr<HostBuffer<Real>> buffer_;
  Index header_ = 0;  // elements
  Index above_ = 0;
  Index rows_ = 0;
  Index width_ = 0;
  Index leading_dimension_ = 0;
};

/// Elements that the message of a panel needs, `rows` of it with those above.
template <class Real>
Index panel_message_elements(Index rows, Index width);

/// Elements of local pivoting's U11 message: L11 \ U11, and which column has a zero pivot.
constexpr Index u11_message_elements(Index width) { return width * width + 1; }

/// What a panel factorisation works with.
template <class Real>
struct PanelContext {
  const Distribution& distribution;
  GridPosition position;
  const PassMessages& messages;
  PanelArithmetic<Real>& arithmetic;
  Timeline& timeline;
};

/// L11 \ U11 of a pass, and behind it one element that says which column has a zero pivot (or -1): a column number of
/// the panel is small enough to be exact in any precision.
template <class Real>
struct DiagonalBlock {
  std::vector<Real> elements;
  Index width;

  explicit DiagonalBlock(Index w) : elements(static_cast<std::size_t>(u11_message_elements(w))), width(w) {}
  ColumnMajorView<Real> view() { return {elements.data(), width, width, width}; }
  ColumnMajorView<const Real> view() const { return {elements.data(), width, width, width}; }
};

/// The pivot rank's L11 \ U11, the first rows of its panel, or the column of it whose pivot is `zero`, down the process
/// column. Collective over it; fills panel.zero_pivot on all its ranks. Where messages are left out, eliminate ranks
/// get a stand-in.
template <class Real>
DiagonalBlock<Real> broadcast_diagonal_block(const PanelContext<Real>& context, const PassPlan& plan,
                                             Panel<Real>& panel, std::optional<Index> zero);

template <class Real>
using PivotOperation = std::optional<Index> (PanelArithmetic<Real>::*)(ColumnMajorView<Real>, std::span<Index>);

/// P A = L U of the rows of the panel that the pivot rank holds: fills panel.pivots, and returns the panel's first
/// column without a pivot. Not collective.
template <class Real>
std::optional<Index> factorize_own_rows(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel,
                                        PivotOperation<Real> pivot);

/// The white paper's pivoting (3.2.1, 3.2.3): the pivot rank factorises the rows that it holds; its U11 goes down the
/// process column; the eliminate ranks compute L21 = A21 U11^-1. No row crosses the network. Collective over the
/// pivot's process column; fills panel.pivots on the pivot's rank, zero_pivot on all.
template <class Real>
void factorize_panel_local(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel);

/// Partial pivoting over all rows of the process column (HPL_pdpanllT.c's communication, HPL_pdmxswp.c): recursive and
/// right-looking, one all-reduce a column, which finds the pivot and exchanges its row with the current one. Collective
/// over the pivot's process column; fills panel.pivots and zero_pivot on all its ranks.
template <class Real>
void factorize_panel_partial(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel);

/// Tournament pivoting over all rows of the process column (CALU: Grigori, Demmel, Xiang, SIAM J. Matrix Anal. Appl.
/// 32, 2011): for every block of columns (tournament_tree.hpp) each rank chooses candidates, whole rows of the panel,
/// which meet in a tree; its root, the pivot rank, tells all the winners, L11 \ U11 and the rows that the winners
/// displace; then L21 = A21 U11^-1. Collective over the pivot's process column; fills panel.pivots and zero_pivot on
/// all its ranks, which follow the root's arithmetic, whatever processors they have.
template <class Real>
void factorize_panel_tournament(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel);

/// The same of rows that lie elsewhere, on a grid of several process rows: of the panel in host memory, pivots, zero
/// pivot and the diagonal block above are filled alone.
template <class Real>
void factorize_panel_tournament(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel,
                                PanelRows<Real>& rows);

}  // namespace glinpack
