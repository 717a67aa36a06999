#include "global/row_exchange.hpp"

namespace glinpack {

template <class Real>
RowExchange<Real>::RowExchange(Backend<Real>& backend, const PassMessages& messages, Index rows, Index columns)
    : backend_(backend),
      messages_(messages),
      outgoing_(backend.allocate_host(rows * columns)),
      incoming_(backend.allocate_host(rows * columns)) {}

template <class Real>
void RowExchange<Real>::run(const RowExchangePlan& plan, DeviceBlock<Real> block) {
  if (block.columns == 0) return;
  const auto packed = [&](HostBuffer<Real>& buffer, const std::vector<Index>& rows) {
    return HostBlock<Real>{&buffer, 0, static_cast<Index>(rows.size()), block.columns, block.columns};
  };
  backend_.wait(arrived_free_);
  // what leaves is read before anything is overwritten
  if (!plan.rows_to_send.empty()) {
    backend_.wait(backend_.gather_rows(block, plan.rows_to_send, packed(*outgoing_, plan.rows_to_send)));
  }
  if (!plan.local_moves.empty()) backend_.move_rows(block, plan.local_moves);
  if (plan.senders.empty() && plan.receivers.empty()) return;
  messages_.rows(plan, block.columns, outgoing_->data(), incoming_->data());
  HostBuffer<Real>& arrived = messages_.left_out() ? *outgoing_ : *incoming_;
  if (!plan.rows_to_receive.empty()) {
    arrived_free_ = backend_.scatter_rows(packed(arrived, plan.rows_to_receive), plan.rows_to_receive, block);
  }
}

template class RowExchange<float>;
template class RowExchange<double>;

}  // namespace glinpack
