// Bringing chosen rows to the top: as interchanges, which is how pivots are reported, and as what these come to.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "local/backend.hpp"

namespace glinpack {

struct RowInterchanges {
  std::vector<Index> pivots;   // row first + i changes places with row pivots[i] >= first + i, i = 0, 1, ...
  std::vector<RowMove> moves;  // the same done at once: rows that end somewhere else; those that go to the top first
};

/// Makes row chosen[i] row first + i. The chosen rows are different, and none is above `first`.
RowInterchanges bring_to_top(Index first, std::span<const Index> chosen);

/// Of row interchanges 0, 1, ... one after the other, row k with row pivots[k] >= k: which row ends as row i, for each
/// of the rows 0 ... pivots.size() - 1.
std::vector<Index> row_order_of(std::span<const Index> pivots);

/// Moves in such an order that they can be made one after the other, where they lie, with one row set aside.
struct RowChains {
  struct Chain {
    Index first;  // of `moves`
    Index count;
  };
  std::vector<RowMove> moves;  // a chain's follow each other, and each begins where the one before it ends
  std::vector<Chain> chains;   // no two have a row in common; a closed one ends where it begins
};

/// Of moves that are made at once, each `to` once, from and to rows 0 ... rows - 1. Nothing where a row goes to
/// several.
std::optional<RowChains> chains_of(std::span<const RowMove> moves, Index rows);

}  // namespace glinpack
