// The panels of a factorisation: the current one, and the next one, which is factorised and broadcast during the
// update. A host and a device factorise panels with the same interface.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
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
  void agree_on_order() {
    const Distribution& distribution = context_.distribution;
    if (!all_agree(context_.grid.all(), device_panels_ != nullptr)) {
      if (distribution.shape.rows > 1 && panels_may_be_on_device(context_.parameters.pivoting, distribution.shape)) {
        factorizer_ = host_panels_.get();
      }
      for (Panel<Real>& panel : panels_) panel.leave_device();
    }
    // broadcasts take one path, also if nodes of unequal size factorise panels in several ways
    if (!all_agree(context_.grid.all(), std::ranges::all_of(panels_, &Panel<Real>::is_on_device))) {
      for (Panel<Real>& panel : panels_) panel.leave_device();
    }
    host_overlaps_update_ = all_agree(context_.grid.all(), context_.backend.info().asynchronous);
  }
  bool are_factorized_in_matrix() const { return factorizer_->factorizes_in_matrix(); }

  /// P, L11, L21, U11 <- A(k:, k), on the pivot's process column, then their broadcast along every process row: the
  /// first steps, during an update in pieces 0 ... `last_piece`. A host that is idle during the rest of the update
  /// factorises the panel then; otherwise the panel comes first.
  void start(const PassPlan& pass, std::size_t last_piece) {
    in_flight_ = InFlight{.pass = pass, .steps = {}};
    std::vector<std::function<void()>> steps;
    if (pass.in_pivot_column) {
      const auto in_pass = context_.timeline().in_pass(pass.pass, pass.role);
      steps = factorizer_->steps(pass, block_of(pass), acquire_panel(pass));
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      in_flight_->steps.push_back({piece_of_step(i, steps.size(), last_piece), std::move(steps[i])});
    }
    in_flight_->steps.push_back({piece_of_step(0, 1, last_piece), [this, pass] { start_broadcast(pass); }});
    if (!host_overlaps_update_) run_remaining_steps();
  }
  /// Runs the steps that are due before piece `i`. True if one of them starts the broadcast.
  bool run_steps_before(std::size_t i) {
    if (!in_flight_ || in_flight_->is_done()) return false;
    while (!in_flight_->is_done() && in_flight_->steps[in_flight_->done].before_piece <= i) run_next_step();
    return in_flight_->is_done();
  }
  void run_remaining_steps() {
    while (in_flight_ && !in_flight_->is_done()) run_next_step();
  }
  /// The panel of a pass, here on every rank: P, L11, L21 and U11, with L as an operand of the backend. Runs all steps
  /// of a panel that was not started.
  Panel<Real>& take(const PassPlan& pass) {
    if (!in_flight_ || in_flight_->pass.pass != pass.pass) start(pass, 0);
    run_remaining_steps();
    Panel<Real>& panel = panel_of(pass);
    if (const auto& broadcast = broadcasts_[slot_of(pass)]) broadcast->wait_until_arrived();
    if (!pass.in_pivot_column) panel.unpack();
    if (!panel.zero_pivot && panel.factors.matrix == nullptr) {
      panel.factors = panel.operand().from_host(panel.all_transposed(), panel.host_free);
    }
    return panel;
  }
  /// Copies L and U11 of the pass into the matrix.
  void store(const PassPlan& pass) { factorizer_->store(panel_of(pass), block_of(pass)); }

  /// Makes progress on the broadcasts; true once none is pending.
  bool test() {
    bool done = true;
    for (const auto& broadcast : broadcasts_) done = (!broadcast || broadcast->test()) && done;
    return done;
  }
  /// Waits until no broadcast is pending. Forgets the panel in flight.
  void wait_for_broadcasts() {
    for (auto& broadcast : broadcasts_) {
      if (broadcast) broadcast->wait();
      broadcast.reset();
    }
    in_flight_.reset();
  }

 private:
  static constexpr std::size_t after_update = std::numeric_limits<std::size_t>::max();

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
  Panel<Real>& acquire_panel(const PassPlan& pass) {
    Panel<Real>& panel = panel_of(pass);
    if (auto& broadcast = broadcasts_[slot_of(pass)]) broadcast->wait();
    broadcasts_[slot_of(pass)].reset();
    context_.backend.wait(std::exchange(panel.host_free, {}));
    const Index above = pass.in_pivot_row ? 0 : rows_above_panels(context_.parameters, context_.distribution);
    panel.resize(pass.panel_rows, pass.width, std::min(above, pass.width));
    return panel;
  }
  // A gathered panel takes turns with the update: it is factorised during the second piece, the rows of L return during
  // the third one, and it is complete before the last one, if that is a later one. A whole panel in three steps is
  // factorised during the first two pieces.
  std::size_t piece_of_step(std::size_t step, std::size_t steps, std::size_t last_piece) const {
    if (step + 1 == steps) return factorizer_->is_gathered() && last_piece > 2 ? last_piece : after_update;
    if (!factorizer_->is_gathered() && step == 1) return std::min<std::size_t>(2, last_piece);
    return step == 1 ? std::min(step, last_piece) : step;
  }
  void start_broadcast(const PassPlan& pass) {
    Panel<Real>& panel = pass.in_pivot_column ? panel_of(pass) : acquire_panel(pass);
    broadcasts_[slot_of(pass)] =
        context_.transport.start_broadcast(MessageKind::panel, pass, panel.message(), 0, panel.place());
  }
  void run_next_step() {
    const auto in_pass = context_.timeline().in_pass(in_flight_->pass.pass, in_flight_->pass.role);
    in_flight_->steps[in_flight_->done++].run();
  }

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
