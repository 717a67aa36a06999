// The white paper's algorithm (sections 3.1 and 3.2): each rank's backend computes row by row. The pivot rank reduces
// all its rows while it factorises. Normalize ranks exchange, eliminate and reduce in one step. Only with local
// pivoting or one process row, so that no row crosses the network.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/row_by_row.hpp"
#include "lu/factorize.hpp"
#include "lu/panel/panel.hpp"

namespace glinpack {

template <class Real>
class RowByRowLu final : public LuFactorization {
 public:
  RowByRowLu(const RankContext<Real>& context, DeviceMatrix<Real>& a)
      : LuFactorization(context),
        context_(context),
        a_(a),
        local_(*context.backend.row_by_row()),
        panel_(context.backend.allocate_host(panel_message_elements<Real>(a.rows(), context.distribution.nb)), nullptr),
        u_(context.backend.allocate_host(context.distribution.nb * a.columns())) {}

 private:
  bool run_pass(const PassPlan& pass, PassRange, bool /*is_saved*/, Factorization& result) override {
    context_.backend.wait(host_free_);
    panel_.resize(pass.panel_rows, pass.width);
    if (pass.in_pivot_column) factorize_panel(pass);
    context_.transport.broadcast(MessageKind::panel, pass, panel_.message());
    if (!pass.in_pivot_column) panel_.unpack();
    result.append(panel_);
    if (result.zero_pivot) return false;

    if (pass.role == Role::normalize) normalize(pass);
    if (pass.trailing_columns > 0) context_.transport.broadcast(MessageKind::u12, pass, u12_message(pass));
    if (!pass.in_pivot_row) reduce(pass);
    return true;
  }

  HostBlock<Real> u12(const PassPlan& pass) const {
    return {u_.get(), 0, pass.width, pass.trailing_columns, pass.trailing_columns};
  }
  std::span<Real> u12_message(const PassPlan& pass) const {
    return {u_->data(), static_cast<std::size_t>(pass.width * pass.trailing_columns)};
  }

  // pivot: P A = L U of its rows of the panel; eliminate: L21 <- A21 U11^-1.
  void factorize_panel(const PassPlan& pass) {
    std::optional<Index> zero;
    if (pass.role == Role::pivot) zero = factorize_own_rows(pass);
    const DiagonalBlock<Real> diagonal = broadcast_diagonal_block(context_, pass, panel_, zero);
    if (!panel_.zero_pivot && pass.role == Role::eliminate) {
      const DeviceBlock<Real> a21{&a_, pass.panel_row.value, pass.panel_column.value, pass.panel_rows, pass.width};
      local_.eliminate_rows(diagonal.view(), a21, panel_.transposed());
    }
    panel_.pack();
  }

  // Also reduces this rank's part to the right of the panel and below it.
  std::optional<Index> factorize_own_rows(const PassPlan& pass) {
    std::vector<Index> rows(static_cast<std::size_t>(pass.width));
    const DeviceBlock<Real> left{&a_, pass.panel_row.value, pass.panel_column.value, pass.panel_rows,
                                 pass.width + pass.trailing_columns};
    const std::optional<Index> zero = local_.pivot_rows(left, panel_.transposed(), u12(pass), rows);
    std::transform(rows.begin(), rows.end(), panel_.pivots.begin(), [&](Index row) {
      return context_.distribution.rows.global(pass.panel_row + row, context_.position().row);
    });
    return zero;
  }

  // P, U12 <- L11^-1 A12, A22 <- A22 - L21 U12.
  void normalize(const PassPlan& pass) {
    if (pass.trailing_columns == 0) return;
    std::vector<Index> rows;
    for (const GlobalIndex pivot : panel_.pivots) {
      rows.push_back(context_.distribution.rows.local(pivot).value - pass.panel_row.value);
    }
    const DeviceBlock<Real> a{&a_, pass.panel_row.value, pass.trailing_column.value, pass.panel_rows,
                              pass.trailing_columns};
    local_.normalize_rows(panel_.transposed(), rows, a, u12(pass));
  }

  // A22 <- A22 - L21 U12.
  void reduce(const PassPlan& pass) {
    const DeviceBlock<Real> a22{&a_, pass.trailing_row.value, pass.trailing_column.value, pass.trailing_rows,
                                pass.trailing_columns};
    host_free_ = local_.reduce_rows(panel_.transposed(), u12(pass), a22);
  }

  RankContext<Real> context_;
  DeviceMatrix<Real>& a_;
  RowByRowAlgorithm<Real>& local_;
  Panel<Real> panel_;
  std::unique_ptr<HostBuffer<Real>> u_;
  Fence host_free_;  // until then the device may still read the last pass's panel and U12
};

}  // namespace glinpack
