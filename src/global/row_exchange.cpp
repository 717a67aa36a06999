#include "global/row_exchange.hpp"

#include <algorithm>
#include <map>

#include "global/communication.hpp"
#include "global/tags.hpp"

namespace glinpack {

std::vector<GlobalRowMove> net_row_moves(GlobalIndex first, std::span<const GlobalIndex> pivots) {
  std::map<GlobalIndex, GlobalIndex> content;  // row -> where what is in it now came from, where that is elsewhere
  const auto origin = [&content](GlobalIndex row) {
    const auto found = content.find(row);
    return found == content.end() ? row : found->second;
  };
  GlobalIndex row = first;
  for (const GlobalIndex pivot : pivots) {
    const GlobalIndex from_row = origin(row);
    const GlobalIndex from_pivot = origin(pivot);
    content[row] = from_pivot;
    content[pivot] = from_row;
    if (row == pivot) content[row] = from_row;
    ++row;
  }
  std::vector<GlobalRowMove> moves;
  for (const auto& [to, from] : content) {
    if (from != to) moves.push_back({from, to});
  }
  return moves;
}

RowExchangePlan plan_row_exchange(const BlockCyclic& rows, int process, std::span<const GlobalRowMove> moves) {
  RowExchangePlan plan;
  std::map<int, std::vector<Index>> outgoing;
  std::map<int, std::vector<Index>> incoming;
  for (const GlobalRowMove& move : moves) {
    const int from = rows.owner(move.from);
    const int to = rows.owner(move.to);
    if (from == process && to == process) {
      plan.local_moves.push_back({rows.local(move.from).value, rows.local(move.to).value});
    } else if (from == process) {
      outgoing[to].push_back(rows.local(move.from).value);
    } else if (to == process) {
      incoming[from].push_back(rows.local(move.to).value);
    }
  }
  const auto pack = [](const std::map<int, std::vector<Index>>& by_process, std::vector<Index>& packed,
                       std::vector<RowExchangePlan::Peer>& peers) {
    for (const auto& [peer, positions] : by_process) {
      peers.push_back({peer, static_cast<Index>(packed.size()), static_cast<Index>(positions.size())});
      packed.insert(packed.end(), positions.begin(), positions.end());
    }
  };
  pack(outgoing, plan.rows_to_send, plan.receivers);
  pack(incoming, plan.rows_to_receive, plan.senders);
  return plan;
}

template <class Real>
RowExchange<Real>::RowExchange(Backend<Real>& backend, Timeline& timeline, MPI_Comm column, Index rows, Index columns)
    : backend_(backend),
      timeline_(timeline),
      column_(column),
      outgoing_(backend.allocate_host(rows * columns)),
      incoming_(backend.allocate_host(rows * columns)) {}

template <class Real>
void RowExchange<Real>::run(const RowExchangePlan& plan, DeviceBlock<Real> block) {
  if (block.columns == 0) return;
  const auto packed = [&](HostBuffer<Real>& buffer, const std::vector<Index>& rows) {
    return HostBlock<Real>{&buffer, 0, static_cast<Index>(rows.size()), block.columns, block.columns};
  };
  // what leaves is read before anything is overwritten
  if (!plan.rows_to_send.empty()) {
    backend_.wait(backend_.gather_rows(block, plan.rows_to_send, packed(*outgoing_, plan.rows_to_send)));
  }
  if (!plan.local_moves.empty()) backend_.move_rows(block, plan.local_moves);
  if (plan.senders.empty() && plan.receivers.empty()) return;
  backend_.wait(incoming_free_);
  transfer(plan, block.columns);
  if (!plan.rows_to_receive.empty()) {
    incoming_free_ = backend_.scatter_rows(packed(*incoming_, plan.rows_to_receive), plan.rows_to_receive, block);
  }
}

template <class Real>
void RowExchange<Real>::transfer(const RowExchangePlan& plan, Index columns) {
  const auto elements = static_cast<std::int64_t>(plan.rows_to_receive.size()) * columns;
  const auto scope = timeline_.scope(Lane::net, Phase::swap, elements * static_cast<std::int64_t>(sizeof(Real)));
  std::vector<MPI_Request> requests;
  const auto start = [&](const RowExchangePlan::Peer& peer, bool receive) {
    Real* first = (receive ? *incoming_ : *outgoing_).data() + peer.first * columns;
    const int count = message_count(peer.count * columns);
    requests.push_back(MPI_REQUEST_NULL);
    if (receive) {
      GLINPACK_MPI(
          MPI_Irecv(first, count, mpi_type<Real>(), peer.process, tags::row_exchange, column_, &requests.back()));
    } else {
      GLINPACK_MPI(
          MPI_Isend(first, count, mpi_type<Real>(), peer.process, tags::row_exchange, column_, &requests.back()));
    }
  };
  for (const auto& peer : plan.senders) start(peer, true);
  for (const auto& peer : plan.receivers) start(peer, false);
  wait(requests);
}

template class RowExchange<float>;
template class RowExchange<double>;

}  // namespace glinpack
