#include <gtest/gtest.h>

#include <map>
#include <set>

#include "global/schedule.hpp"

namespace glinpack {
namespace {

std::map<Role, int> count_roles(GridShape grid, Index pass) {
  std::map<Role, int> counts;
  for (int p = 0; p < grid.rows; ++p) {
    for (int q = 0; q < grid.columns; ++q) ++counts[role_in_pass(grid, pass, {p, q})];
  }
  return counts;
}

// White paper, section 3.1: one pivot, s-1 normalize, s-1 eliminate, s^2 - 2(s-1) - 1 reduce
TEST(Schedule, CountsRolesAsTheWhitePaperDoesOnSquareGrids) {
  for (const int s : {1, 2, 3, 5, 40}) {
    for (const Index pass : {0, 1, 2, 7, 1000}) {
      auto counts = count_roles({s, s}, pass);
      EXPECT_EQ(counts[Role::pivot], 1);
      EXPECT_EQ(counts[Role::normalize], s - 1);
      EXPECT_EQ(counts[Role::eliminate], s - 1);
      EXPECT_EQ(counts[Role::reduce], s * s - 2 * (s - 1) - 1);
    }
  }
}

TEST(Schedule, PivotMovesDownTheDiagonalCyclically) {
  EXPECT_EQ(pivot_position({2, 3}, 0), (GridPosition{0, 0}));
  EXPECT_EQ(pivot_position({2, 3}, 1), (GridPosition{1, 1}));
  EXPECT_EQ(pivot_position({2, 3}, 2), (GridPosition{0, 2}));
  EXPECT_EQ(pivot_position({2, 3}, 6), (GridPosition{0, 0}));
}

struct Case {
  Index n, nb;
  GridShape grid;
};

class EveryPass : public testing::TestWithParam<Case> {
 protected:
  Distribution distribution{GetParam().n, GetParam().nb, GetParam().grid};
};

TEST_P(EveryPass, PanelsAndTrailingMatricesOfAllRanksMakeUpTheWhole) {
  const GridShape grid = distribution.shape;
  for (Index k = 0; k < distribution.passes(); ++k) {
    const Index left = distribution.n - k * distribution.nb;
    const Index width = distribution.pass_width(k);
    Index panel_rows = 0;
    Index trailing = 0;
    for (int p = 0; p < grid.rows; ++p) {
      for (int q = 0; q < grid.columns; ++q) {
        const PassPlan plan = plan_pass(distribution, k, {p, q});
        EXPECT_EQ(plan.width, width);
        if (plan.in_pivot_column) panel_rows += plan.panel_rows;
        trailing += plan.trailing_rows * plan.trailing_columns;
        EXPECT_EQ(plan.panel_rows - plan.trailing_rows, plan.in_pivot_row ? width : 0);
        EXPECT_LE(plan.trailing_column.value + plan.trailing_columns, distribution.local_columns({p, q}));
      }
    }
    EXPECT_EQ(panel_rows, left);
    EXPECT_EQ(trailing, (left - width) * (left - width + 1));  // b is a column of it
  }
}

TEST_P(EveryPass, EveryRankGetsThePanelAndUExactlyOnce) {
  for (const Pivoting pivoting : {Pivoting::local, Pivoting::partial}) {
    for (Index k = 0; k < distribution.passes(); ++k) {
      std::map<std::pair<int, int>, int> panels;
      std::map<std::pair<int, int>, int> u_blocks;
      for (const Message& message : messages_of_pass(distribution, pivoting, k)) {
        EXPECT_GT(message.elements, 0);
        for (const GridPosition& to : message.to) {
          EXPECT_FALSE(to == message.from);
          if (message.kind == Message::Kind::panel_row) ++panels[{to.row, to.column}];
          if (message.kind == Message::Kind::u12_column) ++u_blocks[{to.row, to.column}];
          if (pivoting == Pivoting::local) {
            EXPECT_NE(message.kind, Message::Kind::row_exchange);
          }
        }
      }
      for (int p = 0; p < distribution.shape.rows; ++p) {
        for (int q = 0; q < distribution.shape.columns; ++q) {
          const PassPlan plan = plan_pass(distribution, k, {p, q});
          const int panel_wanted = !plan.in_pivot_column && plan.panel_rows > 0 ? 1 : 0;
          const int u_wanted = !plan.in_pivot_row && plan.trailing_columns > 0 ? 1 : 0;
          EXPECT_EQ((panels[{p, q}]), panel_wanted);
          EXPECT_EQ((u_blocks[{p, q}]), u_wanted);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, EveryPass,
                         testing::Values(Case{1, 1, {1, 1}}, Case{5, 8, {2, 2}}, Case{29, 4, {2, 2}},
                                         Case{30, 7, {2, 3}}, Case{64, 16, {3, 2}}, Case{33, 3, {1, 4}},
                                         Case{33, 3, {4, 1}}, Case{100, 9, {5, 7}}));

TEST(Schedule, HoldsForTenThousandRanks) {
  const Distribution distribution(1'000'000, 256, {100, 100});
  const Index k = 1953;
  Index panel_rows = 0;
  for (int p = 0; p < 100; ++p) {
    for (int q = 0; q < 100; ++q) {
      const PassPlan plan = plan_pass(distribution, k, {p, q});
      if (plan.in_pivot_column) panel_rows += plan.panel_rows;
    }
  }
  EXPECT_EQ(panel_rows, 1'000'000 - k * 256);
}

TEST(Schedule, ExplainsThePassOfTheWhitePapersFigure) {
  // figure 2: four nodes, third pass; the pivot is process 0 again
  const std::string text = explain_pass(Distribution(512, 64, {2, 2}), Pivoting::local, 2);
  EXPECT_NE(text.find("(0,0)              pivot"), std::string::npos) << text;
  EXPECT_NE(text.find("(0,1)              normalize"), std::string::npos) << text;
  EXPECT_NE(text.find("(1,0)              eliminate"), std::string::npos) << text;
  EXPECT_NE(text.find("(1,1)              reduce"), std::string::npos) << text;
  EXPECT_NE(text.find("(0,0) -> (1,0)  U11 down the process column: 4096"), std::string::npos) << text;
  EXPECT_NE(text.find("(0,1) -> (1,1)  U12 down the process column"), std::string::npos) << text;
}

}  // namespace
}  // namespace glinpack
