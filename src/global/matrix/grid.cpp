#include "matrix/grid.hpp"

#include <map>
#include <stdexcept>
#include <string>

namespace glinpack {

namespace {

std::string text_of(GridShape shape) { return std::to_string(shape.rows) + " x " + std::to_string(shape.columns); }

GridPosition cell(GridShape shape, RankOrder order, int number) {
  return order == RankOrder::row_major ? GridPosition{number / shape.columns, number % shape.columns}
                                       : GridPosition{number % shape.rows, number / shape.rows};
}

}  // namespace

bool is_multiple(GridShape shape, GridShape tile) {
  return shape.rows % tile.rows == 0 && shape.columns % tile.columns == 0;
}

std::vector<std::optional<GridPosition>> positions_of_ranks(GridShape shape, RankOrder order,
                                                            const std::optional<GridShape>& node_grid,
                                                            std::span<const int> nodes) {
  struct Node {
    int number = 0;
    int ranks = 0;
  };
  const GridShape tile = node_grid.value_or(shape);  // without node_grid, the world is one node
  if (!is_multiple(shape, tile)) {
    throw std::invalid_argument("a process grid of " + text_of(shape) + " is not a multiple of " + text_of(tile));
  }
  const GridShape tiles{shape.rows / tile.rows, shape.columns / tile.columns};
  std::map<int, Node> known;
  std::vector<std::optional<GridPosition>> positions;
  for (const int node_of_rank : nodes) {
    const Node next{.number = static_cast<int>(known.size())};
    Node& node = known.try_emplace(node_grid ? node_of_rank : 0, next).first->second;
    const int in_node = node.ranks++;
    if (node.number >= tiles.size() || in_node >= tile.size()) {
      positions.emplace_back();
      continue;
    }
    const GridPosition outer = cell(tiles, order, node.number), inner = cell(tile, order, in_node);
    positions.push_back(GridPosition{outer.row * tile.rows + inner.row, outer.column * tile.columns + inner.column});
  }
  for (const auto& [first_rank, node] : known) {
    if (node_grid && node.ranks != tile.size()) {
      throw std::invalid_argument("a node has " + std::to_string(node.ranks) + " ranks; the node grid " +
                                  text_of(tile) + " needs " + std::to_string(tile.size()));
    }
  }
  return positions;
}

GridShape squarest_grid(int size, GridShape tile) {
  const int tiles = size / tile.size();
  GridShape squarest{tile.rows, tiles * tile.columns};
  for (int rows = 2; rows <= tiles; ++rows) {
    if (tiles % rows != 0) continue;
    const GridShape shape{rows * tile.rows, tiles / rows * tile.columns};
    if (shape.rows + shape.columns < squarest.rows + squarest.columns) squarest = shape;
  }
  return squarest;
}

}  // namespace glinpack
