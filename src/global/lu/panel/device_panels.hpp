// Panels that a device factorises: whole on one process row, else by tournament pivoting over several devices.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/row_interchanges.hpp"
#include "lu/panel/gathered_panels.hpp"
#include "lu/panel/panels.hpp"
#include "lu/panel/tournament.hpp"

namespace glinpack {

inline Index block_of(Index columns) { return std::min(columns, tournament_columns); }

// Copies between rows, as devices transfer them, and columns of host panels, of the same extents.
template <class From, class To>
void copy_elements(const From& from, const To& to) {
  for (Index j = 0; j < from.columns; ++j) {
    for (Index i = 0; i < from.rows; ++i) to(i, j) = from(i, j);
  }
}

// TSLU over several processes with panels on devices. The panel stays in the matrix; only candidates, winners and
// displaced rows are copied between device and host. The device chooses from and eliminates a transposed copy of a
// block's columns. Keeps its memory from one panel to the next.
template <class Real>
class DevicePanelRows final : public PanelRows<Real> {
 public:
  using typename PanelRows<Real>::Choice;
  using typename PanelRows<Real>::Winners;

  /// For panels of up to rows x columns. The arguments must outlive it. Throws as DeviceMemory::allocate does.
  DevicePanelRows(Backend<Real>& backend, Timeline& timeline, std::unique_ptr<DeviceTournamentPanel<Real>> device,
                  Index rows, Index columns)
      : backend_(backend),
        timeline_(timeline),
        device_(std::move(device)),
        strip_(backend.allocate(block_of(columns), block_of(columns) + rows)),
        u12_(backend.allocate(block_of(columns), columns)),
        read_(backend.allocate_host(2 * block_of(columns) * columns)),
        written_(backend.allocate_host(2 * block_of(columns) * columns)),
        l11_u11_(backend.allocate_host(block_of(columns) * block_of(columns))),
        u12_on_host_(backend.allocate_host(block_of(columns) * columns)) {}

  /// Starts the next panel, rows x width, which is factorised in place.
  void begin(const DeviceBlock<Real>& panel) { panel_ = panel; }

  Choice choose(const TournamentBlock& block, Index first, Index count, ColumnMajorView<Real> factors) override {
    const DeviceBlock<Real> columns = panel_.block(first, block.first, count, block.width);
    if (count < block.width) return choose_on_host(columns, first, factors);
    const DeviceBlock<Real> strip = whole(*strip_).block(0, 0, block.width, count);
    backend_.copy_transposed(columns, strip);
    device_->factorize(strip);
    backend_.wait(factors_given_);
    const HostBlock<Real> top{l11_u11_.get(), 0, block.width, block.width, block.width};
    backend_.wait(backend_.download(strip.block(0, 0, block.width, block.width), top));
    std::vector<Index> pivots(static_cast<std::size_t>(block.width));
    // the device stops at a column without a pivot here, but other ranks may have one
    if (device_->outcome(pivots)) return choose_on_host(columns, first, factors);
    for (Index j = 0; j < block.width; ++j) std::copy_n(top.view().row(j), block.width, factors.column(j));
    Choice choice{row_order_of(pivots), {}};
    for (Index& row : choice.rows) row += first;
    return choice;
  }
  void read(std::span<const Index> rows, ColumnMajorView<Real> to) override {
    if (rows.empty()) return;
    const HostBlock<Real> found{read_.get(), 0, to.rows, to.columns, to.columns};
    backend_.wait(backend_.gather_rows(panel_, rows, found));
    copy_elements(found.view(), to);
  }
  void write(ColumnMajorView<const Real> from, std::span<const Index> rows) override {
    if (rows.empty()) return;
    backend_.wait(rows_given_);
    const HostBlock<Real> given{written_.get(), 0, from.rows, from.columns, from.columns};
    copy_elements(from, given.view());
    rows_given_ = backend_.scatter_rows(given, rows, panel_);
  }
  void solve_l21_and_update(const TournamentBlock& block, Index first, Index count, const Winners& winners) override {
    if (count == 0) return;
    const Index width = block.width, right = winners.u12.columns;
    const DeviceBlock<Real> strip = whole(*strip_).block(0, 0, width, width + count);
    const DeviceBlock<Real> below = strip.block(0, width, width, count);
    const DeviceBlock<Real> l21 = panel_.block(first, block.first, count, width);
    const DeviceBlock<Real> u12 = whole(*u12_).block(0, 0, width, right);
    backend_.wait(factors_given_);
    const HostBlock<Real> top{l11_u11_.get(), 0, width, width, width};
    for (Index j = 0; j < width; ++j) std::copy_n(winners.l11_u11.column(j), width, top.view().row(j));
    factors_given_ = backend_.upload(top, strip.block(0, 0, width, width));
    if (right > 0) {
      const HostBlock<Real> u12_on_host{u12_on_host_.get(), 0, width, right, right};
      copy_elements(winners.u12, u12_on_host.view());
      factors_given_ = backend_.upload(u12_on_host, u12);
    }
    backend_.copy_transposed(l21, below);
    device_->solve_l21_and_update(strip, u12, panel_.block(first, block.first + width, count, right));
    backend_.copy_transposed(below, l21);
  }

