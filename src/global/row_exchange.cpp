#include "global/row_exchange.hpp"

#include "global/stand_ins.hpp"

namespace glinpack {

template <class Real>
RowExchange<Real>::RowExchange(Backend<Real>& backend, const PassMessages& messages, Index rows, Index columns, Index n)
    : backend_(backend),
      messages_(messages),
      buffer_(messages.left_out() ? stand_ins(backend, 2 * rows * columns, n)
                                  : backend.allocate_host(2 * rows * columns)) {}

template <class Real>
void RowExchange<Real>::start(const RowExchangePlan& plan, DeviceBlock<Real> block) {
  plan_ = plan;
  block_ = block;
  begun_ = block.columns == 0;
  if (begun_) return;
  // what leaves is read before anything is overwritten
  gathered_ = {};
  if (!plan.rows_to_gather.empty()) {
    gathered_ =
        backend_.gather_rows(block, plan.rows_to_gather, rows_of_buffer(plan.gather_first, plan.rows_to_gather));
  }
  if (!plan.local_moves.empty()) backend_.move_rows(block, plan.local_moves);
  if (!backend_.asynchronous()) begin_messages();
}

template <class Real>
void RowExchange<Real>::begin_messages() {
  backend_.wait(gathered_);
  backend_.wait(free_);
  under_way_ = messages_.start_rows(plan_, block_.columns, buffer_->data());
  begun_ = true;
}

template <class Real>
void RowExchange<Real>::finish(DeviceBlock<Real> u) {
  if (block_.columns == 0) return;
  if (!begun_) begin_messages();
  if (under_way_) under_way_->wait();
  under_way_.reset();
  if (!plan_.rows_to_scatter.empty()) {
    const Index first = messages_.left_out() && plan_.u_rows.empty() ? plan_.gather_first : plan_.scatter_first;
    free_ = backend_.scatter_rows(rows_of_buffer(first, plan_.rows_to_scatter), plan_.rows_to_scatter, block_);
  }
  if (!plan_.u_rows.empty()) {
    free_ = backend_.scatter_rows(rows_of_buffer(plan_.u_first, plan_.u_rows), plan_.u_rows, u);
  }
  block_ = {};
}

template class RowExchange<float>;
template class RowExchange<double>;

}  // namespace glinpack
