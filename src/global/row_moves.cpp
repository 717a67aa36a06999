#include "global/row_moves.hpp"

#include <map>

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

}  // namespace glinpack
