#include "transport/row_exchange.hpp"

namespace glinpack {

template <class Real>
RowExchange<Real>::RowExchange(Backend<Real>& backend, Transport<Real>& transport, Index rows, Index columns)
    : backend_(backend),
      transport_(transport),
      buffer_(transport.allocate_buffer(Line::column, backend, 2 * rows * columns)) {}

template <class Real>
RowsFuture<Real> RowExchange<Real>::start(const PassPlan& pass, const RowExchangePlan& plan, DeviceBlock<Real> block) {
  if (block.columns == 0) return {};
  const HostBlock<Real> rows = rows_of_buffer(plan.gather_first, plan.rows_to_gather, block.columns);
  return move_and_send(pass, plan, block, backend_.gather_rows(block, plan.rows_to_gather, rows));
}

template <class Real>
RowsFuture<Real> RowExchange<Real>::solve_and_start(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12,
                                                    const PassPlan& pass, const RowExchangePlan& plan,
                                                    DeviceBlock<Real> block) {
  const HostBlock<Real> rows = rows_of_buffer(plan.gather_first, plan.rows_to_gather, block.columns);
  return move_and_send(pass, plan, block,
                       backend_.solve_unit_lower_and_gather(l11_transposed, a12, block, plan.rows_to_gather, rows));
}

// The rows to send are read before any row is overwritten.
template <class Real>
RowsFuture<Real> RowExchange<Real>::move_and_send(const PassPlan& pass, const RowExchangePlan& plan,
                                                  DeviceBlock<Real> block, Fence gathered) {
  pass_ = pass;
  plan_ = plan;
  block_ = block;
  started_ = false;
  gathered_ = gathered;
  backend_.move_rows(block, plan.local_moves);
  if (!backend_.info().asynchronous) start_messages();
  return RowsFuture<Real>(*this);
}

template <class Real>
void RowExchange<Real>::start_messages() {
  backend_.wait(gathered_);
  backend_.wait(scattered_);
  transfer_ = transport_.start_row_exchange(pass_, plan_, block_.columns, buffer_->data(), {buffer_->on_device()});
  started_ = true;
}

template <class Real>
void RowExchange<Real>::finish(DeviceBlock<Real> u) {
  if (!started_) start_messages();
  if (transfer_) transfer_->wait();
  transfer_.reset();
  if (!plan_.rows_to_scatter.empty()) {
    scattered_ = backend_.scatter_rows(rows_of_buffer(plan_.scatter_first, plan_.rows_to_scatter),
                                       plan_.rows_to_scatter, block_);
  }
  if (!plan_.u_rows.empty()) {
    scattered_ = backend_.scatter_rows(rows_of_buffer(plan_.u_first, plan_.u_rows), plan_.u_rows, u);
  }
}

template class RowExchange<float>;
template class RowExchange<double>;

}  // namespace glinpack
