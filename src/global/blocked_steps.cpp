#include "global/blocked_steps.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "global/stand_ins.hpp"

namespace glinpack {

namespace {

// Nobody but the host drives a broadcast on: while it reduces, it looks after one between strips of the matrix.
constexpr Index rows_between_tests = 512;

/// What factorises this rank's panels on the device, or null where the host does. Throws where the device was asked for
/// and cannot.
template <class Real>
std::unique_ptr<DevicePanel<Real>> make_device_panel(const RunParameters& parameters, const Distribution& distribution,
                                                     Backend<Real>& backend, Index rows) {
  const bool wanted =
      parameters.panel == PanelPlace::device || (parameters.panel == PanelPlace::automatic && backend.asynchronous());
  if (!wanted || !panels_may_be_on_device(parameters.pivoting, distribution.shape)) return nullptr;
  auto panel = backend.make_device_panel(rows, distribution.nb);
  if (!panel && parameters.panel == PanelPlace::device) {
    throw std::runtime_error("the " + backend.info().backend + " backend does not factorise panels of " +
                             std::to_string(rows) + " x " + std::to_string(distribution.nb) +
                             " on this device: leave out --panel device, or use a smaller --nb");
  }
  return panel;
}

}  // namespace

template <class Real>
BlockedSteps<Real>::BlockedSteps(const RunParameters& parameters, const Distribution& distribution,
                                 const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
                                 DeviceMatrix<Real>& a, NodeWindows* windows)
    : parameters_(parameters),
      distribution_(distribution),
      grid_(grid),
      backend_(backend),
      timeline_(timeline),
      a_(a),
      messages_(grid, parameters.broadcast, timeline, parameters.parts == RunParts::compute, windows),
      panels_{Panel<Real>(backend, a.rows(), distribution.nb), Panel<Real>(backend, a.rows(), distribution.nb)},
      device_panel_(make_device_panel(parameters, distribution, backend, a.rows())),
      u_(backend.computes_in_host_memory() ? nullptr : backend.allocate(distribution.nb, a.columns())),
      u_host_(backend.allocate_host(distribution.shape.rows > 1 ? distribution.nb * a.columns() : 0)),
      row_exchange_(backend, messages_, distribution.shape.rows > 1 ? distribution.nb : 0, a.columns()) {
  if (!backend.computes_in_host_memory()) l_transposed_[0] = backend.allocate(distribution.nb, a.rows());
  if (device_panel_) l_transposed_[1] = backend.allocate(distribution.nb, a.rows());
  backend.reserve_moves(2 * distribution.nb, a.columns());  // nb rows and the nb that they change places with
  if (!messages_.left_out()) return;
  if (distribution.shape.columns > 1) {
    stand_in_panel_ = stand_ins(backend, panel_message_elements<Real>(a.rows(), distribution.nb), distribution.n);
  }
  if (distribution.shape.rows > 1) stand_in_u_ = stand_ins(backend, u_host_->size(), distribution.n);
}

template <class Real>
Panel<Real>& BlockedSteps<Real>::free_panel(const PassPlan& plan) {
  finish(slot_of(plan));
  backend_.wait(panel_free_[slot_of(plan)]);
  Panel<Real>& panel = panels_[slot_of(plan)];
  panel.resize(plan.panel_rows, plan.width);
  return panel;
}

template <class Real>
void BlockedSteps<Real>::finish(std::size_t slot) {
  if (broadcasts_[slot]) broadcasts_[slot]->wait();
  broadcasts_[slot].reset();
}

template <class Real>
void BlockedSteps<Real>::fetch_panel(const PassPlan& plan) {
  Panel<Real>& panel = free_panel(plan);
  const DeviceBlock<Real> a{&a_, plan.panel_row.value, plan.panel_column.value, plan.panel_rows, plan.width};
  if (on_device(plan)) {
    const DeviceBlock<Real> on_device = l_on_device(plan);
    backend_.copy_transposed(a, on_device);
    panel_here_ = device_panel_->factorize(on_device);
    if (distribution_.shape.columns > 1) panel_here_ = backend_.download(on_device, panel.transposed());
    return;
  }
  panel_here_ = backend_.download_transposed(a, panel.transposed());
}

template <class Real>
void BlockedSteps<Real>::factorize_panel(const PassPlan& plan) {
  Panel<Real>& panel = panels_[slot_of(plan)];
  backend_.wait(panel_here_);
  if (on_device(plan)) {
    take_outcome(plan, panel);
    panel.pack();
    return;
  }
  const PanelContext<Real> context{distribution_, grid_.position(), messages_, backend_.panel(), timeline_};
  switch (parameters_.pivoting) {
    case Pivoting::local:
      factorize_panel_local(context, plan, panel);
      break;
    case Pivoting::partial:
      factorize_panel_partial(context, plan, panel);
      break;
    case Pivoting::tournament:
      factorize_panel_tournament(context, plan, panel);
      break;
  }
  panel.pack();
}

template <class Real>
void BlockedSteps<Real>::start_broadcast(const PassPlan& plan) {
  Panel<Real>& panel = plan.in_pivot_column ? panels_[slot_of(plan)] : free_panel(plan);
  broadcasts_[slot_of(plan)] = messages_.start_panel_row(plan, panel.message(), panel.message_elements());
}

template <class Real>
void BlockedSteps<Real>::finish_broadcast(const PassPlan& plan) {
  current_ = slot_of(plan);
  Panel<Real>& panel = panels_[current_];
  if (broadcasts_[current_]) broadcasts_[current_]->wait_until_arrived();
  HostBlock<Real> l_host = panel.transposed();
  if (!plan.in_pivot_column && messages_.left_out()) {
    l_host.buffer = stand_in_panel_.get();
    panel.pivots = drawn_pivots(distribution_, parameters_.pivoting, plan.pass);
  } else if (!plan.in_pivot_column) {
    panel.unpack();
  }
  if (panel.zero_pivot || plan.pass + 1 == distribution_.passes()) {
    for (std::size_t slot = 0; slot < broadcasts_.size(); ++slot) finish(slot);
  }
  if (panel.zero_pivot) return;
  l_ = on_device(plan) ? l_on_device(plan) : operand(l_host, l_matrix(plan), panel_free_[current_]);
}

template <class Real>
void BlockedSteps<Real>::take_outcome(const PassPlan& plan, Panel<Real>& panel) {
  std::vector<Index> rows(static_cast<std::size_t>(plan.width));
  const std::optional<Index> zero = device_panel_->outcome(rows);
  const auto global_row = [&](Index row) {
    return distribution_.rows.global(plan.panel_row + row, grid_.position().row);
  };
  std::transform(rows.begin(), rows.end(), panel.pivots.begin(), global_row);
  if (zero) panel.zero_pivot = global_row(*zero);
}

template <class Real>
DeviceBlock<Real> BlockedSteps<Real>::operand(const HostBlock<Real>& block, std::unique_ptr<DeviceMatrix<Real>>& matrix,
                                              Fence& free) {
  if (backend_.computes_in_host_memory()) {
    matrix = backend_.in_place(block);
    return whole(*matrix);
  }
  const DeviceBlock<Real> uploaded = whole(*matrix).block(0, 0, block.rows, block.columns);
  free = backend_.upload(block, uploaded);
  return uploaded;
}

template <class Real>
void BlockedSteps<Real>::swap_rows(const PassPlan& plan) {
  const GlobalIndex first = distribution_.rows.first(BlockIndex(plan.pass));
  const auto moves = net_row_moves(first, pivots());
  const RowExchangePlan exchange = plan_row_exchange(distribution_.rows, grid_.position().row, moves);
  row_exchange_.run(exchange, {&a_, 0, plan.trailing_column.value, a_.rows(), plan.trailing_columns});
}

template <class Real>
void BlockedSteps<Real>::normalize_and_broadcast(const PassPlan& plan) {
  if (plan.trailing_columns == 0) return;
  HostBlock<Real> u_host{u_host_.get(), 0, plan.width, plan.trailing_columns, plan.trailing_columns};
  const bool travels = distribution_.shape.rows > 1;
  if (travels) backend_.wait(u_host_free_);
  if (plan.in_pivot_row) {
    u12_ = {&a_, plan.panel_row.value, plan.trailing_column.value, plan.width, plan.trailing_columns};
    backend_.normalize(l_.block(0, 0, plan.width, plan.width), u12_);
    if (travels) backend_.wait(backend_.download(u12_, u_host));
    if (!backend_.computes_in_host_memory()) {
      const DeviceBlock<Real> a12 = std::exchange(u12_, whole(*u_).block(0, 0, plan.width, plan.trailing_columns));
      backend_.copy(a12, u12_);
    }
  }
  if (!travels) return;
  messages_.u12_column(plan, u_host_->data(), plan.width * plan.trailing_columns);
  if (plan.in_pivot_row) return;
  if (messages_.left_out()) u_host.buffer = stand_in_u_.get();
  u12_ = operand(u_host, u_, u_host_free_);
}

// True while one is under way.
template <class Real>
bool BlockedSteps<Real>::drive_broadcasts() {
  bool under_way = false;
  for (const auto& broadcast : broadcasts_) under_way |= broadcast && !broadcast->test();
  return under_way;
}

template <class Real>
void BlockedSteps<Real>::reduce(const PassPlan& plan, ColumnRange columns) {
  const Index above = plan.panel_rows - plan.trailing_rows;  // rows of the panel that belong to the pivot's block row
  const bool last_part = columns.first + columns.count == plan.trailing_columns;
  if (last_part && plan.in_pivot_column) {
    // the factors to their place in A, where nobody waits for them: the next panel is on its way by now
    backend_.copy_transposed(l_.block(0, 0, plan.width, plan.panel_rows),
                             {&a_, plan.panel_row.value, plan.panel_column.value, plan.panel_rows, plan.width});
  }
  for (Index i = 0; i < plan.trailing_rows;) {
    const bool under_way = drive_broadcasts();
    const Index rows = under_way ? std::min(rows_between_tests, plan.trailing_rows - i) : plan.trailing_rows - i;
    backend_.reduce(
        l_.block(0, above + i, plan.width, rows), u12_.block(0, columns.first, plan.width, columns.count),
        {&a_, plan.trailing_row.value + i, plan.trailing_column.value + columns.first, rows, columns.count});
    i += rows;
  }
}

template class BlockedSteps<float>;
template class BlockedSteps<double>;

}  // namespace glinpack
