#include "global/blocked_steps.hpp"

namespace glinpack {

template <class Real>
BlockedSteps<Real>::BlockedSteps(const RunParameters& parameters, const Distribution& distribution,
                                 const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
                                 DeviceMatrix<Real>& a)
    : parameters_(parameters),
      distribution_(distribution),
      grid_(grid),
      backend_(backend),
      timeline_(timeline),
      a_(a),
      panel_(backend, a.rows(), distribution.nb),
      l_transposed_(backend.allocate(distribution.nb, a.rows())),
      u_(backend.allocate(distribution.nb, a.columns())),
      u_host_(backend.allocate_host(distribution.shape.rows > 1 ? distribution.nb * a.columns() : 0)),
      row_exchange_(backend, timeline, grid.column(), distribution.shape.rows > 1 ? distribution.nb : 0, a.columns()) {
  backend.reserve_moves(2 * distribution.nb, a.columns());  // nb rows and the nb that they change places with
}

template <class Real>
void BlockedSteps<Real>::factorize_panel(const PassPlan& plan) {
  backend_.wait(panel_free_);
  panel_.resize(plan.panel_rows, plan.width);
  const DeviceBlock<Real> panel{&a_, plan.panel_row.value, plan.panel_column.value, plan.panel_rows, plan.width};
  backend_.wait(backend_.download_transposed(panel, panel_.transposed()));
  const PanelContext<Real> context{distribution_, grid_.position(), grid_.column(), backend_.panel(), timeline_};
  if (parameters_.pivoting == Pivoting::local) {
    factorize_panel_local(context, plan, panel_);
  } else {
    factorize_panel_partial(context, plan, panel_);
  }
  panel_.pack();
}

template <class Real>
void BlockedSteps<Real>::broadcast_panel(const PassPlan& plan) {
  if (!plan.in_pivot_column) {
    backend_.wait(panel_free_);
    panel_.resize(plan.panel_rows, plan.width);
  }
  broadcast_panel_message(panel_, plan, grid_, parameters_.broadcast, timeline_);
  if (panel_.zero_pivot) return;
  const DeviceBlock<Real> l = whole(*l_transposed_).block(0, 0, plan.width, plan.panel_rows);
  panel_free_ = backend_.upload(panel_.transposed(), l);
  if (plan.in_pivot_column) {
    backend_.copy_transposed(l, {&a_, plan.panel_row.value, plan.panel_column.value, plan.panel_rows, plan.width});
  }
}

template <class Real>
void BlockedSteps<Real>::swap_rows(const PassPlan& plan) {
  const GlobalIndex first = distribution_.rows.first(BlockIndex(plan.pass));
  const auto moves = net_row_moves(first, panel_.pivots);
  const RowExchangePlan exchange = plan_row_exchange(distribution_.rows, grid_.position().row, moves);
  row_exchange_.run(exchange, {&a_, 0, plan.trailing_column.value, a_.rows(), plan.trailing_columns});
}

template <class Real>
void BlockedSteps<Real>::normalize_and_broadcast(const PassPlan& plan) {
  if (plan.trailing_columns == 0) return;
  const DeviceBlock<Real> u = whole(*u_).block(0, 0, plan.width, plan.trailing_columns);
  const HostBlock<Real> u_host{u_host_.get(), 0, plan.width, plan.trailing_columns, plan.trailing_columns};
  const bool travels = distribution_.shape.rows > 1;
  if (travels) backend_.wait(u_host_free_);
  if (plan.in_pivot_row) {
    const DeviceBlock<Real> a12{&a_, plan.panel_row.value, plan.trailing_column.value, plan.width,
                                plan.trailing_columns};
    backend_.normalize(whole(*l_transposed_).block(0, 0, plan.width, plan.width), a12);
    backend_.copy(a12, u);
    if (travels) backend_.wait(backend_.download(a12, u_host));
  }
  if (!travels) return;
  broadcast_u12(u_host_->data(), plan, grid_, parameters_.broadcast, timeline_);
  if (!plan.in_pivot_row) u_host_free_ = backend_.upload(u_host, u);
}

template <class Real>
void BlockedSteps<Real>::reduce(const PassPlan& plan) {
  const Index above = plan.panel_rows - plan.trailing_rows;  // rows of the panel that belong to the pivot's block row
  backend_.reduce(
      whole(*l_transposed_).block(0, above, plan.width, plan.trailing_rows),
      whole(*u_).block(0, 0, plan.width, plan.trailing_columns),
      {&a_, plan.trailing_row.value, plan.trailing_column.value, plan.trailing_rows, plan.trailing_columns});
}

template class BlockedSteps<float>;
template class BlockedSteps<double>;

}  // namespace glinpack
