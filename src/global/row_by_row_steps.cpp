#include "global/row_by_row_steps.hpp"

#include <algorithm>

#include "global/stand_ins.hpp"

namespace glinpack {

template <class Real>
RowByRowSteps<Real>::RowByRowSteps(const RunParameters& parameters, const Distribution& distribution,
                                   const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
                                   DeviceMatrix<Real>& a, NodeWindows* windows)
    : parameters_(parameters),
      distribution_(distribution),
      grid_(grid),
      backend_(backend),
      local_(*backend.row_by_row()),
      timeline_(timeline),
      a_(a),
      messages_(grid, parameters.broadcast, timeline, parameters.parts == RunParts::compute, windows),
      panel_(backend, a.rows(), distribution.nb),
      u_host_(backend.allocate_host(distribution.nb * a.columns())) {
  if (!messages_.left_out()) return;
  if (distribution.shape.columns > 1) {
    stand_in_panel_ = stand_ins(backend, panel_message_elements<Real>(a.rows(), distribution.nb), distribution.n);
  }
  if (distribution.shape.rows > 1) stand_in_u_ = stand_ins(backend, u_host_->size(), distribution.n);
}

template <class Real>
HostBlock<Real> RowByRowSteps<Real>::l(const PassPlan& plan) const {
  HostBlock<Real> block = panel_.transposed();
  if (stand_in_panel_ && !plan.in_pivot_column) block.buffer = stand_in_panel_.get();
  return block;
}

template <class Real>
HostBlock<Real> RowByRowSteps<Real>::u(const PassPlan& plan) const {
  HostBlock<Real> block = u12(plan);
  if (stand_in_u_ && !plan.in_pivot_row) block.buffer = stand_in_u_.get();
  return block;
}

// P A = L U of the panel, and all that this rank holds to the right and below reduced by it.
template <class Real>
std::optional<Index> RowByRowSteps<Real>::pivot(const PassPlan& plan) {
  std::vector<Index> local(static_cast<std::size_t>(plan.width));
  const DeviceBlock<Real> left{&a_, plan.panel_row.value, plan.panel_column.value, plan.panel_rows,
                               plan.width + plan.trailing_columns};
  const std::optional<Index> zero = local_.pivot_rows(left, panel_.transposed(), u12(plan), local);
  std::transform(local.begin(), local.end(), panel_.pivots.begin(),
                 [&](Index row) { return distribution_.rows.global(plan.panel_row + row, grid_.position().row); });
  return zero;
}

template <class Real>
void RowByRowSteps<Real>::factorize_panel(const PassPlan& plan) {
  backend_.wait(host_free_);
  panel_.resize(plan.panel_rows, plan.width);
  std::optional<Index> zero;
  if (plan.role == Role::pivot) zero = pivot(plan);

  const PanelContext<Real> context{distribution_, grid_.position(), messages_, backend_.panel(), timeline_};
  const DiagonalBlock<Real> diagonal = broadcast_diagonal_block(context, plan, panel_, zero);
  if (!panel_.zero_pivot && plan.role == Role::eliminate) {
    const DeviceBlock<Real> a21{&a_, plan.panel_row.value, plan.panel_column.value, plan.panel_rows, plan.width};
    local_.eliminate_rows(diagonal.view(), a21, panel_.transposed());
  }
  panel_.pack();
}

template <class Real>
void RowByRowSteps<Real>::finish_broadcast(const PassPlan& plan) {
  if (!plan.in_pivot_column) {
    backend_.wait(host_free_);
    panel_.resize(plan.panel_rows, plan.width);
  }
  messages_.panel_row(plan, panel_.message(), panel_.message_elements());
  if (plan.in_pivot_column) return;
  if (messages_.left_out()) {
    panel_.pivots = drawn_pivots(distribution_, parameters_.pivoting, plan.pass);
  } else {
    panel_.unpack();
  }
}

template <class Real>
void RowByRowSteps<Real>::finish_swap_and_normalize(const PassPlan& plan, ColumnRange) {
  if (plan.trailing_columns == 0) return;
  if (plan.role == Role::normalize) {
    std::vector<Index> local;
    for (const GlobalIndex row : panel_.pivots) {
      local.push_back(distribution_.rows.local(row).value - plan.panel_row.value);
    }
    const DeviceBlock<Real> a{&a_, plan.panel_row.value, plan.trailing_column.value, plan.panel_rows,
                              plan.trailing_columns};
    local_.normalize_rows(l(plan), local, a, u12(plan));
  }
  messages_.u12_column(plan, u_host_->data(), plan.width * plan.trailing_columns);
}

template <class Real>
void RowByRowSteps<Real>::reduce(const PassPlan& plan, ColumnRange) {
  if (plan.in_pivot_row) return;  // done with the pivot's and the normalize ranks' own steps
  const DeviceBlock<Real> a22{&a_, plan.trailing_row.value, plan.trailing_column.value, plan.trailing_rows,
                              plan.trailing_columns};
  host_free_ = local_.reduce_rows(l(plan), u(plan), a22);
}

template class RowByRowSteps<float>;
template class RowByRowSteps<double>;

}  // namespace glinpack
