// The shape of the P x Q process grid, and the places of ranks in it. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace glinpack {

/// A place in the P x Q process grid.
struct GridPosition {
  int row = 0;
  int column = 0;
  friend bool operator==(const GridPosition&, const GridPosition&) = default;
};

struct GridShape {
  int rows = 1;     // P
  int columns = 1;  // Q
  int size() const { return rows * columns; }
  friend bool operator==(const GridShape&, const GridShape&) = default;
};

/// How ranks fill the grid (HPL.dat line 9).
enum class RankOrder { row_major, column_major };

/// The position of every rank of the world; empty on ranks that the grid does not need. Ranks fill the grid in `order`.
/// With `node_grid` (rocHPL's -p and -q), the grid consists of tiles of that shape, one per node: nodes fill the grid
/// of tiles, and the ranks of a node fill its tile, both in `order`. `nodes`: of every rank, as nodes_of() numbers
/// them. Throws std::invalid_argument unless the grid is a multiple of `node_grid` and every node has as many ranks.
///
std::vector<std::optional<GridPosition>> positions_of_ranks(GridShape shape, RankOrder order,
                                                            const std::optional<GridShape>& node_grid,
                                                            std::span<const int> nodes);
/// True if the grid consists of whole tiles.
bool is_multiple(GridShape shape, GridShape tile);

/// The squarest P x Q with P Q = size that is a multiple of `tile`, and P <= Q if there are two. `size` must be a
/// multiple of tile.size().
GridShape squarest_grid(int size, GridShape tile = {1, 1});

}  // namespace glinpack
