// The panel of a pass: the pivots P and the factors L11 \ U11 and L21 of the block column that the pass factorises.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lu/parameters.hpp"
#include "transport/transport.hpp"

namespace glinpack {

/// Elements of the header of a panel's message, of one of its columns, and of the message of a panel of `rows` rows,
/// those above included.
template <class Real>
constexpr Index panel_header_elements(Index width) {
  constexpr Index cache_line = 64;  // bytes
  return round_up((width + 1) * static_cast<Index>(sizeof(std::int64_t)), cache_line) /
         static_cast<Index>(sizeof(Real));
}
/// Pads tall panels. Columns at a multiple of a large power of two would share cache sets.
constexpr Index padded_panel_rows(Index rows) { return rows < 512 ? rows : round_up(rows, 16) + 16; }
template <class Real>
constexpr Index panel_message_elements(Index rows, Index width) {
  return panel_header_elements<Real>(width) + padded_panel_rows(rows) * width;
}

/// The header of a panel's message.
template <class Real>
void write_panel_header(Real* message, std::optional<GlobalIndex> zero_pivot, std::span<const GlobalIndex> pivots) {
  std::vector<std::int64_t> header{zero_pivot ? zero_pivot->value : -1};
  for (const GlobalIndex pivot : pivots) header.push_back(pivot.value);
  std::memcpy(message, header.data(), header.size() * sizeof header[0]);
}

/// A rank's share of a panel in host memory, stored as the contiguous message of its broadcast along the process row:
///   zero pivot (or -1) | pivots[width] | the panel, column-major, above + rows x width
/// the integers as 64-bit, padded to a whole cache line. The ranks of the pivot's process row have L11 \ U11 in the
/// first `width` rows; all ranks have L21 below. If all process rows compute U12, the other ranks also have L11 \ U11,
/// in `width` rows above their own.
template <class Real>
class Panel {
 public:
  /// `buffer`: of panel_message_elements(). `operand` makes its panels operands of the backend.
  Panel(std::unique_ptr<HostBuffer<Real>> buffer, std::shared_ptr<Operand<Real>> operand)
      : buffer_(std::move(buffer)), operand_(std::move(operand)) {}

  /// `above` is 0 or width.
  void resize(Index rows, Index width, Index above = 0) {
    l11_rows_ = above;
    rows_ = rows;
    width_ = width;
    header_ = panel_header_elements<Real>(width);
    leading_dimension_ = padded_panel_rows(above + rows);
    pivots.assign(static_cast<std::size_t>(width), GlobalIndex{});
    zero_pivot.reset();
    factors = {};
  }
  Index rows() const { return rows_; }
  Index width() const { return width_; }
  Index l11_rows() const { return l11_rows_; }

  /// rows x width: this rank's own.
  ColumnMajorView<Real> view() const { return {first() + l11_rows_, rows_, width_, leading_dimension_}; }
  /// The same elements in the backend's layout: width x rows, row-major.
  HostBlock<Real> transposed() const { return {buffer_.get(), header_ + l11_rows_, width_, rows_, leading_dimension_}; }
  /// L11 \ U11, on ranks that have them.
  ColumnMajorView<Real> diagonal_block() const { return {first(), width_, width_, leading_dimension_}; }
  /// width x (above + rows), row-major: the message without its header.
  HostBlock<Real> all_transposed() const {
    return {buffer_.get(), header_, width_, l11_rows_ + rows_, leading_dimension_};
  }

  /// Global rows that were interchanged with the panel's first, second, ... row.
  std::vector<GlobalIndex> pivots;
  /// The first column of A whose pivot is exactly zero: A is singular.
  std::optional<GlobalIndex> zero_pivot;

  /// [L11 \ U11; L21]^T, width x (above + rows), as an operand of the backend.
  DeviceBlock<Real> factors;
  DeviceBlock<Real> l11_transposed() const { return factors.block(0, 0, width_, width_); }
  /// The multipliers of the trailing rows of `pass`.
  DeviceBlock<Real> l21_transposed(const PassPlan& pass) const {
    return factors.block(0, l11_rows_ + rows_ - pass.trailing_rows, width_, pass.trailing_rows);
  }

  Operand<Real>& operand() const { return *operand_; }
  /// Until then the device may still read the panel in host memory.
  Fence host_free;

  /// Writes pivots and zero_pivot into the message, and reads them from it.
  void pack() { write_panel_header(buffer_->data(), zero_pivot, pivots); }
  void unpack() { unpack(buffer_->data()); }
  /// From another message that begins with the same header.
  void unpack(const Real* message) {
    std::vector<std::int64_t> header(pivots.size() + 1);
    std::memcpy(header.data(), message, header.size() * sizeof header[0]);
    zero_pivot.reset();
    if (header[0] >= 0) zero_pivot = GlobalIndex(header[0]);
    for (std::size_t j = 0; j < pivots.size(); ++j) pivots[j] = GlobalIndex(header[j + 1]);
  }
  std::span<Real> message() const {
    return {buffer_->data(), static_cast<std::size_t>(header_ + leading_dimension_ * width_)};
  }
  MessagePlace place() const { return {buffer_->on_device(), header_}; }
  bool is_on_device() const { return buffer_->on_device() != 0; }
  /// The host reads and writes its panels.
  void leave_device() { buffer_->leave_device(); }

