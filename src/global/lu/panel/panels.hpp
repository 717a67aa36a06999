// The panels of a factorisation: the current one, and the next one, which is factorised and broadcast during the
// update. A host and a device factorise panels with the same interface.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lu/panel/panel.hpp"

namespace glinpack {

/// P A = L U of the panels of a run, on the host or on a device.
template <class Real>
class PanelFactorizer {
 public:
  using Step = std::function<void()>;

  PanelFactorizer() = default;
  PanelFactorizer(const PanelFactorizer&) = delete;
  PanelFactorizer& operator=(const PanelFactorizer&) = delete;
  virtual ~PanelFactorizer() = default;

  /// The factorisation of a panel, as steps in order, each collective over the pivot's process column. The host can
  /// give the device other work between two steps. After the last step the panel is ready for its broadcast, in host
  /// memory if other process columns need it. `a`: this rank's rows of the panel in the matrix. `panel` has the pass's
  /// extents. All must outlive the steps.
  virtual std::vector<Step> steps(const PassPlan& pass, DeviceBlock<Real> a, Panel<Real>& panel) = 0;
  /// Whether one device factorises a panel of several ranks, whose rows it receives. It does so in four steps: its own
  /// rows are copied; all rows arrive and are factorised; the other ranks' rows of L are copied to host memory, or
  /// to where GPUs copy them from; they return.
  virtual bool is_gathered() const { return false; }
  /// Copies L and U11 into the matrix, unless they are factorised in it.
  virtual void store(const Panel<Real>& panel, DeviceBlock<Real> a) = 0;
  virtual bool factorizes_in_matrix() const { return false; }
};

/// For panels of up to `rows` rows; null if the parameters or the backend choose the host. Throws std::runtime_error if
/// PanelPlace::device is chosen and the backend cannot.
template <class Real>
std::unique_ptr<PanelFactorizer<Real>> make_device_panels(const RankContext<Real>& context, Index rows);

/// PanelMethod::gathered. `device`: for panels of all rows of the matrix.
template <class Real>
std::unique_ptr<PanelFactorizer<Real>> make_gathered_panels(const RankContext<Real>& context,
                                                            std::unique_ptr<DevicePanel<Real>> device);

/// Two panels, used in turn: the next panel is factorised and broadcast while the current one is read. A panel in
/// flight is a list of steps, each with the piece of the update before which it runs; the last one starts the
/// broadcast.
template <class Real>
class Panels {
 public:
  /// `a`: this rank's part of the matrix. Allocates. All must outlive it. Not collective.
  Panels(const RankContext<Real>& context, DeviceMatrix<Real>& a);
  Panels(const Panels&) = delete;
  Panels& operator=(const Panels&) = delete;

  /// All ranks of the grid send messages in the same order, even if only some of them have a GPU: devices factorise
  /// panels on all ranks or on none, and the next panel's broadcast starts before the rest of the update on all or on
  /// none. Collective over the grid, before the first pass.
  void agree_on_order();
  bool are_factorized_in_matrix() const { return factorizer_->factorizes_in_matrix(); }

  /// P, L11, L21, U11 <- A(k:, k), on the pivot's process column, then their broadcast along every process row: the
  /// first steps, during an update in pieces 0 ... `last_piece`. A host that is idle during the rest of the update
  /// factorises the panel then; otherwise the panel comes first.
  void start(const PassPlan& pass, std::size_t last_piece);
  /// The steps that are due before piece `i`. True if one of them starts the broadcast.
  bool resume(std::size_t i);
  /// The steps that are left.
  void finish();
  /// The panel of a pass, here on every rank: P, L11, L21 and U11, with L as an operand of the backend. Runs all steps
  /// of a panel that was not started.
  Panel<Real>& take(const PassPlan& pass);
  /// Copies L and U11 of the pass into the matrix.
  void store(const PassPlan& pass) { factorizer_->store(panel_of(pass), block_of(pass)); }

  /// Makes progress on the broadcasts; true once none is pending.
  bool test();
  /// Waits until no broadcast is pending. Forgets the panel in flight.
  void wait();

 private:
  struct Step {
    std::size_t before_piece;
    std::function<void()> run;
  };
  struct InFlight {
    PassPlan pass;
    std::vector<Step> steps;
    std::size_t done = 0;
    bool is_done() const { return done == steps.size(); }
  };

  static std::size_t slot_of(const PassPlan& pass) { return static_cast<std::size_t>(pass.pass) % 2; }
  Panel<Real>& panel_of(const PassPlan& pass) { return panels_[slot_of(pass)]; }
  DeviceBlock<Real> block_of(const PassPlan& pass) {
    return {&a_, pass.panel_row.value, pass.panel_column.value, pass.panel_rows, pass.width};
  }
  /// The pass's panel, with the pass's extents. Waits until nothing reads its previous content.
  Panel<Real>& acquire_panel(const PassPlan& pass);
  std::size_t piece_of_step(std::size_t step, std::size_t steps, std::size_t last_piece) const;
  void start_broadcast(const PassPlan& pass);
  void run_next_step();

  RankContext<Real> context_;
  DeviceMatrix<Real>& a_;
  std::unique_ptr<PanelFactorizer<Real>> device_panels_;  // null if the host factorises
  std::unique_ptr<PanelFactorizer<Real>> host_panels_;
  PanelFactorizer<Real>* factorizer_;
  bool host_overlaps_update_ = false;  // the host is free while devices compute the update
  std::array<Panel<Real>, 2> panels_;
  std::array<std::unique_ptr<Transfer>, 2> broadcasts_;
  std::optional<InFlight> in_flight_;
};

}  // namespace glinpack
