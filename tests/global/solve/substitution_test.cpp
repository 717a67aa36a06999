#include "solve/substitution.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "matrix/pass.hpp"

namespace glinpack {
namespace {

TEST(SubstitutionBlocks, HoldEveryDiagonalBlockOfARankIfItSolvesSeveralTimes) {
  for (const GridShape grid : {GridShape{1, 1}, {1, 3}, {2, 2}, {2, 3}, {4, 2}, {4, 6}, {5, 5}}) {
    for (const Index n : {1, 7, 24, 100}) {
      const Distribution distribution(n, 2, grid);
      for (int p = 0; p < grid.rows; ++p) {
        for (int q = 0; q < grid.columns; ++q) {
          SCOPED_TRACE(testing::Message()
                       << grid.rows << "x" << grid.columns << ", " << p << "," << q << ", N = " << n);
          Index pivots = 0;
          for (Index pass = 0; pass < distribution.passes(); ++pass) {
            if (plan_pass(distribution, pass, {p, q}).role == Role::pivot) ++pivots;
          }
          const Index room = diagonal_blocks_on_host(distribution, {p, q}, Solutions::several);
          EXPECT_GE(room, pivots);
          EXPECT_LE(room, pivots + 1);
          EXPECT_EQ(diagonal_blocks_on_host(distribution, {p, q}, Solutions::one), 1);
        }
      }
    }
  }
}

}  // namespace
}  // namespace glinpack
