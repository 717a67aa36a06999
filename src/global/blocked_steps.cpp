#include "global/blocked_steps.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "global/plan_swap.hpp"
#include "global/stand_ins.hpp"

namespace glinpack {

namespace {

// Nobody but the host drives a broadcast on: while it reduces, it looks after one between strips of the matrix.
constexpr Index rows_between_tests = 512;

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
      all_compute_u12_(all_compute_u12(parameters.row_swap, parameters.pivoting, distribution.shape)),
      messages_(grid, parameters.broadcast, timeline, parameters.parts == RunParts::compute, windows),
      panel_rows_(a.rows() + rows_above_panels(parameters, distribution)),
      panels_{Panel<Real>(backend, panel_rows_, distribution.nb), Panel<Real>(backend, panel_rows_, distribution.nb)},
      u_(backend.computes_in_host_memory() ? nullptr : backend.allocate(distribution.nb, a.columns())),
      u_host_(backend.allocate_host(needs_u_on_host() ? distribution.nb * a.columns() : 0)),
      row_exchange_(backend, messages_, distribution.shape.rows > 1 ? distribution.nb : 0, a.columns(),
                    distribution.n) {
  make_device_panels();
  if (!backend.computes_in_host_memory()) l_transposed_[0] = backend.allocate(distribution.nb, panel_rows_);
  if (panels_on_device()) l_transposed_[1] = backend.allocate(distribution.nb, panel_rows_);
  backend.reserve_moves(2 * distribution.nb, a.columns());  // nb rows and the nb that they change places with
  if (!messages_.left_out()) return;
  if (distribution.shape.columns > 1) {
    stand_in_panel_ = stand_ins(backend, panel_message_elements<Real>(panel_rows_, distribution.nb), distribution.n);
  }
  if (distribution.shape.rows > 1 && !all_compute_u12_)
    stand_in_u_ = stand_ins(backend, u_host_->size(), distribution.n);
}

template <class Real>
void BlockedSteps<Real>::make_device_panels() {
  if (!panels_may_be_on_device(parameters_.pivoting) || parameters_.panel == PanelPlace::host) return;
  const bool wanted = parameters_.panel == PanelPlace::device || backend_.asynchronous();
  if (distribution_.shape.rows == 1) {
    if (wanted) device_panel_ = backend_.make_device_panel(a_.rows(), distribution_.nb);
  } else {
    if (wanted) device_rows_ = DevicePanelRows<Real>::make(backend_, timeline_, a_.rows(), distribution_.nb);
  }
  if (parameters_.panel == PanelPlace::device && !panels_on_device()) {
    throw std::runtime_error("the " + backend_.info().backend + " backend does not factorise panels of " +
                             std::to_string(a_.rows()) + " x " + std::to_string(distribution_.nb) +
                             " here: leave out --panel device");
  }
}

// Several process rows exchange candidates, and a host would do so later in a pass than a device.
template <class Real>
void BlockedSteps<Real>::agree() {
  if (distribution_.shape.rows == 1 || !panels_may_be_on_device(parameters_.pivoting)) return;
  if (!all_agree(grid_.all(), device_rows_ != nullptr)) device_rows_.reset();
}

template <class Real>
Panel<Real>& BlockedSteps<Real>::free_panel(const PassPlan& plan) {
  finish(slot_of(plan));
  backend_.wait(panel_free_[slot_of(plan)]);
  Panel<Real>& panel = panels_[slot_of(plan)];
  panel.resize(plan.panel_rows, plan.width, rows_above(plan));
  return panel;
}

template <class Real>
void BlockedSteps<Real>::finish(std::size_t slot) {
  if (broadcasts_[slot]) broadcasts_[slot]->wait();
  broadcasts_[slot].reset();
}

template <class Real>
void BlockedSteps<Real>::abandon() {
  for (std::size_t slot = 0; slot < broadcasts_.size(); ++slot) finish(slot);
}

template <class Real>
void BlockedSteps<Real>::fetch_panel(const PassPlan& plan) {
  Panel<Real>& panel = free_panel(plan);
  const DeviceBlock<Real> a{&a_, plan.panel_row.value, plan.panel_column.value, plan.panel_rows, plan.width};
  if (!on_device(plan)) {
    panel_here_ = backend_.download_transposed(a, panel.transposed());
    return;
  }
  const DeviceBlock<Real> own = l_on_device(plan).block(0, rows_above(plan), plan.width, plan.panel_rows);
  if (device_rows_) {
    factorize_in_matrix(plan, panel, a);
    backend_.copy_transposed(a, own);
    panel_here_ = {};
  } else {
    backend_.copy_transposed(a, own);
    panel_here_ = device_panel_->factorize(own);
  }
  // with what is above: gaps between the rows of a host block may be overwritten
  if (distribution_.shape.columns > 1) panel_here_ = backend_.download(l_on_device(plan), panel.all_transposed());
}

template <class Real>
void BlockedSteps<Real>::factorize_in_matrix(const PassPlan& plan, Panel<Real>& panel, const DeviceBlock<Real>& a) {
  device_rows_->begin(a);
  factorize_panel_tournament(panel_context(), plan, panel, *device_rows_);
  if (panel.above() == 0 || panel.zero_pivot) return;
  panel_free_[slot_of(plan)] = backend_.upload(panel.all_transposed().block(0, 0, plan.width, panel.above()),
                                               l_on_device(plan).block(0, 0, plan.width, panel.above()));
}

template <class Real>
void BlockedSteps<Real>::factorize_panel(const PassPlan& plan) {
  Panel<Real>& panel = panels_[slot_of(plan)];
  backend_.wait(panel_here_);
  if (on_device(plan)) {
    if (device_panel_) take_outcome(plan, panel);
    panel.pack();
    return;
  }
  const PanelContext<Real> context = panel_context();
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
  HostBlock<Real> l_host = panel.all_transposed();
  if (!plan.in_pivot_column && messages_.left_out()) {
    l_host.buffer = stand_in_panel_.get();
    panel.pivots = drawn_pivots(distribution_, parameters_.pivoting, plan.pass);
  } else if (!plan.in_pivot_column) {
    panel.unpack();
  }
  if (panel.zero_pivot || plan.pass + 1 == distribution_.passes()) abandon();
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
void BlockedSteps<Real>::start_swap(const PassPlan& plan, ColumnRange columns) {
  // with local pivoting, rows of the pivot's process row alone change places, and no other knows the pivots
  if (columns.count == 0 || !(plan.in_pivot_row || pivots_across_processes(parameters_.pivoting))) return;
  row_exchange_.start(plan_swap(parameters_, distribution_, grid_.position(), plan, pivots(), columns),
                      {&a_, 0, plan.trailing_column.value + columns.first, a_.rows(), columns.count});
}

template <class Real>
void BlockedSteps<Real>::finish_swap_and_normalize(const PassPlan& plan, ColumnRange columns) {
  normalized_ = columns;
  if (columns.count == 0) return;
  const DeviceBlock<Real> a12{&a_, plan.panel_row.value, plan.trailing_column.value + columns.first, plan.width,
                              columns.count};
  if (all_compute_u12_) {
    gather_and_normalize(plan, a12);
  } else {
    row_exchange_.finish();
    normalize_and_broadcast(plan, a12);
  }
}

// U's rows have come to all process rows.
template <class Real>
void BlockedSteps<Real>::gather_and_normalize(const PassPlan& plan, DeviceBlock<Real> a12) {
  if (plan.in_pivot_row) {
    u12_ = a12;
  } else if (backend_.computes_in_host_memory()) {
    u_ = backend_.in_place({u_host_.get(), 0, plan.width, a12.columns, a12.columns});
    u12_ = whole(*u_);
  } else {
    u12_ = whole(*u_).block(0, 0, plan.width, a12.columns);
  }
  row_exchange_.finish(u12_);
  backend_.normalize(l_.block(0, 0, plan.width, plan.width), u12_);
  if (plan.in_pivot_row) copy_where_needed(plan, a12);
}

// U12 is computed on the pivot's process row.
template <class Real>
void BlockedSteps<Real>::normalize_and_broadcast(const PassPlan& plan, DeviceBlock<Real> a12) {
  HostBlock<Real> u_host{u_host_.get(), 0, plan.width, a12.columns, a12.columns};
  const bool travels = distribution_.shape.rows > 1;
  if (travels) backend_.wait(u_host_free_);
  if (plan.in_pivot_row) {
    u12_ = a12;
    backend_.normalize(l_.block(0, 0, plan.width, plan.width), u12_);
    if (travels) backend_.wait(backend_.download(u12_, u_host));
    copy_where_needed(plan, a12);
  }
  if (!travels) return;
  messages_.u12_column(plan, u_host_->data(), plan.width * a12.columns);
  if (plan.in_pivot_row) return;
  if (messages_.left_out()) u_host.buffer = stand_in_u_.get();
  u12_ = operand(u_host, u_, u_host_free_);
}

// A22 is reduced by another matrix than its own, but in host memory.
template <class Real>
void BlockedSteps<Real>::copy_where_needed(const PassPlan& plan, DeviceBlock<Real> a12) {
  if (backend_.computes_in_host_memory()) return;
  u12_ = whole(*u_).block(0, 0, plan.width, a12.columns);
  backend_.copy(a12, u12_);
}

// True while one is under way.
template <class Real>
bool BlockedSteps<Real>::drive_messages() {
  bool under_way = !row_exchange_.test();
  for (const auto& broadcast : broadcasts_) under_way |= broadcast && !broadcast->test();
  return under_way;
}

template <class Real>
void BlockedSteps<Real>::reduce(const PassPlan& plan, ColumnRange columns) {
  // rows of L that belong to the pivot's block row: above this rank's own, or the first of these
  const Index above = rows_above(plan) + plan.panel_rows - plan.trailing_rows;
  const bool last_part = columns.first + columns.count == plan.trailing_columns;
  if (last_part && plan.in_pivot_column && !device_rows_) {
    // the factors to their place in A, where nobody waits for them: the next panel is on its way by now
    backend_.copy_transposed(l_.block(0, rows_above(plan), plan.width, plan.panel_rows),
                             {&a_, plan.panel_row.value, plan.panel_column.value, plan.panel_rows, plan.width});
  }
  for (Index i = 0; i < plan.trailing_rows;) {
    const bool under_way = drive_messages();
    const Index rows = under_way ? std::min(rows_between_tests, plan.trailing_rows - i) : plan.trailing_rows - i;
    backend_.reduce(
        l_.block(0, above + i, plan.width, rows),
        u12_.block(0, columns.first - normalized_.first, plan.width, columns.count),
        {&a_, plan.trailing_row.value + i, plan.trailing_column.value + columns.first, rows, columns.count});
    i += rows;
  }
}

template class BlockedSteps<float>;
template class BlockedSteps<double>;

}  // namespace glinpack