 private:
  // For fewer rows than columns, and for columns without a pivot: both are rare.
  Choice choose_on_host(const DeviceBlock<Real>& columns, Index first, ColumnMajorView<Real> factors) {
    Choice choice{std::vector<Index>(static_cast<std::size_t>(std::min(columns.rows, columns.columns))), {}};
    if (choice.rows.empty()) return choice;
    const auto buffer = backend_.allocate_host(columns.rows * columns.columns);
    const HostBlock<Real> on_host{buffer.get(), 0, columns.columns, columns.rows, columns.rows};
    backend_.wait(backend_.download_transposed(columns, on_host));
    const auto scope = timeline_.scope(Lane::cpu, Phase::panel);
    choice.zero = backend_.panel().choose_rows(on_host.view().transposed(), choice.rows, factors);
    for (Index& row : choice.rows) row += first;
    return choice;
  }

  Backend<Real>& backend_;
  Timeline& timeline_;
  std::unique_ptr<DeviceTournamentPanel<Real>> device_;
  std::unique_ptr<DeviceMatrix<Real>> strip_;  // L11 \ U11, then a block's columns, transposed
  std::unique_ptr<DeviceMatrix<Real>> u12_;
  std::unique_ptr<HostBuffer<Real>> read_, written_, l11_u11_, u12_on_host_;
  Fence rows_given_, factors_given_;  // the device may read the host's buffers until these pass
  DeviceBlock<Real> panel_;
};

// One process row: the device factorises the whole panel.
template <class Real>
class WholeDevicePanels final : public PanelFactorizer<Real> {
 public:
  using typename PanelFactorizer<Real>::Step;

  WholeDevicePanels(const RankContext<Real>& context, std::unique_ptr<DevicePanel<Real>> device)
      : context_(context), device_(std::move(device)) {}

  std::vector<Step> steps(const PassPlan& pass, DeviceBlock<Real> a, Panel<Real>& panel) override {
    const Step read = [this, pass, &panel] { read_pivots(pass, panel); };
    // copies between GPUs are short: a piece of the update overlaps the factorisation instead
    if (panel.is_on_device()) {
      return {[this, a, &panel] { factorize(a, panel); }, [this, &panel] { download(panel); }, read};
    }
    const Step factorize_and_download = [this, a, &panel] {
      factorize(a, panel);
      download(panel);
    };
    return {factorize_and_download, read};
  }

  void store(const Panel<Real>& panel, DeviceBlock<Real> a) override {
    context_.backend.copy_transposed(panel.factors, a);
  }

 private:
  void factorize(DeviceBlock<Real> a, Panel<Real>& panel) {
    panel.factors = panel.operand().storage(panel.width(), panel.rows());
    context_.backend.copy_transposed(a, panel.factors);
    device_->factorize(panel.factors);
  }

  void download(Panel<Real>& panel) {
    done_ = {};
    if (context_.distribution.shape.columns > 1) {
      done_ = context_.backend.download(panel.factors, panel.all_transposed());
    }
  }

  void read_pivots(const PassPlan& pass, Panel<Real>& panel) {
    context_.backend.wait(done_);
    std::vector<Index> rows(static_cast<std::size_t>(pass.width));
    const std::optional<Index> zero = device_->outcome(rows);
    const auto global_row = [&](Index row) {
      return context_.distribution.rows.global(pass.panel_row + row, context_.position().row);
    };
    std::transform(rows.begin(), rows.end(), panel.pivots.begin(), global_row);
    if (zero) panel.zero_pivot = global_row(*zero);
    panel.pack();
  }

