// Tournament pivoting over several processes where devices hold the panel: it stays in the matrix, and candidates,
// winners and displaced rows alone cross between device and host.
#pragma once

#include <memory>

#include "global/panel_rows.hpp"
#include "local/backend.hpp"

namespace glinpack {

/// With the memory that it needs from one panel to the next. A block's columns are copied, transposed, to be chosen
/// from and to be eliminated; rows are read and written in the matrix.
template <class Real>
class DevicePanelRows final : public PanelRows<Real> {
 public:
  using typename PanelRows<Real>::Choice;
  using typename PanelRows<Real>::Winners;

  /// For panels of up to rows x columns; null where the backend's device is not good at them. The arguments must
  /// outlive it. Throws as Backend::allocate does.
  static std::unique_ptr<DevicePanelRows> make(Backend<Real>& backend, Timeline& timeline, Index rows, Index columns);

  /// The panel that is next, rows x width. Its elements are changed where they are.
  void begin(const DeviceBlock<Real>& panel) { panel_ = panel; }

  Choice choose(const TournamentBlock& block, Index first, Index count, ColumnMajorView<Real> factors) override;
  void read(std::span<const Index> rows, ColumnMajorView<Real> to) override;
  void write(ColumnMajorView<const Real> from, std::span<const Index> rows) override;
  void eliminate(const TournamentBlock& block, Index first, Index count, const Winners& winners) override;

 private:
  DevicePanelRows(Backend<Real>& backend, Timeline& timeline, std::unique_ptr<DevicePanel<Real>> device, Index rows,
                  Index columns);
  Choice choose_on_host(const DeviceBlock<Real>& columns, Index first, ColumnMajorView<Real> factors);

  Backend<Real>& backend_;
  Timeline& timeline_;
  std::unique_ptr<DevicePanel<Real>> device_;
  std::unique_ptr<DeviceMatrix<Real>> strip_;  // a block's columns, transposed, behind L11 \ U11
  std::unique_ptr<DeviceMatrix<Real>> u12_;
  std::unique_ptr<HostBuffer<Real>> read_, written_, l11_u11_, u12_on_host_;
  Fence rows_given_, factors_given_;  // until then the device may still read what the host has given
  DeviceBlock<Real> panel_;
};

/// Elements of device memory that it takes beside the matrix.
Index device_panel_elements(Index rows, Index columns);

}  // namespace glinpack
