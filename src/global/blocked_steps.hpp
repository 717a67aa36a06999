// The steps of a pass by blocks: the panel is factorised on the host, then whole blocks are normalized and reduced.
#pragma once

#include <memory>
#include <optional>
#include <vector>

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
               Backend<Real>& backend, Timeline& timeline, DeviceMatrix<Real>& a);

  void fetch_panel(const PassPlan& plan) override;
  void factorize_panel(const PassPlan& plan) override;
  void start_broadcast(const PassPlan& plan) override;
  void finish_broadcast(const PassPlan& plan) override;
  void swap_rows(const PassPlan& plan) override;
  void normalize_and_broadcast(const PassPlan& plan) override;
  void reduce(const PassPlan& plan, ColumnRange columns) override;
  bool can_look_ahead() const override { return true; }
  bool reduces_in_background() const override { return backend_.asynchronous(); }
  std::optional<GlobalIndex> zero_pivot() const override { return panel_.zero_pivot; }
  const std::vector<GlobalIndex>& pivots() const override { return panel_.pivots; }

 private:
  const RunParameters& parameters_;
  const Distribution& distribution_;
  const ProcessGrid& grid_;
  Backend<Real>& backend_;
  Timeline& timeline_;
  DeviceMatrix<Real>& a_;
  PassMessages messages_;
  Panel<Real> panel_;
  std::unique_ptr<DeviceMatrix<Real>> l_transposed_;  // nb x local rows: the panel on the device
  std::unique_ptr<DeviceMatrix<Real>> u_;             // nb x local columns: U12 on the device
  std::unique_ptr<HostBuffer<Real>> u_host_;          // U12 as it travels; only where there are several process rows
  RowExchange<Real> row_exchange_;
  std::unique_ptr<BroadcastUnderWay> broadcast_;
  // what would arrive, where messages are left out: filled once, in the form of panel_'s message and of u_host_
  std::unique_ptr<HostBuffer<Real>> stand_in_panel_;
  std::unique_ptr<HostBuffer<Real>> stand_in_u_;
  Fence panel_here_;  // of fetch_panel
  Fence panel_free_;  // until these, the device may still read the last pass's host buffers
  Fence u_host_free_;
};

}  // namespace glinpack