  RankContext<Real> context_;
  std::unique_ptr<DevicePanel<Real>> device_;
  Fence done_;
};

// Several process rows: each device factorises its rows in the matrix; hosts reduce the candidate rows.
template <class Real>
class DistributedDevicePanels final : public PanelFactorizer<Real> {
 public:
  using typename PanelFactorizer<Real>::Step;

  DistributedDevicePanels(const RankContext<Real>& context, std::unique_ptr<DeviceTournamentPanel<Real>> device,
                          Index rows)
      : context_(context),
        rows_(context.backend, context.timeline(), std::move(device), rows, context.distribution.nb) {}

  std::vector<Step> steps(const PassPlan& pass, DeviceBlock<Real> a, Panel<Real>& panel) override {
    return {[this, pass, a, &panel] { factorize(pass, a, panel); },
            [this, &panel] {
              context_.backend.wait(done_);
              panel.pack();
            }};
  }

  void store(const Panel<Real>&, DeviceBlock<Real>) override {}
  bool factorizes_in_matrix() const override { return true; }

 private:
  void factorize(const PassPlan& pass, DeviceBlock<Real> a, Panel<Real>& panel) {
    const Index above = panel.l11_rows(), width = panel.width();
    rows_.begin(a);
    factorize_panel_tournament(context_, pass, panel, rows_);
    panel.factors = panel.operand().storage(width, above + panel.rows());
    if (above > 0 && !panel.zero_pivot) {
      panel.host_free = context_.backend.upload(panel.all_transposed().block(0, 0, width, above),
                                                panel.factors.block(0, 0, width, above));
    }
    context_.backend.copy_transposed(a, panel.factors.block(0, above, width, panel.rows()));
    done_ = {};
    // include the rows above: gaps between the rows of a host block may be overwritten
    if (context_.distribution.shape.columns > 1) {
      done_ = context_.backend.download(panel.factors, panel.all_transposed());
    }
  }

  RankContext<Real> context_;
  DevicePanelRows<Real> rows_;
  Fence done_;
};

// A device that has all rows of the panels. It pivots partially whatever is asked for: local pivoting is the same then,
// and a tournament has one leaf. Devices that cannot, run a tournament of their work groups.
template <class Real>
std::unique_ptr<DevicePanel<Real>> make_device_panel(const RankContext<Real>& context, Index rows, DeviceUse use) {
  const Index nb = context.distribution.nb;
  if (auto partial = context.backend.make_partial_panel(rows, nb, use)) return partial;
  if (context.parameters.pivoting != Pivoting::tournament) return nullptr;
  return context.backend.make_tournament_panel(rows, nb, use);
}

/// For panels of up to `rows` rows; null if the parameters or the backend choose the host. Throws std::runtime_error if
/// PanelPlace::device is chosen and the backend cannot.
template <class Real>
std::unique_ptr<PanelFactorizer<Real>> make_device_panels(const RankContext<Real>& context, Index rows) {
  const RunParameters& parameters = context.parameters;
  const DeviceUse use = parameters.panel == PanelPlace::device ? DeviceUse::always : DeviceUse::if_faster;
  const Index nb = context.distribution.nb;
  const GridShape& grid = context.distribution.shape;
  switch (panel_method(parameters, grid, context.transport.column_shares_memory())) {
    case PanelMethod::host:
      return nullptr;
    case PanelMethod::whole:
      if (auto device = make_device_panel(context, rows, use)) {
        return std::make_unique<WholeDevicePanels<Real>>(context, std::move(device));
      }
      break;
    case PanelMethod::gathered:
      if (auto device = make_device_panel(context, context.distribution.n, use)) {
        return std::make_unique<GatheredPanels<Real>>(context, std::move(device));
      }
      break;
    case PanelMethod::distributed:
      if (auto device = context.backend.make_tournament_panel(block_of(nb) + rows, block_of(nb), use)) {
        return std::make_unique<DistributedDevicePanels<Real>>(context, std::move(device), rows);
      }
  }
  if (use == DeviceUse::if_faster) return nullptr;
  throw std::runtime_error("the " + context.backend.info().backend + " backend does not factorise panels of " +
                           std::to_string(rows) + " x " + std::to_string(nb) + " here: leave out --panel device");
}

}  // namespace glinpack