 private:
  Real* first() const { return buffer_->data() + header_; }

  std::unique_ptr<HostBuffer<Real>> buffer_;
  std::shared_ptr<Operand<Real>> operand_;
  Index header_ = 0;  // elements
  Index l11_rows_ = 0;
  Index rows_ = 0;
  Index width_ = 0;
  Index leading_dimension_ = 0;
};

/// L11 \ U11 of a pass, as broadcast with local pivoting: column-major, followed by the panel's column without a pivot
/// (or -1), which is small enough to be exact in any precision.
template <class Real>
struct DiagonalBlock {
  std::vector<Real> elements;
  Index width;

  explicit DiagonalBlock(Index w) : elements(static_cast<std::size_t>(w * w + 1)), width(w) {}
  ColumnMajorView<Real> view() { return {elements.data(), width, width, width}; }
  ColumnMajorView<const Real> view() const { return {elements.data(), width, width, width}; }
};

/// The rows of a panel's top block: 0 ... width - 1.
inline std::vector<Index> top_rows(Index width) {
  std::vector<Index> rows(static_cast<std::size_t>(width));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// Broadcasts the pivot rank's L11 \ U11, the first rows of its panel, or `zero`, the panel's column without a pivot,
/// down the process column. Collective over it; fills panel.zero_pivot on all its ranks.
template <class Real>
DiagonalBlock<Real> broadcast_diagonal_block(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel,
                                             std::optional<Index> zero);

template <class Real>
using FactorizeOperation = std::optional<Index> (PanelArithmetic<Real>::*)(ColumnMajorView<Real>, std::span<Index>);

/// P A = L U of the rows of the panel that this rank holds: fills panel.pivots, and returns the panel's first column
/// without a pivot. Not collective.
template <class Real>
std::optional<Index> factorize_own_rows(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel,
                                        FactorizeOperation<Real> factorize);

/// The white paper's pivoting (3.2.1, 3.2.3): the pivot rank factorises the rows that it holds; its U11 is broadcast
/// down the process column; the eliminate ranks compute L21 = A21 U11^-1. No row crosses the network. Collective over
/// the pivot's process column; fills panel.pivots on the pivot's rank, zero_pivot on all.
template <class Real>
void factorize_panel_local(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel);

/// Partial pivoting over all rows of the process column (HPL_pdpanllT.c's communication, HPL_pdmxswp.c): recursive and
/// right-looking, one all-reduce a column, which finds the pivot and exchanges its row with the current one. Collective
/// over the pivot's process column; fills panel.pivots and zero_pivot on all its ranks.
template <class Real>
void factorize_panel_partial(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel);

/// Tournament pivoting over all rows of the process column (CALU: Grigori, Demmel, Xiang, SIAM J. Matrix Anal. Appl.
/// 32, 2011; tournament.hpp). Collective over the pivot's process column; fills panel.pivots and zero_pivot on all its
/// ranks. All ranks use the root's results, so different processors cannot disagree.
template <class Real>
void factorize_panel_tournament(const RankContext<Real>& context, const PassPlan& pass, Panel<Real>& panel);

/// The shared memory of a run: the largest broadcasts from or to the rank at `at`, and rings, the same on its process
/// column. `panels_on_device`: whether devices may factorise panels.
template <class Real>
BroadcastSizes broadcast_sizes(const RunParameters& parameters, GridShape grid, GridPosition at,
                               bool panels_on_device = false) {
  // The bytes of each ring if together the rings hold `elements`. Longer messages pass slice by slice.
  const auto ring_bytes = [grid](Index elements) {
    constexpr Index min_bytes = Index{1} << 20;
    return static_cast<std::size_t>(std::max(min_bytes, elements * static_cast<Index>(sizeof(Real)) / (grid.rows - 1)));
  };
  const Distribution distribution = distribution_of(parameters, grid);
  const auto bytes = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(Real); };
  const Index panel_rows = rows_above_panels(parameters, distribution) + distribution.local_rows(at);
  const Index u12 = distribution.nb * distribution.stored_columns(at);
  BroadcastSizes sizes{.row = bytes(panel_message_elements<Real>(panel_rows, distribution.nb)), .column = bytes(u12)};
  if (grid.rows == 1 || !pivots_across_processes(parameters.pivoting)) return sizes;
  sizes.row_ring = ring_bytes(2 * u12);
  if (panels_on_device && panel_method(parameters, grid, true) == PanelMethod::gathered) {
    sizes.panel_ring = ring_bytes(distribution.nb * distribution.n / grid.rows);
  }
  return sizes;
}

}  // namespace glinpack
