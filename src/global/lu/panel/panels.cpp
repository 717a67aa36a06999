#include "lu/panel/panels.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "lu/no_transport.hpp"

namespace glinpack {

namespace {

constexpr std::size_t after_update = std::numeric_limits<std::size_t>::max();

template <class Real>
class HostPanels final : public PanelFactorizer<Real> {
 public:
  using typename PanelFactorizer<Real>::Step;

  explicit HostPanels(const RankContext<Real>& context) : context_(context) {}

  std::vector<Step> steps(const PassPlan& pass, DeviceBlock<Real> a, Panel<Real>& panel) override {
    return {[this, a, &panel] { downloaded_ = context_.backend.download_transposed(a, panel.transposed()); },
            [this, pass, &panel] {
              context_.backend.wait(downloaded_);
              factorize(pass, panel);
              panel.pack();
            }};
  }

  void store(const Panel<Real>& panel, DeviceBlock<Real> a) override {
    context_.backend.copy_transposed(panel.factors.block(0, panel.l11_rows(), panel.width(), panel.rows()), a);
  }

 private:
  void factorize(const PassPlan& pass, Panel<Real>& panel) {
    switch (context_.parameters.pivoting) {
      case Pivoting::local:
        return factorize_panel_local(context_, pass, panel);
      case Pivoting::partial:
        return factorize_panel_partial(context_, pass, panel);
      case Pivoting::tournament:
        return factorize_panel_tournament(context_, pass, panel);
    }
  }

  RankContext<Real> context_;
  Fence downloaded_;
};

// For a backend that computes nothing: the messages of `panels`, then synthetic pivots.
template <class Real>
class SyntheticPanels final : public PanelFactorizer<Real> {
 public:
  using typename PanelFactorizer<Real>::Step;

  SyntheticPanels(const RankContext<Real>& context, std::unique_ptr<PanelFactorizer<Real>> panels)
      : context_(context), panels_(std::move(panels)) {}

  std::vector<Step> steps(const PassPlan& pass, DeviceBlock<Real> a, Panel<Real>& panel) override {
    std::vector<Step> steps = panels_->steps(pass, a, panel);
    steps.back() = [this, pass, &panel, last = std::move(steps.back())] {
      last();
      panel.pivots = synthetic_pivots(context_.distribution, context_.parameters.pivoting, pass.pass);
      panel.zero_pivot.reset();
      panel.pack();
    };
    return steps;
  }
  bool is_gathered() const override { return panels_->is_gathered(); }
  void store(const Panel<Real>& panel, DeviceBlock<Real> a) override { panels_->store(panel, a); }

 private:
  RankContext<Real> context_;
  std::unique_ptr<PanelFactorizer<Real>> panels_;
};

template <class Real>
std::unique_ptr<PanelFactorizer<Real>> with_pivots(const RankContext<Real>& context,
                                                   std::unique_ptr<PanelFactorizer<Real>> panels) {
  if (!panels || context.parameters.parts != RunParts::messages) return panels;
  return std::make_unique<SyntheticPanels<Real>>(context, std::move(panels));
}

template <class Real>
std::array<Panel<Real>, 2> make_panels(const RankContext<Real>& context, Index rows,
                                       const PanelFactorizer<Real>* device) {
  const Index nb = context.distribution.nb;
  const Index max_rows = device != nullptr && device->is_gathered() ? std::max(rows, context.distribution.n) : rows;
  const std::shared_ptr<Operand<Real>> first = context.backend.make_operand(nb, max_rows);
  // the device factorises the next panel while it still reads this one
  const std::shared_ptr<Operand<Real>> second = device != nullptr ? context.backend.make_operand(nb, max_rows) : first;
  const auto buffer = [&] {
    const Index elements = panel_message_elements<Real>(rows, nb);
    return device != nullptr && !device->factorizes_in_matrix()
               ? context.transport.allocate_buffer(Line::row, context.backend, elements)
               : context.backend.allocate_host(elements);
  };
  return {Panel<Real>(buffer(), first), Panel<Real>(buffer(), second)};
}

}  // namespace

template <class Real>
Panels<Real>::Panels(const RankContext<Real>& context, DeviceMatrix<Real>& a)
    : context_(context),
      a_(a),
      device_panels_(with_pivots(context, make_device_panels(context, a.rows()))),
      host_panels_(with_pivots<Real>(context, std::make_unique<HostPanels<Real>>(context))),
      factorizer_(device_panels_ ? device_panels_.get() : host_panels_.get()),
      panels_(make_panels(context, a.rows() + rows_above_panels(context.parameters, context.distribution),
                          device_panels_.get())) {}

template <class Real>
void Panels<Real>::agree_on_order() {
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

template <class Real>
Panel<Real>& Panels<Real>::acquire_panel(const PassPlan& pass) {
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
template <class Real>
std::size_t Panels<Real>::piece_of_step(std::size_t step, std::size_t steps, std::size_t last_piece) const {
  if (step + 1 == steps) return factorizer_->is_gathered() && last_piece > 2 ? last_piece : after_update;
  if (!factorizer_->is_gathered() && step == 1) return std::min<std::size_t>(2, last_piece);
  return step == 1 ? std::min(step, last_piece) : step;
}

template <class Real>
void Panels<Real>::start(const PassPlan& pass, std::size_t last_piece) {
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
  if (!host_overlaps_update_) finish();
}

template <class Real>
bool Panels<Real>::resume(std::size_t i) {
  if (!in_flight_ || in_flight_->is_done()) return false;
  while (!in_flight_->is_done() && in_flight_->steps[in_flight_->done].before_piece <= i) run_next_step();
  return in_flight_->is_done();
}

template <class Real>
void Panels<Real>::finish() {
  while (in_flight_ && !in_flight_->is_done()) run_next_step();
}

template <class Real>
void Panels<Real>::run_next_step() {
  const auto in_pass = context_.timeline().in_pass(in_flight_->pass.pass, in_flight_->pass.role);
  in_flight_->steps[in_flight_->done++].run();
}

template <class Real>
void Panels<Real>::start_broadcast(const PassPlan& pass) {
  Panel<Real>& panel = pass.in_pivot_column ? panel_of(pass) : acquire_panel(pass);
  broadcasts_[slot_of(pass)] =
      context_.transport.start_broadcast(MessageKind::panel, pass, panel.message(), 0, panel.place());
}

template <class Real>
Panel<Real>& Panels<Real>::take(const PassPlan& pass) {
  if (!in_flight_ || in_flight_->pass.pass != pass.pass) start(pass, 0);
  finish();
  Panel<Real>& panel = panel_of(pass);
  if (const auto& broadcast = broadcasts_[slot_of(pass)]) broadcast->wait_until_arrived();
  if (!pass.in_pivot_column) panel.unpack();
  if (!panel.zero_pivot && panel.factors.matrix == nullptr) {
    panel.factors = panel.operand().from_host(panel.all_transposed(), panel.host_free);
  }
  return panel;
}

template <class Real>
bool Panels<Real>::test() {
  bool done = true;
  for (const auto& broadcast : broadcasts_) done = (!broadcast || broadcast->test()) && done;
  return done;
}

template <class Real>
void Panels<Real>::wait() {
  for (auto& broadcast : broadcasts_) {
    if (broadcast) broadcast->wait();
    broadcast.reset();
  }
  in_flight_.reset();
}

template class Panels<float>;
template class Panels<double>;

}  // namespace glinpack
