// Moves chosen rows to the top: as interchanges, which is how pivots are reported, and as the equivalent row moves.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backend/arithmetic.hpp"

namespace glinpack {

struct RowInterchanges {
  std::vector<Index> pivots;   // row first + i is exchanged with row pivots[i] >= first + i, i = 0, 1, ...
  std::vector<RowMove> moves;  // equivalent simultaneous moves of displaced rows; moves to the top come first
};

/// Makes row chosen[i] row first + i. The chosen rows are different, and none is above `first`.
RowInterchanges bring_to_top(Index first, std::span<const Index> chosen);

/// After the interchanges of rows k and pivots[k] >= k, k = 0, 1, ..., the original row that is now row i, for each i <
/// pivots.size().
std::vector<Index> row_order_of(std::span<const Index> pivots);

/// Moves in an order that allows to make them one after the other, in place, with one saved row.
struct RowChains {
  struct Chain {
    Index first;  // of `moves`
    Index count;
  };
  std::vector<RowMove> moves;  // those of a chain are consecutive; each starts at the end of the previous one
  std::vector<Chain> chains;   // disjoint; a closed chain ends at its first row
};

/// Chains of simultaneous moves with distinct `to`, within rows 0 ... rows - 1. None if a row goes to several rows.
std::optional<RowChains> chains_of(std::span<const RowMove> moves, Index rows);

}  // namespace glinpack
