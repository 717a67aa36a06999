// The steps of a pass by blocks: the panel is factorised, on the host or on the device, then whole blocks are
// normalized and reduced.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "global/device_panel_rows.hpp"
#include "global/factorize.hpp"
#include "global/panel.hpp"
#include "global/pass_messages.hpp"
#include "global/row_exchange.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// With the memory that the steps need between them.
template <class Real>
class BlockedSteps final : public FactorizationSteps {
 public:
  /// Allocates everything that the factorisation needs besides the matrix. Not collective.
  BlockedSteps(const RunParameters& parameters, const Distribution& distribution, const ProcessGrid& grid,
               Backend<Real>& backend, Timeline& timeline, DeviceMatrix<Real>& a, NodeWindows* windows);

  void agree() override;
  void fetch_panel(const PassPlan& plan) override;
  void factorize_panel(const PassPlan& plan) override;
  void start_broadcast(const PassPlan& plan) override;
  void finish_broadcast(const PassPlan& plan) override;
  void start_swap(const PassPlan& plan, ColumnRange columns) override;
  void finish_swap_and_normalize(const PassPlan& plan, ColumnRange columns) override;
  void reduce(const PassPlan& plan, ColumnRange columns) override;
  void abandon() override;
  bool can_look_ahead() const override { return true; }
  bool reduces_in_background() const override { return backend_.asynchronous(); }
  std::optional<GlobalIndex> zero_pivot() const override { return panels_[current_].zero_pivot; }
  const std::vector<GlobalIndex>& pivots() const override { return panels_[current_].pivots; }

 private:
  // Panels take turns, so that one may still be on its way to other ranks while the next one comes.
  static std::size_t slot_of(const PassPlan& plan) { return static_cast<std::size_t>(plan.pass) % 2; }
  // Of a panel, above this rank's own: for L11.
  Index rows_above(const PassPlan& plan) const { return all_compute_u12_ && !plan.in_pivot_row ? plan.width : 0; }
  bool needs_u_on_host() const {
    return distribution_.shape.rows > 1 && (!all_compute_u12_ || backend_.computes_in_host_memory());
  }
  // The pass's panel, of the right extents, when nobody reads it any more.
  Panel<Real>& free_panel(const PassPlan& plan);
  PanelContext<Real> panel_context() {
    return {distribution_, grid_.position(), messages_, backend_.panel(), timeline_};
  }
  // For panels of up to as many rows as the matrix has here.
  void make_device_panels();
  bool panels_on_device() const { return device_panel_ || device_rows_; }
  bool on_device(const PassPlan& plan) const { return panels_on_device() && plan.in_pivot_column; }
  // What the device tells of the panel that it has factorised.
  void take_outcome(const PassPlan& plan, Panel<Real>& panel);
  // The process column's devices together; L to l_on_device(), with L11 \ U11 above it.
  void factorize_in_matrix(const PassPlan& plan, Panel<Real>& panel, const DeviceBlock<Real>& a);
  // Where the device factorises panel k + 1, that of pass k is still needed.
  std::unique_ptr<DeviceMatrix<Real>>& l_matrix(const PassPlan& plan) {
    return l_transposed_[panels_on_device() ? slot_of(plan) : 0];
  }
  DeviceBlock<Real> l_on_device(const PassPlan& plan) {
    return whole(*l_matrix(plan)).block(0, 0, plan.width, rows_above(plan) + plan.panel_rows);
  }
  void finish(std::size_t slot);
  bool drive_messages();
  void normalize_and_broadcast(const PassPlan& plan, DeviceBlock<Real> a12);
  void gather_and_normalize(const PassPlan& plan, DeviceBlock<Real> a12);
  void copy_where_needed(const PassPlan& plan, DeviceBlock<Real> a12);
  // The host block as an operand: itself, where the backend computes in host memory, or what it is uploaded to; then
  // `free` says when the block may change again.
  DeviceBlock<Real> operand(const HostBlock<Real>& block, std::unique_ptr<DeviceMatrix<Real>>& matrix, Fence& free);

  const RunParameters& parameters_;
  const Distribution& distribution_;
  const ProcessGrid& grid_;
  Backend<Real>& backend_;
  Timeline& timeline_;
  DeviceMatrix<Real>& a_;
  bool all_compute_u12_;
  PassMessages messages_;
  Index panel_rows_;  // of a panel at most
  std::array<Panel<Real>, 2> panels_;
  std::array<Fence, 2> panel_free_;  // until then, the device may still read the panel
  std::array<std::unique_ptr<BroadcastUnderWay>, 2> broadcasts_;
  std::size_t current_ = 0;  // the pass's panel, after finish_broadcast
  // nb x local rows: the panel on the device, or the panel itself. Two take turns where the device factorises panels
  std::array<std::unique_ptr<DeviceMatrix<Real>>, 2> l_transposed_;
  // what factorises panels on the device, of one process row and of several; null where the host does
  std::unique_ptr<DevicePanel<Real>> device_panel_;
  std::unique_ptr<DevicePanelRows<Real>> device_rows_;
  std::unique_ptr<DeviceMatrix<Real>> u_;     // nb x local columns: U12 on the device, or U12 as it travelled
  DeviceBlock<Real> l_;                       // the pass's L11 \ L21, transposed
  ColumnRange normalized_;                    // trailing columns of the pass,
  DeviceBlock<Real> u12_;                     // and U12 in these
  std::unique_ptr<HostBuffer<Real>> u_host_;  // U12 as it travels; only where there are several process rows,
                                              // and not where U travels with the rows that change places
                                              // unless the backend computes in it
  RowExchange<Real> row_exchange_;
  // what would arrive, where messages are left out: filled once, in the form of a panel's message and of u_host_
  std::unique_ptr<HostBuffer<Real>> stand_in_panel_;
  std::unique_ptr<HostBuffer<Real>> stand_in_u_;
  Fence panel_here_;   // of fetch_panel
  Fence u_host_free_;  // until then, the device may still read the last pass's U12
};

}  // namespace glinpack
