#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

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
TEST(Schedule, CountsRolesAsTheWhitePaperDoesOnSquareGridsInEveryPass) {
  for (int s = 1; s <= 40; ++s) {
    // all places of the pivot, and passes far into a large matrix
    for (Index pass = 0; pass < s; ++pass) {
      for (const Index turn : {0, 1, 1000}) {
        auto counts = count_roles({s, s}, pass + turn * s);
        EXPECT_EQ(counts[Role::pivot], 1);
        EXPECT_EQ(counts[Role::normalize], s - 1);
        EXPECT_EQ(counts[Role::eliminate], s - 1);
        EXPECT_EQ(counts[Role::reduce], s * s - 2 * (s - 1) - 1);
      }
    }
  }
}

TEST(Schedule, CountsRolesOnOtherGridsByTheirRowsAndColumns) {
  for (const GridShape grid : {GridShape{1, 4}, {4, 1}, {2, 3}, {3, 2}, {7, 16}}) {
    for (Index pass = 0; pass < 2 * Index{grid.rows} * grid.columns; ++pass) {
      auto counts = count_roles(grid, pass);
      EXPECT_EQ(counts[Role::pivot], 1);
      EXPECT_EQ(counts[Role::normalize], grid.columns - 1);
      EXPECT_EQ(counts[Role::eliminate], grid.rows - 1);
      EXPECT_EQ(counts[Role::reduce], (grid.rows - 1) * (grid.columns - 1));
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
  for (const Pivoting pivoting : {Pivoting::local, Pivoting::partial, Pivoting::tournament}) {
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

// White paper, section 3.1: the last block is computed by the last node in an extra pass
TEST_P(EveryPass, TheLastBlockIsAPassOfItsOwnInWhichOnlyItsOwnerHasAPanel) {
  const GridShape grid = distribution.shape;
  const Index last = distribution.passes() - 1;
  const Index first_row = last * distribution.nb;
  ASSERT_LT(first_row, distribution.n);
  ASSERT_GE(first_row + distribution.nb, distribution.n);
  const GridPosition pivot = pivot_position(grid, last);
  EXPECT_EQ(pivot.row, distribution.rows.owner(GlobalIndex(distribution.n - 1)));
  EXPECT_EQ(pivot.column, distribution.columns.owner(GlobalIndex(distribution.n - 1)));
  for (int p = 0; p < grid.rows; ++p) {
    for (int q = 0; q < grid.columns; ++q) {
      const PassPlan plan = plan_pass(distribution, last, {p, q});
      EXPECT_EQ(plan.width, distribution.n - first_row);
      EXPECT_EQ(plan.in_pivot_column ? plan.panel_rows : 0, plan.role == Role::pivot ? plan.width : 0);
      EXPECT_EQ(plan.trailing_rows, 0);
      // the right-hand side is all that is left to normalize
      const bool has_b = q == distribution.columns.owner(distribution.right_hand_side());
      EXPECT_EQ(plan.trailing_columns, has_b ? 1 : 0);
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

TEST(PassPicture, DrawsTheWhitePapersFigure) {
  EXPECT_EQ("\n" + picture_of_pass(Distribution(512, 64, {2, 2}), Pivoting::local, 2), R"(
Who waits for whom. Time runs downwards; a role waits where its column has colons.

pivot                    normalize                eliminate                reduce
(0,0)                    (0,1)                    (1,0)                    (1,1)

P, L11, U11, L21         : waits for P, L11, L21  : waits for U11          : waits for L21, U12
-- U11 ------------------:----------------------->:                        :
                         :                        L21 = A21 U11^-1         :
-- P, L11, L21 --------->:                        -- L21 ----------------->:
rows exchanged by P      rows exchanged by P      : waits for U12          :
U12 = L11^-1 A12         U12 = L11^-1 A12         :                        :
-- U12 ------------------------------------------>:                        :
                         -- U12 ------------------------------------------>:
A22 = A22 - L21 U12      A22 = A22 - L21 U12      A22 = A22 - L21 U12      A22 = A22 - L21 U12
)");
}

TEST(PassPicture, DrawsPartialPivotingWithItsCandidatesAndRows) {
  EXPECT_EQ("\n" + picture_of_pass(Distribution(512, 64, {2, 3}), Pivoting::partial, 3), R"(
Who waits for whom. Time runs downwards; a role waits where its column has colons.

pivot                    2 normalize              eliminate                2 reduce
(1,0)                    process row 1            (0,0)                    all others

a candidate row          : waits for P, L11, L21  a candidate row          : waits for P, L21, U12
<- for each of 64 columns ----------------------->|                        :
P, L11, U11, L21         :                        P, L21                   :
-- P, L11, L21 to 2 ---->:                        -- P, L21 to 2 --------->:
<- rows, by P ----------------------------------->|                        :
                         <- rows, by P ----------------------------------->:
U12 = L11^-1 A12         U12 = L11^-1 A12         : waits for U12          :
-- U12 ------------------------------------------>:                        :
                         -- U12, each to 1 ------------------------------->:
A22 = A22 - L21 U12      A22 = A22 - L21 U12      A22 = A22 - L21 U12      A22 = A22 - L21 U12
)");
}

TEST(PassPicture, DrawsTournamentPivotingWithItsTrees) {
  EXPECT_EQ("\n" + picture_of_pass(Distribution(512, 128, {2, 3}), Pivoting::tournament, 1), R"(
Who waits for whom. Time runs downwards; a role waits where its column has colons.

pivot                    2 normalize              eliminate                2 reduce
(1,1)                    process row 1            (0,1)                    all others

candidate rows           : waits for P, L11, L21  candidate rows           : waits for P, L21, U12
<- a tree, for each of 2 blocks ----------------->|                        :
P, L11, U11, L21         :                        P, L21                   :
-- P, L11, L21 to 2 ---->:                        -- P, L21 to 2 --------->:
<- rows, by P ----------------------------------->|                        :
                         <- rows, by P ----------------------------------->:
U12 = L11^-1 A12         U12 = L11^-1 A12         : waits for U12          :
-- U12 ------------------------------------------>:                        :
                         -- U12, each to 1 ------------------------------->:
A22 = A22 - L21 U12      A22 = A22 - L21 U12      A22 = A22 - L21 U12      A22 = A22 - L21 U12
)");
}

TEST(PassPicture, DrawsRowsThatBringU) {
  const RowSwap swap{RowSwapKind::binary_exchange, 64, 1};
  EXPECT_EQ("\n" + picture_of_pass(Distribution(512, 64, {3, 3}), Pivoting::partial, 3, swap), R"(
Who waits for whom. Time runs downwards; a role waits where its column has colons.

pivot                    2 normalize              2 eliminate              4 reduce
(0,0)                    process row 0            process column 0         all others

a candidate row          : waits for P, L11, L21  a candidate row          : waits for P, L11, L21
<- for each of 64 columns ----------------------->|                        :
P, L11, U11, L21         :                        P, L21                   :
-- P, L11, L21 to 2 ---->:                        -- P, L, each to 2 ----->:
<- rows, by P, and U ---------------------------->|
                         <- rows, by P, and U ---------------------------->|
U12 = L11^-1 A12         U12 = L11^-1 A12         U12 = L11^-1 A12         U12 = L11^-1 A12
A22 = A22 - L21 U12      A22 = A22 - L21 U12      A22 = A22 - L21 U12      A22 = A22 - L21 U12
)");
}

TEST(Schedule, ExplainsRowSwaps) {
  const Distribution distribution(512, 64, {3, 1});
  const auto text_with = [&](RowSwapKind kind, Index pieces) {
    return explain_pass(distribution, Pivoting::partial, 4, {kind, 64, pieces});
  };
  // the pivot's process row is 1; 193 columns are left
  const auto expect_lines = [](const std::string& text, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << "\n" << text;
  };
  expect_lines(text_with(RowSwapKind::binary_exchange, 1),
               {"(0,0) -> (1,0)  rows of U and those they displace, at most: 12352",
                "(1,0) -> (2,0)  rows of U and those they displace, at most: 12352",
                "(2,0) -> (1,0)  rows of U and those they displace, at most: 12352",
                "(1,0) -> (0,0)  rows of U and those they displace, at most: 12352"});
  expect_lines(text_with(RowSwapKind::spread_roll, 2),
               {"(1,0) -> (0,0)  displaced rows down a tree, at most: 12352 in 2 messages",
                "(1,0) -> (2,0)  displaced rows down a tree, at most: 12352 in 2 messages",
                "(2,0) -> (0,0) (1,0)  pieces of U made equal, at most: 4246 in 2 messages",
                // pieces of 21, 21 and 22 rows
                "(1,0) -> (2,0)  pieces of U round the process column: 8299 in 4 messages",
                "(2,0) -> (0,0)  pieces of U round the process column: 8106 in 4 messages"});
  EXPECT_EQ(text_with(RowSwapKind::direct, 1), explain_pass(distribution, Pivoting::partial, 4));
  // the last of three pieces has 65 columns, which is above the threshold
  EXPECT_EQ(text_with(RowSwapKind::mix, 1).find("displace, at most"), std::string::npos);
  EXPECT_NE(explain_pass(distribution, Pivoting::partial, 7, {RowSwapKind::mix, 64, 1}).find("displace, at most"),
            std::string::npos);
}

// Rows that bring U: nobody is sent U12, and all process rows are sent L11, also those without rows.
TEST_P(EveryPass, WhereRowsBringUAllComputeU12) {
  for (const RowSwapKind kind : {RowSwapKind::binary_exchange, RowSwapKind::spread_roll, RowSwapKind::mix}) {
    const RowSwap swap{kind, 8, 2};
    const bool all_compute = distribution.shape.rows > 1;
    EXPECT_EQ(all_compute_u12(swap, Pivoting::partial, distribution.shape), all_compute);
    EXPECT_FALSE(all_compute_u12(swap, Pivoting::local, distribution.shape));
    for (Index k = 0; k < distribution.passes() && all_compute; ++k) {
      std::map<std::pair<int, int>, int> panels;
      std::map<std::pair<int, int>, Index> rows;
      for (const Message& message : messages_of_pass(distribution, Pivoting::partial, k, swap)) {
        EXPECT_GT(message.elements, 0);
        EXPECT_NE(message.kind, Message::Kind::u12_column);
        EXPECT_NE(message.kind, Message::Kind::row_exchange);
        for (const GridPosition& to : message.to) {
          EXPECT_FALSE(to == message.from);
          if (message.kind == Message::Kind::panel_row) ++panels[{to.row, to.column}];
          if (message.kind == Message::Kind::u_exchange || message.kind == Message::Kind::roll) {
            EXPECT_EQ(to.column, message.from.column);
            rows[{to.row, to.column}] += message.elements;
          }
        }
      }
      const Index width = distribution.pass_width(k);
      for (int p = 0; p < distribution.shape.rows; ++p) {
        for (int q = 0; q < distribution.shape.columns; ++q) {
          const PassPlan plan = plan_pass(distribution, k, {p, q});
          EXPECT_EQ((panels[{p, q}]), plan.in_pivot_column ? 0 : 1);
          // all of U but what a rank may have had, at least
          const Index piece = (width + distribution.shape.rows - 1) / distribution.shape.rows;
          EXPECT_GE((rows[{p, q}]), (width - piece) * plan.trailing_columns);
        }
      }
    }
  }
}

TEST(ColumnPieces, AreWholeBlocksAndHaveAllColumns) {
  for (const Index columns : {0, 1, 7, 8, 9, 40, 41, 100}) {
    for (const Index pieces : {1, 2, 3, 1000}) {
      Index next = 0, count = 0;
      for (ColumnRange piece = first_piece(columns, 8, pieces); piece.count > 0; piece = piece_after(piece, columns)) {
        EXPECT_EQ(piece.first, next);
        EXPECT_TRUE(piece.count % 8 == 0 || piece.end() == columns);
        next = piece.end();
        ++count;
      }
      EXPECT_EQ(next, columns);
      EXPECT_LE(count, pieces);
      EXPECT_GE(first_piece(columns, 8, pieces).count, std::min<Index>(8, columns)) << "the next panel is in it";
    }
  }
}

TEST(Schedule, ExplainsWhoSendsCandidatesToWhom) {
  const std::string text = explain_pass(Distribution(2048, 128, {5, 1}), Pivoting::tournament, 1);
  for (const auto* line : {"(2,0) -> (1,0)  candidate rows up the tournament's tree: 16384 in 2 messages",
                           "(4,0) -> (3,0)  candidate rows up the tournament's tree: 16384 in 2 messages",
                           "(3,0) -> (1,0)  candidate rows up the tournament's tree: 16384 in 2 messages",
                           "(0,0) -> (1,0)  candidate rows up the tournament's tree: 16384 in 2 messages",
                           "winners and the rows they displace: 32768 in 2 messages"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST(PassPicture, CountsTheRanksOfLargeGrids) {
  EXPECT_EQ("\n" + picture_of_pass(Distribution(5120, 64, {16, 16}), Pivoting::local, 18), R"(
Who waits for whom. Time runs downwards; a role waits where its column has colons.

pivot                    15 normalize             15 eliminate             225 reduce
(2,2)                    process row 2            process column 2         all others

P, L11, U11, L21         : waits for P, L11, L21  : waits for U11          : waits for L21, U12
-- U11 to 15 ------------:----------------------->:                        :
                         :                        L21 = A21 U11^-1         :
-- P, L11, L21 to 15 --->:                        -- L21, each to 15 ----->:
rows exchanged by P      rows exchanged by P      : waits for U12          :
U12 = L11^-1 A12         U12 = L11^-1 A12         :                        :
-- U12 to 15 ------------------------------------>:                        :
                         -- U12, each to 15 ------------------------------>:
A22 = A22 - L21 U12      A22 = A22 - L21 U12      A22 = A22 - L21 U12      A22 = A22 - L21 U12
)");
}

TEST(PassPicture, LeavesOutRolesThatAGridDoesNotHave) {
  EXPECT_EQ("\n" + picture_of_pass(Distribution(100, 10, {1, 4}), Pivoting::partial, 3), R"(
Who waits for whom. Time runs downwards; a role waits where its column has colons.

pivot                    3 normalize
(0,3)                    process row 0

P, L11, U11, L21         : waits for P, L11, L21
-- P, L11, L21 to 3 ---->:
rows exchanged by P      rows exchanged by P
U12 = L11^-1 A12         U12 = L11^-1 A12
A22 = A22 - L21 U12      A22 = A22 - L21 U12
)");
  // the last pass: nothing is left to reduce, and only b to normalize
  EXPECT_EQ("\n" + picture_of_pass(Distribution(64, 16, {2, 2}), Pivoting::local, 3), R"(
Who waits for whom. Time runs downwards; a role waits where its column has colons.

pivot                    normalize                eliminate                reduce
(1,1)                    (1,0)                    (0,1)                    (0,0)

P, L11, U11, L21         : waits for P, L11, L21  : waits for U11          : waits for U12
-- U11 ------------------:----------------------->:                        :
-- P, L11, L21 --------->:                                                 :
                         rows exchanged by P                               :
                         U12 = L11^-1 A12                                  :
                         -- U12 ------------------------------------------>:
)");
}

TEST(PassPicture, FitsIn100ColumnsForEveryPassAndGrid) {
  for (const GridShape grid : {GridShape{1, 1}, {1, 5}, {5, 1}, {2, 3}, {16, 16}, {100, 120}}) {
    const Distribution distribution(12800, 100, grid);
    for (const Pivoting pivoting : {Pivoting::local, Pivoting::partial, Pivoting::tournament}) {
      for (const Index pass : {0, 1, 77, 127}) {
        std::istringstream text(picture_of_pass(distribution, pivoting, pass));
        for (std::string line; std::getline(text, line);) {
          EXPECT_LE(line.size(), 100U) << line;
          EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
        }
      }
    }
  }
}

}  // namespace
}  // namespace glinpack
