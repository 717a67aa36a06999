#include "global/pass_messages.hpp"

namespace glinpack {

template <class Real>
void PassMessages::rows(const RowExchangePlan& plan, Index columns, const Real* outgoing, Real* incoming) const {
  if (left_out_ || (plan.senders.empty() && plan.receivers.empty())) return;
  const Index bytes = static_cast<Index>(plan.rows_to_receive.size()) * columns * Index{sizeof(Real)};
  const auto scope = timeline_.scope(Lane::net, Phase::swap, bytes, 0, static_cast<std::int32_t>(plan.senders.size()));
  const MPI_Datatype type = mpi_type<Real>();
  std::vector<MPI_Request> requests;
  for (const auto& peer : plan.senders) {
    requests.push_back(MPI_REQUEST_NULL);
    GLINPACK_MPI(MPI_Irecv(incoming + peer.first * columns, message_count(peer.count * columns), type, peer.process,
                           tags::row_exchange, grid_.column(), &requests.back()));
  }
  for (const auto& peer : plan.receivers) {
    requests.push_back(MPI_REQUEST_NULL);
    GLINPACK_MPI(MPI_Isend(outgoing + peer.first * columns, message_count(peer.count * columns), type, peer.process,
                           tags::row_exchange, grid_.column(), &requests.back()));
  }
  wait(requests);
}

template void PassMessages::rows(const RowExchangePlan&, Index, const float*, float*) const;
template void PassMessages::rows(const RowExchangePlan&, Index, const double*, double*) const;

}  // namespace glinpack
