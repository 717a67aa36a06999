#include "lu/panel/panels.hpp"

#include <algorithm>
#include <utility>

#include "lu/no_transport.hpp"

namespace glinpack {

namespace {

template <class Real>
class HostPanels final : public PanelFactorizer<Real> {
 public:
  explicit HostPanels(const PanelWork<Real>& work) : work_(work) {}

  void start(const PassPlan&, DeviceBlock<Real> a, Panel<Real>& panel) override {
    downloaded_ = work_.backend.download_transposed(a, panel.transposed());
  }

  void finish(const PassPlan& pass, Panel<Real>& panel) override {
    work_.backend.wait(downloaded_);
    switch (work_.parameters.pivoting) {
      case Pivoting::local:
        factorize_panel_local(work_.context(), pass, panel);
        break;
      case Pivoting::partial:
        factorize_panel_partial(work_.context(), pass, panel);
        break;
      case Pivoting::tournament:
        factorize_panel_tournament(work_.context(), pass, panel);
        break;
    }
    panel.pack();
  }

  void store(const Panel<Real>& panel, DeviceBlock<Real> a) override {
    work_.backend.copy_transposed(panel.factors.block(0, panel.above(), panel.width(), panel.rows()), a);
  }

 private:
  PanelWork<Real> work_;
  Fence downloaded_;
};

// For a backend that computes nothing: the messages of `panels`, then synthetic pivots.
template <class Real>
class SyntheticPanels final : public PanelFactorizer<Real> {
 public:
  SyntheticPanels(const PanelWork<Real>& work, std::unique_ptr<PanelFactorizer<Real>> panels)
      : work_(work), panels_(std::move(panels)) {}

  void start(const PassPlan& pass, DeviceBlock<Real> a, Panel<Real>& panel) override { panels_->start(pass, a, panel); }
  bool is_gathered() const override { return panels_->is_gathered(); }
  void factorize(const PassPlan& pass, Panel<Real>& panel) override { panels_->factorize(pass, panel); }
  void start_return(const PassPlan& pass, Panel<Real>& panel) override { panels_->start_return(pass, panel); }
  void finish(const PassPlan& pass, Panel<Real>& panel) override {
    panels_->finish(pass, panel);
    panel.pivots = synthetic_pivots(work_.distribution, work_.parameters.pivoting, pass.pass);
    panel.zero_pivot.reset();
    panel.pack();
  }
  void store(const Panel<Real>& panel, DeviceBlock<Real> a) override { panels_->store(panel, a); }

 private:
  PanelWork<Real> work_;
  std::unique_ptr<PanelFactorizer<Real>> panels_;
};

template <class Real>
std::unique_ptr<PanelFactorizer<Real>> with_pivots(const PanelWork<Real>& work,
                                                   std::unique_ptr<PanelFactorizer<Real>> panels) {
  if (!panels || work.parameters.parts != RunParts::messages) return panels;
  return std::make_unique<SyntheticPanels<Real>>(work, std::move(panels));
}

template <class Real>
std::array<Panel<Real>, 2> make_panels(const PanelWork<Real>& work, Index rows, const PanelFactorizer<Real>* device) {
  const Index nb = work.distribution.nb;
  const Index most_rows = device != nullptr && device->is_gathered() ? std::max(rows, work.distribution.n) : rows;
  const std::shared_ptr<Operand<Real>> first = work.backend.make_operand(nb, most_rows);
  // the device factorises the next panel while it still reads this one
  const std::shared_ptr<Operand<Real>> second = device != nullptr ? work.backend.make_operand(nb, most_rows) : first;
  return {Panel<Real>(work.backend, rows, nb, first), Panel<Real>(work.backend, rows, nb, second)};
}

}  // namespace

template <class Real>
Panel<Real>& PanelFuture<Real>::get() {
  if (broadcast_ != nullptr) broadcast_->wait_until_arrived();
  if (receives_) panel_->unpack();
  if (!panel_->zero_pivot && panel_->factors.matrix == nullptr) {
    panel_->factors = panel_->operand().from_host(panel_->all_transposed(), panel_->host_free);
  }
  return *panel_;
}

template <class Real>
Panels<Real>::Panels(const PanelWork<Real>& work, DeviceMatrix<Real>& a, Index rows_above)
    : work_(work),
      a_(a),
      rows_above_(rows_above),
      device_panels_(with_pivots(work, make_device_panels(work, a.rows()))),
      host_panels_(with_pivots<Real>(work, std::make_unique<HostPanels<Real>>(work))),
      factorizer_(device_panels_ ? device_panels_.get() : host_panels_.get()),
      panels_(make_panels(work, a.rows() + rows_above, device_panels_.get())) {}

template <class Real>
void Panels<Real>::agree_on_order() {
  if (work_.distribution.shape.rows > 1 &&
      panels_may_be_on_device(work_.parameters.pivoting, work_.distribution.shape) &&
      !work_.transport.all_agree(device_panels_ != nullptr)) {
    factorizer_ = host_panels_.get();
  }
  host_overlaps_update_ = work_.transport.all_agree(work_.backend.update_is_asynchronous());
}

template <class Real>
Panel<Real>& Panels<Real>::acquire_panel(const PassPlan& pass) {
  Panel<Real>& panel = panel_of(pass);
  if (auto& broadcast = broadcasts_[slot_of(pass)]) broadcast->wait();
  broadcasts_[slot_of(pass)].reset();
  work_.backend.wait(std::exchange(panel.host_free, {}));
  panel.resize(pass.panel_rows, pass.width, pass.in_pivot_row ? 0 : std::min(rows_above_, pass.width));
  return panel;
}

template <class Real>
void Panels<Real>::start_factorization(const PassPlan& pass) {
  const auto in_pass = work_.timeline.in_pass(pass.pass, pass.role);
  factorizer_->start(pass, block_of(pass), acquire_panel(pass));
  step_ = Step::started;
}

template <class Real>
void Panels<Real>::factorize_gathered(const PassPlan& pass) {
  const auto in_pass = work_.timeline.in_pass(pass.pass, pass.role);
  factorizer_->factorize(pass, panel_of(pass));
  step_ = Step::factorized;
}

template <class Real>
void Panels<Real>::start_return(const PassPlan& pass) {
  const auto in_pass = work_.timeline.in_pass(pass.pass, pass.role);
  factorizer_->start_return(pass, panel_of(pass));
  step_ = Step::returning;
}

template <class Real>
void Panels<Real>::finish_factorization(const PassPlan& pass) {
  if (step_ == Step::started) factorize_gathered(pass);
  if (step_ == Step::factorized) start_return(pass);
  const auto in_pass = work_.timeline.in_pass(pass.pass, pass.role);
  factorizer_->finish(pass, panel_of(pass));
}

template <class Real>
PanelFuture<Real> Panels<Real>::start_broadcast(const PassPlan& pass) {
  const auto in_pass = work_.timeline.in_pass(pass.pass, pass.role);
  Panel<Real>& panel = pass.in_pivot_column ? panel_of(pass) : acquire_panel(pass);
  auto& broadcast = broadcasts_[slot_of(pass)];
  broadcast = work_.transport.start_broadcast(MessageKind::panel, pass, panel.message());
  return {panel, broadcast.get(), !pass.in_pivot_column};
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
}

template class PanelFuture<float>;
template class PanelFuture<double>;
template class Panels<float>;
template class Panels<double>;

}  // namespace glinpack
