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

Index RowTransfer::rows() const {
  Index count = 0;
  for (const RowRange& range : ranges) count += range.count;
  return count;
}

Index RowExchangePlan::rows_received() const {
  Index count = 0;
  for (const TransferRound& round : rounds) {
    for (const RowTransfer& transfer : round) count += transfer.receives ? transfer.rows() : 0;
  }
  return count;
}

Index RowExchangePlan::messages_received() const {
  Index count = 0;
  for (const TransferRound& round : rounds) {
    for (const RowTransfer& transfer : round) count += transfer.receives ? 1 : 0;
  }
  return count;
}

RowExchangePlan plan_row_exchange(const BlockCyclic& rows, int process, std::span<const GlobalRowMove> moves) {
  RowExchangePlan plan;
  std::map<int, std::vector<Index>> outgoing;  // local rows, by the other rank
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
  TransferRound round;
  const auto pack = [&round](const std::map<int, std::vector<Index>>& by_process, std::vector<Index>& packed,
                             Index first, bool receives) {
    for (const auto& [peer, positions] : by_process) {
      const auto before = static_cast<Index>(packed.size());
      round.push_back({peer, receives, {{first + before, static_cast<Index>(positions.size())}}});
      packed.insert(packed.end(), positions.begin(), positions.end());
    }
  };
  pack(outgoing, plan.rows_to_gather, 0, false);
  plan.scatter_first = static_cast<Index>(plan.rows_to_gather.size());
  pack(incoming, plan.rows_to_scatter, plan.scatter_first, true);
  if (!round.empty()) plan.rounds.push_back(std::move(round));
  return plan;
}

}  // namespace glinpack
