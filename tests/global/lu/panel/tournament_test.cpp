#include "lu/panel/tournament.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <set>

#include "matrix/pass.hpp"

namespace glinpack {
namespace {

// The number of candidate rows of each process row after the steps.
std::vector<Index> remaining_candidates(const std::vector<TournamentStep>& steps, std::vector<Index> candidates,
                                        Index width) {
  for (Index& rows : candidates) rows = std::min(rows, width);
  for (const TournamentStep& step : steps) {
    const auto from = static_cast<std::size_t>(step.from);
    const auto to = static_cast<std::size_t>(step.to);
    EXPECT_EQ(step.rows, candidates[from]) << step.from << " -> " << step.to;
    candidates[to] = std::min(width, candidates[to] + step.rows);
    candidates[from] = 0;
  }
  return candidates;
}

TEST(TournamentTree, ReducesTheCandidatesOfAllProcessRowsToTheRoot) {
  for (int processes = 1; processes <= 20; ++processes) {
    for (const int root : {0, processes / 2, processes - 1}) {
      for (const Index width : {1, 7, 64}) {
        for (const Index empty : {0, 2, 3}) {  // every `empty`-th process row has no rows
          std::vector<Index> rows_of;
          for (int p = 0; p < processes; ++p) {
            const bool has_none = empty > 0 && p % empty == 0 && p != root;
            rows_of.push_back(has_none ? 0 : 5 * p + (p == root ? width : 1));
          }
          const auto left = remaining_candidates(tournament_steps(rows_of, root, width), rows_of, width);
          const Index all = std::accumulate(rows_of.begin(), rows_of.end(), Index{0});
          for (int p = 0; p < processes; ++p) {
            EXPECT_EQ(left[static_cast<std::size_t>(p)], p == root ? std::min(width, all) : 0);
          }
        }
      }
    }
  }
}

TEST(TournamentTree, HasLog2OfTheProcessRowsLevels) {
  for (const int processes : {2, 3, 4, 5, 8, 9, 64, 100}) {
    const std::vector<Index> rows_of(static_cast<std::size_t>(processes), 100);
    std::vector<int> level(static_cast<std::size_t>(processes), 0);
    std::set<int> senders;
    for (const TournamentStep& step : tournament_steps(rows_of, 1, 16)) {
      int& receiver = level[static_cast<std::size_t>(step.to)];
      receiver = std::max(receiver, level[static_cast<std::size_t>(step.from)]) + 1;
      EXPECT_TRUE(senders.insert(step.from).second) << "sends twice";
    }
    EXPECT_EQ(senders.size(), static_cast<std::size_t>(processes - 1));
    EXPECT_EQ(level[1], static_cast<int>(std::bit_width(static_cast<unsigned>(processes - 1))));
  }
}

TEST(TournamentTree, CoversThePanelBlockByBlockWithTheRemainingRows) {
  const Distribution distribution(600, 150, {3, 2});
  for (Index pass = 0; pass < distribution.passes(); ++pass) {
    Index next = 0;
    for (const TournamentBlock& block : tournaments_of_pass(distribution, pass)) {
      EXPECT_EQ(block.first, next);
      EXPECT_LE(block.width, tournament_columns);
      next += block.width;
      for (const TournamentStep& step : block.steps) {
        EXPECT_NE(step.from, pivot_position(distribution.shape, pass).row);
        EXPECT_EQ(step.rows, block.width);
      }
      // four blocks of 150 rows on three process rows: process rows without remaining rows do not participate
      EXPECT_EQ(block.steps.size(), static_cast<std::size_t>(std::min<Index>(2, 3 - pass)));
    }
    EXPECT_EQ(next, 150);
  }
}

}  // namespace
}  // namespace glinpack
