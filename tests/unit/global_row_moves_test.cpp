#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "global/row_exchange.hpp"

namespace glinpack {
namespace {

std::vector<GlobalIndex> random_pivots(Index first, Index width, Index n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<GlobalIndex> pivots;
  for (Index j = 0; j < width; ++j) {
    pivots.emplace_back(std::uniform_int_distribution<Index>(first + j, n - 1)(random));
  }
  return pivots;
}

std::vector<Index> interchanged_one_by_one(Index first, const std::vector<GlobalIndex>& pivots, Index n) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  for (std::size_t j = 0; j < pivots.size(); ++j) {
    std::swap(rows[static_cast<std::size_t>(first) + j], rows[static_cast<std::size_t>(pivots[j].value)]);
  }
  return rows;
}

TEST(RowMoves, ComeToTheSameAsTheInterchangesOneByOne) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Index n = 40;
    const Index first = seed % 20;
    const Index width = 1 + seed % 16;
    const auto pivots = random_pivots(first, width, n, seed);
    std::vector<Index> rows(static_cast<std::size_t>(n));
    std::iota(rows.begin(), rows.end(), 0);
    for (const GlobalRowMove& move : net_row_moves(GlobalIndex(first), pivots)) {
      EXPECT_NE(move.from, move.to);
      rows[static_cast<std::size_t>(move.to.value)] = move.from.value;
    }
    EXPECT_EQ(rows, interchanged_one_by_one(first, pivots, n)) << "seed " << seed;
  }
}

TEST(RowMoves, AreNoneWhereEveryPivotIsItsOwnRow) {
  const std::vector<GlobalIndex> pivots{GlobalIndex(4), GlobalIndex(5), GlobalIndex(6)};
  EXPECT_TRUE(net_row_moves(GlobalIndex(4), pivots).empty());
}

TEST(RowExchange, WhatOneProcessSendsAnotherExpectsInTheSameOrder) {
  const BlockCyclic rows(60, 4, 3);
  const auto pivots = random_pivots(8, 4, 60, 7);
  const auto moves = net_row_moves(GlobalIndex(8), pivots);
  std::vector<RowExchangePlan> plans;
  for (int p = 0; p < 3; ++p) plans.push_back(plan_row_exchange(rows, p, moves));
  std::size_t planned = 0;
  for (int p = 0; p < 3; ++p) {
    planned += plans[static_cast<std::size_t>(p)].local_moves.size();
    for (const auto& receiver : plans[static_cast<std::size_t>(p)].receivers) {
      const auto& other = plans[static_cast<std::size_t>(receiver.process)];
      const auto sender =
          std::find_if(other.senders.begin(), other.senders.end(), [p](const auto& peer) { return peer.process == p; });
      ASSERT_NE(sender, other.senders.end());
      ASSERT_EQ(sender->count, receiver.count);
      for (Index i = 0; i < receiver.count; ++i) {
        const Index from =
            plans[static_cast<std::size_t>(p)].rows_to_send[static_cast<std::size_t>(receiver.first + i)];
        const Index to = other.rows_to_receive[static_cast<std::size_t>(sender->first + i)];
        const GlobalRowMove move{rows.global(LocalIndex(from), p), rows.global(LocalIndex(to), receiver.process)};
        EXPECT_NE(std::find(moves.begin(), moves.end(), move), moves.end());
        ++planned;
      }
    }
  }
  EXPECT_EQ(planned, moves.size());
}

}  // namespace
}  // namespace glinpack
