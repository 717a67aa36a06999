#include "base/row_interchanges.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace glinpack {

RowInterchanges bring_to_top(Index first, std::span<const Index> chosen) {
  const auto count = static_cast<Index>(chosen.size());
  const auto place = [](Index i) { return static_cast<std::size_t>(i); };
  const auto is_top = [&](Index row) { return row < first + count; };
  // the positions of the top rows, and the top row at each position that is not yet filled
  std::vector<Index> position_of(chosen.size());
  std::iota(position_of.begin(), position_of.end(), first);
  std::vector<Index> row_at = position_of;
  std::vector<bool> stays_on_top(chosen.size(), false);
  RowInterchanges result;
  for (Index i = 0; i < count; ++i) {
    const Index row = chosen[place(i)];
    const Index pivot = is_top(row) ? position_of[place(row - first)] : row;
    const Index displaced = row_at[place(i)];
    position_of[place(displaced - first)] = pivot;
    if (is_top(pivot)) row_at[place(pivot - first)] = displaced;
    if (is_top(row)) stays_on_top[place(row - first)] = true;
    result.pivots.push_back(pivot);
    if (row != first + i) result.moves.push_back({row, first + i});
  }
  for (Index i = 0; i < count; ++i) {
    if (!stays_on_top[place(i)]) result.moves.push_back({first + i, position_of[place(i)]});
  }
  return result;
}

std::vector<Index> row_order_of(std::span<const Index> pivots) {
  // a pivot may be further down than the rows asked for
  const Index last = pivots.empty() ? -1 : *std::max_element(pivots.begin(), pivots.end());
  std::vector<Index> order(std::max(pivots.size(), static_cast<std::size_t>(last + 1)));
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t k = 0; k < pivots.size(); ++k) std::swap(order[k], order[static_cast<std::size_t>(pivots[k])]);
  order.resize(pivots.size());
  return order;
}

std::optional<RowChains> chains_of(std::span<const RowMove> moves, Index rows) {
  constexpr Index none = -1;
  const auto place = [](Index row) { return static_cast<std::size_t>(row); };
  std::vector<Index> goes_to(place(rows), none);
  std::vector<bool> is_target(place(rows), false);
  for (const RowMove& move : moves) {
    if (goes_to[place(move.from)] != none) return std::nullopt;
    goes_to[place(move.from)] = move.to;
    is_target[place(move.to)] = true;
  }
  RowChains result;
  const auto follow = [&](Index row) {
    const auto first = static_cast<Index>(result.moves.size());
    while (goes_to[place(row)] != none) {
      const Index next = std::exchange(goes_to[place(row)], none);
      result.moves.push_back({row, next});
      row = next;
    }
    const auto count = static_cast<Index>(result.moves.size()) - first;
    if (count > 0) result.chains.push_back({first, count});
  };
  for (const RowMove& move : moves) {
    if (!is_target[place(move.from)]) follow(move.from);
  }
  for (const RowMove& move : moves) follow(move.from);  // the remaining chains are closed
  return result;
}

}  // namespace glinpack
