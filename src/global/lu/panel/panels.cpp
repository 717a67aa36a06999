#include "lu/panel/panels.hpp"

#include <algorithm>
#include <utility>

#include "lu/no_transport.hpp"
#include "lu/panel/device_panels.hpp"

namespace glinpack {

namespace {

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

template class Panels<float>;
template class Panels<double>;

}  // namespace glinpack
