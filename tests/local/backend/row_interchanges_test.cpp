// Orders of row moves that allow in-place execution.
#include "base/row_interchanges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace glinpack {
namespace {

// As on a device: executes the moves of a chain in order and saves the next row before it is overwritten.
std::vector<Index> made_in_place(std::vector<Index> rows, const RowChains& ordered) {
  for (const RowChains::Chain& chain : ordered.chains) {
    const auto at = [&](Index i) { return ordered.moves[static_cast<std::size_t>(chain.first + i)]; };
    Index carried = rows[static_cast<std::size_t>(at(0).from)];
    for (Index i = 0; i < chain.count; ++i) std::swap(carried, rows[static_cast<std::size_t>(at(i).to)]);
  }
  return rows;
}

std::vector<Index> made_at_once(const std::vector<Index>& rows, const std::vector<RowMove>& moves) {
  std::vector<Index> moved = rows;
  for (const RowMove& move : moves)
    moved[static_cast<std::size_t>(move.to)] = rows[static_cast<std::size_t>(move.from)];
  return moved;
}

std::vector<Index> numbered(Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

TEST(RowChains, open_and_closed_chains_equal_simultaneous_moves) {
  const std::vector<RowMove> moves{{3, 1}, {5, 6}, {1, 3}, {0, 5}, {6, 2}, {8, 9}, {9, 7}, {7, 8}};
  const auto ordered = chains_of(moves, 10);
  ASSERT_TRUE(ordered);
  EXPECT_EQ(made_in_place(numbered(10), *ordered), made_at_once(numbered(10), moves));
  std::vector<Index> lengths;
  for (const RowChains::Chain& chain : ordered->chains) lengths.push_back(chain.count);
  std::ranges::sort(lengths);
  EXPECT_EQ(lengths, (std::vector<Index>{2, 3, 3}));  // 1 <-> 3; 0 -> 5 -> 6 -> 2; 7 -> 8 -> 9 -> 7
}

TEST(RowChains, permutations_of_any_rows_are_chains) {
  std::mt19937 random(7);
  for (const Index count : {Index{1}, Index{2}, Index{17}, Index{400}}) {
    std::vector<Index> to = numbered(count);
    std::ranges::shuffle(to, random);
    std::vector<RowMove> moves;
    for (Index from = 0; from < count; ++from) {
      if (to[static_cast<std::size_t>(from)] != from) moves.push_back({from, to[static_cast<std::size_t>(from)]});
    }
    const auto ordered = chains_of(moves, count);
    ASSERT_TRUE(ordered);
    EXPECT_EQ(ordered->moves.size(), moves.size());
    EXPECT_EQ(made_in_place(numbered(count), *ordered), made_at_once(numbered(count), moves));
  }
}

TEST(RowChains, a_row_with_several_targets_is_in_no_chain) {
  EXPECT_FALSE(chains_of(std::vector<RowMove>{{3, 0}, {3, 1}}, 4));
}

TEST(RowChains, no_moves_give_no_chains) {
  const auto ordered = chains_of({}, 4);
  ASSERT_TRUE(ordered);
  EXPECT_TRUE(ordered->moves.empty());
  EXPECT_TRUE(ordered->chains.empty());
}

}  // namespace
}  // namespace glinpack
