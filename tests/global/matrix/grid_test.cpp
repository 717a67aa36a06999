#include "matrix/grid.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <vector>

namespace glinpack {
namespace {

TEST(Grid, DefaultIsTheSquarestWithNoMoreRowsThanColumns) {
  EXPECT_EQ(squarest_grid(1), (GridShape{1, 1}));
  EXPECT_EQ(squarest_grid(4), (GridShape{2, 2}));
  EXPECT_EQ(squarest_grid(6), (GridShape{2, 3}));
  EXPECT_EQ(squarest_grid(7), (GridShape{1, 7}));
  EXPECT_EQ(squarest_grid(36), (GridShape{6, 6}));
  EXPECT_EQ(squarest_grid(16, {1, 8}), (GridShape{2, 8}));
  EXPECT_EQ(squarest_grid(32, {2, 4}), (GridShape{4, 8}));
  EXPECT_EQ(squarest_grid(8, {4, 1}), (GridShape{4, 2}));
}

using Positions = std::vector<std::optional<GridPosition>>;
constexpr std::optional<GridPosition> idle;

TEST(Grid, RanksFillTheGridInTheirOrder) {
  const std::vector<int> one_node(7, 0);
  const auto positions = [&](RankOrder order) { return positions_of_ranks({2, 3}, order, {}, one_node); };
  EXPECT_EQ(positions(RankOrder::row_major),
            (Positions{{{0, 0}}, {{0, 1}}, {{0, 2}}, {{1, 0}}, {{1, 1}}, {{1, 2}}, idle}));
  EXPECT_EQ(positions(RankOrder::column_major),
            (Positions{{{0, 0}}, {{1, 0}}, {{0, 1}}, {{1, 1}}, {{0, 2}}, {{1, 2}}, idle}));
}

TEST(Grid, ANodeGridKeepsItsRowsAndColumnsOnANode) {
  // ranks of four nodes, as a launcher places them one after another or in turn
  const std::vector<int> blocks{0, 0, 2, 2, 4, 4, 6, 6}, cyclic{0, 1, 2, 3, 0, 1, 2, 3};
  EXPECT_EQ(positions_of_ranks({4, 2}, RankOrder::row_major, GridShape{2, 1}, blocks),
            (Positions{{{0, 0}}, {{1, 0}}, {{0, 1}}, {{1, 1}}, {{2, 0}}, {{3, 0}}, {{2, 1}}, {{3, 1}}}));
  EXPECT_EQ(positions_of_ranks({4, 2}, RankOrder::column_major, GridShape{2, 1}, blocks),
            (Positions{{{0, 0}}, {{1, 0}}, {{2, 0}}, {{3, 0}}, {{0, 1}}, {{1, 1}}, {{2, 1}}, {{3, 1}}}));
  EXPECT_EQ(positions_of_ranks({2, 4}, RankOrder::row_major, GridShape{1, 2}, cyclic),
            (Positions{{{0, 0}}, {{0, 2}}, {{1, 0}}, {{1, 2}}, {{0, 1}}, {{0, 3}}, {{1, 1}}, {{1, 3}}}));
  EXPECT_EQ(positions_of_ranks({2, 2}, RankOrder::row_major, GridShape{2, 1}, blocks),
            (Positions{{{0, 0}}, {{1, 0}}, {{0, 1}}, {{1, 1}}, idle, idle, idle, idle}));
  EXPECT_THROW(positions_of_ranks({4, 2}, RankOrder::row_major, GridShape{3, 1}, blocks), std::invalid_argument);
  EXPECT_THROW(positions_of_ranks({2, 2}, RankOrder::row_major, GridShape{1, 2}, std::vector{0, 0, 0, 3}),
               std::invalid_argument);
}

}  // namespace
}  // namespace glinpack
