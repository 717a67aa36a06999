// The panels of a factorisation: the current one, and the next one, which is factorised and broadcast during the
// update. A host and a device factorise panels with the same interface.
#pragma once

#include <array>
#include <memory>

#include "lu/panel/panel.hpp"
#include "lu/parameters.hpp"

namespace glinpack {

/// Inputs of a panel factorisation; all must outlive it.
template <class Real>
struct PanelWork {
  const RunParameters& parameters;
  const Distribution& distribution;
  GridPosition position;
  Backend<Real>& backend;
  Transport<Real>& transport;
  Timeline& timeline;

  PanelContext<Real> context() const { return {distribution, position, transport, backend.panel(), timeline}; }
};

/// P A = L U of the panels of a run, on the host or on a device. All calls are collective over the pivot's process
/// column. The host can start other device work between the two halves, start() and finish(). Gathered panels have two
/// more steps between the halves.
template <class Real>
class PanelFactorizer {
 public:
  PanelFactorizer() = default;
  PanelFactorizer(const PanelFactorizer&) = delete;
  PanelFactorizer& operator=(const PanelFactorizer&) = delete;
  virtual ~PanelFactorizer() = default;

  /// The first half: a device factorises the panel, or the host starts its download. `a`: this rank's rows of the panel
  /// in the matrix. `panel` has the pass's extents.
  virtual void start(const PassPlan& pass, DeviceBlock<Real> a, Panel<Real>& panel) = 0;
  /// Whether one device factorises a panel of several ranks, whose rows it receives.
  virtual bool is_gathered() const { return false; }
  /// Gathered panels: the device receives the rows and factorises the panel. Call it when the device has work until the
  /// rows arrive. The update that is dispatched next may overlap the panel.
  virtual void factorize(const PassPlan&, Panel<Real>&) {}
  /// Gathered panels, after that update is dispatched: starts to copy the other ranks' rows of L to host memory.
  virtual void start_return(const PassPlan&, Panel<Real>&) {}
  /// The second half: the factorised panel is ready for its broadcast, in host memory if other process columns need it.
  virtual void finish(const PassPlan& pass, Panel<Real>& panel) = 0;
  /// Copies L and U11 into the matrix, unless they are factorised in it.
  virtual void store(const Panel<Real>& panel, DeviceBlock<Real> a) = 0;
  virtual bool factorizes_in_matrix() const { return false; }
};

/// For panels of up to `rows` rows; null if the parameters or the backend choose the host. Throws std::runtime_error if
/// PanelPlace::device is chosen and the backend cannot.
template <class Real>
std::unique_ptr<PanelFactorizer<Real>> make_device_panels(const PanelWork<Real>& work, Index rows);

/// PanelMethod::gathered. `device`: for panels of all rows of the matrix.
template <class Real>
std::unique_ptr<PanelFactorizer<Real>> make_gathered_panels(const PanelWork<Real>& work,
                                                            std::unique_ptr<DevicePanel<Real>> device);

/// Elements of device memory for device panels of several process rows, in addition to the matrix.
Index device_panel_elements(Index rows, Index columns);

/// A panel whose broadcast along the process rows has started.
template <class Real>
class PanelFuture {
 public:
  PanelFuture() = default;
  PanelFuture(Panel<Real>& panel, Transfer* broadcast, bool receives)
      : panel_(&panel), broadcast_(broadcast), receives_(receives) {}

  /// Whether it refers to a panel.
  explicit operator bool() const { return panel_ != nullptr; }
  /// Waits until P, L11 and L21 have arrived, and makes L an operand of the backend.
  Panel<Real>& get();

 private:
  Panel<Real>* panel_ = nullptr;
  Transfer* broadcast_ = nullptr;  // null if nothing is sent
  bool receives_ = false;
};

/// Two panels, used in turn: one may be broadcast while the other one is read.
template <class Real>
class Panels {
 public:
  /// `a`: this rank's part of the matrix. `rows_above`: rows_above_panels(). Allocates. All must outlive it. Not
  /// collective.
  Panels(const PanelWork<Real>& work, DeviceMatrix<Real>& a, Index rows_above);
  Panels(const Panels&) = delete;
  Panels& operator=(const Panels&) = delete;

  /// All ranks of the grid send messages in the same order, even if only some of them have a GPU: devices factorise
  /// panels on all ranks or on none, and the next panel's broadcast starts before the rest of the update on all or on
  /// none. Collective over the grid, before the first pass.
  void agree_on_order();
  /// Whether the next panel is finished after the rest of the update has been started: the host is free meanwhile.
  bool host_overlaps_update() const { return host_overlaps_update_; }

  bool are_gathered() const { return factorizer_->is_gathered(); }
  bool are_factorized_in_matrix() const { return factorizer_->factorizes_in_matrix(); }

  /// P, L11, L21, U11 <- A(k:, k), in two halves (PanelFactorizer) and the steps between them, which may be left to
  /// finish_factorization(). Collective over the pivot's process column.
  void start_factorization(const PassPlan& pass);
  void factorize_gathered(const PassPlan& pass);
  void start_return(const PassPlan& pass);
  void finish_factorization(const PassPlan& pass);
  /// Starts the broadcast of the pass's panel along the process rows. Collective over them.
  PanelFuture<Real> start_broadcast(const PassPlan& pass);
  /// Copies L and U11 of the pass into the matrix.
  void store(const PassPlan& pass) { factorizer_->store(panel_of(pass), block_of(pass)); }

  /// Makes progress on the broadcasts; true once none is pending.
  bool test();
  /// Waits until no broadcast is pending.
  void wait();

 private:
  static std::size_t slot_of(const PassPlan& pass) { return static_cast<std::size_t>(pass.pass) % 2; }
  Panel<Real>& panel_of(const PassPlan& pass) { return panels_[slot_of(pass)]; }
  DeviceBlock<Real> block_of(const PassPlan& pass) {
    return {&a_, pass.panel_row.value, pass.panel_column.value, pass.panel_rows, pass.width};
  }
  /// The pass's panel, with the pass's extents. Waits until nothing reads its previous content.
  Panel<Real>& acquire_panel(const PassPlan& pass);

  PanelWork<Real> work_;
  DeviceMatrix<Real>& a_;
  Index rows_above_;
  std::unique_ptr<PanelFactorizer<Real>> device_panels_;  // null if the host factorises
  std::unique_ptr<PanelFactorizer<Real>> host_panels_;
  PanelFactorizer<Real>* factorizer_;
  bool host_overlaps_update_ = false;
  enum class Step { started, factorized, returning } step_ = Step::started;  // of the next panel
  std::array<Panel<Real>, 2> panels_;
  std::array<std::unique_ptr<Transfer>, 2> broadcasts_;
};

}  // namespace glinpack
