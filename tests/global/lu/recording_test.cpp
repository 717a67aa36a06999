#include "lu/recording.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "lu/no_transport.hpp"
#include "lu/panel/panel.hpp"

namespace glinpack {
namespace {

RunParameters parameters_of(Index n, Index nb, Pivoting pivoting, const RowSwap& swap = {}) {
  RunParameters parameters;
  parameters.n = n;
  parameters.nb = nb;
  parameters.pivoting = pivoting;
  parameters.row_swap = swap;
  return parameters;
}

std::string picture(const RunParameters& parameters, GridShape grid, Index pass) {
  return picture_of_pass(parameters, grid, pass, messages_in_pass(parameters, grid, pass, Precision::double_));
}

std::map<Role, int> count_roles(GridShape grid, Index pass) {
  std::map<Role, int> counts;
  for (int p = 0; p < grid.rows; ++p) {
    for (int q = 0; q < grid.columns; ++q) ++counts[role_in_pass(grid, pass, {p, q})];
  }
  return counts;
}

// White paper, section 3.1: one pivot, s-1 normalize, s-1 eliminate, s^2 - 2(s-1) - 1 reduce
TEST(Schedule, CountsRolesAsInTheWhitePaperOnSquareGridsInEveryPass) {
  for (int s = 1; s <= 40; ++s) {
    // all positions of the pivot, and late passes of a large matrix
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
  Distribution distribution =
      distribution_of(parameters_of(GetParam().n, GetParam().nb, Pivoting::partial), GetParam().grid);
};

TEST_P(EveryPass, PanelsAndTrailingMatricesOfAllRanksCoverTheMatrix) {
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
    EXPECT_EQ(trailing, (left - width) * (left - width + 1));  // including the column b
  }
}

TEST_P(EveryPass, EveryRankReceivesThePanelAndUExactlyOnce) {
  for (const Pivoting pivoting : all_pivotings) {
    for (Index k = 0; k < distribution.passes(); ++k) {
      std::map<std::pair<int, int>, int> panels;
      std::map<std::pair<int, int>, int> u_blocks;
      const RunParameters parameters = parameters_of(distribution.n, distribution.nb, pivoting);
      for (const Message& message : messages_in_pass(parameters, distribution.shape, k, Precision::single)) {
        EXPECT_GT(message.bytes, 0);
        for (const GridPosition& to : message.to) {
          EXPECT_FALSE(to == message.from);
          if (message.kind == MessageKind::panel) ++panels[{to.row, to.column}];
          if (message.kind == MessageKind::u12) ++u_blocks[{to.row, to.column}];
          if (pivoting == Pivoting::local) {
            EXPECT_NE(message.kind, MessageKind::rows);
          }
        }
      }
      for (int p = 0; p < distribution.shape.rows; ++p) {
        for (int q = 0; q < distribution.shape.columns; ++q) {
          const PassPlan plan = plan_pass(distribution, k, {p, q});
          const int panel_wanted = plan.in_pivot_column ? 0 : 1;  // a rank without panel rows receives the pivots
          const int u_wanted = !plan.in_pivot_row && plan.trailing_columns > 0 ? 1 : 0;
          EXPECT_EQ((panels[{p, q}]), panel_wanted);
          EXPECT_EQ((u_blocks[{p, q}]), u_wanted);
        }
      }
    }
  }
}

// White paper, section 3.1: the last block is computed by the last node in an extra pass
TEST_P(EveryPass, InTheLastPassOnlyTheOwnerHasAPanel) {
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
      // only the right-hand side remains to normalize
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

TEST(Schedule, ExplainsThePassOfTheWhitePaperFigure) {
  // figure 2: four nodes, third pass; the pivot is process 0 again
  const std::string text = explain_pass(parameters_of(512, 64, Pivoting::local), {2, 2}, 2);
  EXPECT_NE(text.find("(0,0)              pivot"), std::string::npos) << text;
  EXPECT_NE(text.find("(0,1)              normalize"), std::string::npos) << text;
  EXPECT_NE(text.find("(1,0)              eliminate"), std::string::npos) << text;
  EXPECT_NE(text.find("(1,1)              reduce"), std::string::npos) << text;
  EXPECT_NE(text.find("(0,0) -> (1,0)  U11 down the process column: 32776"), std::string::npos) << text;
  EXPECT_NE(text.find("(0,1) -> (1,1)  U12 down the process column"), std::string::npos) << text;
}

TEST(Schedule, ExplainsTheRowByRowAlgorithm) {
  const RunParameters parameters = parameters_of(512, 64, Pivoting::local);
  const std::string text = explain_pass(parameters, {2, 2}, 2, Precision::single, LuAlgorithm::row_by_row);
  EXPECT_NE(text.find("local pivoting, row by row"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(
P, L, U, A22             : waits for P, L11, L21  : waits for U11          : waits for L21, U12
-- U11 ------------------:----------------------->:                        :
                         :                        L21 = A21 U11^-1         :
-- P, L11, L21 --------->:                        -- L21 ----------------->:
                         rows by P, U12, A22      : waits for U12          :
-- U12 ------------------------------------------>:                        :
                         -- U12 ------------------------------------------>:
                                                  A22 = A22 - L21 U12      A22 = A22 - L21 U12
)"),
            std::string::npos)
      << text;
}

TEST(PassPicture, DrawsTheWhitePaperFigure) {
  EXPECT_EQ("\n" + picture(parameters_of(512, 64, Pivoting::local), {2, 2}, 2), R"(
Which ranks wait for which. Time runs downwards; a role waits where its column has colons.

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
  EXPECT_EQ("\n" + picture(parameters_of(512, 64, Pivoting::partial), {2, 3}, 3), R"(
Which ranks wait for which. Time runs downwards; a role waits where its column has colons.

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
  EXPECT_EQ("\n" + picture(parameters_of(512, 128, Pivoting::tournament), {2, 3}, 1), R"(
Which ranks wait for which. Time runs downwards; a role waits where its column has colons.

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

TEST(PassPicture, DrawsRowSwapsThatDeliverU) {
  const RowSwap swap{RowSwapKind::binary_exchange, 64, 1};
  EXPECT_EQ("\n" + picture(parameters_of(512, 64, Pivoting::partial, swap), {3, 3}, 3), R"(
Which ranks wait for which. Time runs downwards; a role waits where its column has colons.

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

// The rows of a message. Pass 4 of N = 512, nb = 64 has 193 columns left.
double rows_in(const Message& message) { return static_cast<double>(message.bytes) / (193 * sizeof(double)); }

TEST(Schedule, ListsRowSwapsByTheirKind) {
  // the pivot's process row is 1
  const auto messages_with = [](RowSwapKind kind, Index pieces) {
    std::map<std::pair<int, int>, Message> rows;
    for (const Message& message : messages_in_pass(parameters_of(512, 64, Pivoting::partial, {kind, 64, pieces}),
                                                   {3, 1}, 4, Precision::double_)) {
      if (message.kind == MessageKind::rows) rows[{message.from.row, message.to.front().row}] = message;
    }
    return rows;
  };
  // at most 64 rows each way between the pivot's process row and the others
  auto direct = messages_with(RowSwapKind::direct, 1);
  for (const auto& [ends, message] : direct) {
    EXPECT_TRUE(ends.first == 1 || ends.second == 1);
    EXPECT_LE(rows_in(message), 64);
  }
  // two of three process rows exchange; the third sends its rows before and receives all of U after
  auto binary = messages_with(RowSwapKind::binary_exchange, 1);
  const std::set<std::pair<int, int>> pairs{{0, 1}, {1, 0}, {1, 2}, {2, 1}};
  std::set<std::pair<int, int>> ends;
  for (const auto& entry : binary) ends.insert(entry.first);
  EXPECT_EQ(ends, pairs);
  const Message outcome = binary[std::pair(1, 0)];
  EXPECT_GE(rows_in(outcome), 64);
  // pieces of 21, 21 and 22 rows move around the ring: each process row sends two to the next one
  auto roll = messages_with(RowSwapKind::spread_roll, 2);
  const Message first_hop = roll[std::pair(1, 2)], second_hop = roll[std::pair(2, 0)];
  EXPECT_GE(rows_in(first_hop), 42);
  EXPECT_GE(rows_in(second_hop), 42);
  EXPECT_GE(first_hop.parts, 4);
  EXPECT_LE(rows_in(first_hop), 64 + 22 + 43);
  // the 193 columns are above the threshold of 64
  EXPECT_EQ(messages_with(RowSwapKind::mix, 1).size(), messages_with(RowSwapKind::spread_roll, 1).size());
  EXPECT_NE(explain_pass(parameters_of(512, 64, Pivoting::partial, {RowSwapKind::mix, 64, 1}), {3, 1}, 7)
                .find("rows exchanged by mix"),
            std::string::npos);
}

// If row swaps deliver U, no rank receives U12, and all process rows receive L11, including those without rows.
TEST_P(EveryPass, IfRowSwapsDeliverUAllRanksComputeU12) {
  for (const RowSwapKind kind : {RowSwapKind::binary_exchange, RowSwapKind::spread_roll, RowSwapKind::mix}) {
    const RowSwap swap{kind, 8, 2};
    const bool all_compute = distribution.shape.rows > 1;
    EXPECT_EQ(all_compute_u12(swap, Pivoting::partial, distribution.shape), all_compute);
    EXPECT_FALSE(all_compute_u12(swap, Pivoting::local, distribution.shape));
    for (Index k = 0; k < distribution.passes() && all_compute; ++k) {
      std::map<std::pair<int, int>, int> panels;
      std::map<std::pair<int, int>, Index> rows;
      const RunParameters parameters = parameters_of(distribution.n, distribution.nb, Pivoting::partial, swap);
      for (const Message& message : messages_in_pass(parameters, distribution.shape, k, Precision::single)) {
        EXPECT_GT(message.bytes, 0);
        EXPECT_NE(message.kind, MessageKind::u12);
        for (const GridPosition& to : message.to) {
          EXPECT_FALSE(to == message.from);
          if (message.kind == MessageKind::panel) ++panels[{to.row, to.column}];
          if (message.kind == MessageKind::rows) {
            EXPECT_EQ(to.column, message.from.column);
            rows[{to.row, to.column}] += message.bytes / Index{sizeof(float)};
          }
        }
      }
      const Index width = distribution.pass_width(k);
      for (int p = 0; p < distribution.shape.rows; ++p) {
        for (int q = 0; q < distribution.shape.columns; ++q) {
          const PassPlan plan = plan_pass(distribution, k, {p, q});
          EXPECT_EQ((panels[{p, q}]), plan.in_pivot_column ? 0 : 1);
          // all of U except the rank's own rows
          Index own = 0;
          const GlobalIndex first = distribution.rows.first(BlockIndex(k));
          const auto pivots = synthetic_pivots(distribution, Pivoting::partial, k);
          std::vector<int> owner(static_cast<std::size_t>(width), plan.pivot.row);
          for (const GlobalRowMove& move : net_row_moves(first, pivots)) {
            if (move.to - first < width)
              owner[static_cast<std::size_t>(move.to - first)] = distribution.rows.owner(move.from);
          }
          for (const int process_row : owner) own += process_row == p ? 1 : 0;
          EXPECT_GE((rows[{p, q}]), (width - own) * plan.trailing_columns);
        }
      }
    }
  }
}

TEST(ColumnPieces, AreWholeBlocksAndCoverAllColumns) {
  for (const Index columns : {0, 1, 7, 8, 9, 40, 41, 100}) {
    for (const Index pieces : {1, 2, 3, 1000}) {
      Index next = 0, count = 0;
      const std::vector<ColumnRange> ranges = pieces_of(columns, 8, pieces);
      for (const ColumnRange& piece : ranges) {
        EXPECT_EQ(piece.first, next);
        EXPECT_TRUE(piece.count % 8 == 0 || piece.end() == columns);
        next = piece.end();
        ++count;
      }
      EXPECT_EQ(next, columns);
      EXPECT_LE(count, pieces);
      EXPECT_GE(ranges.front().count, std::min<Index>(8, columns)) << "the first range contains the next panel";
    }
  }
}

// The other rank's 24 rows go to the pivot's rank. They return with pivots and L11.
TEST(Schedule, ListsTheRowsOfAPanelThatADeviceGathers) {
  const RunParameters parameters = parameters_of(64, 8, Pivoting::tournament);
  const auto panel_messages = [&](int row) {
    const ModelledDevice gpu{.has_memory = true, .is_asynchronous = true};
    std::vector<RowTransfer> transfers;
    for (const MessageRecord& record :
         record_operations(parameters, {{2, 1}, {row, 0}, true}, {2, 3}, Precision::single, gpu).messages) {
      EXPECT_TRUE(record.kind == MessageKind::rows || record.kind == MessageKind::u12) << "no tournament";
      if (record.row_bytes == sizeof(float)) transfers.push_back(record.rounds.front().front());
    }
    return transfers;
  };
  const std::vector<RowTransfer> pivot = panel_messages(0), other = panel_messages(1);
  ASSERT_EQ(pivot.size(), 2U);
  ASSERT_EQ(other.size(), 2U);
  EXPECT_TRUE(pivot[0].receives && other[1].receives);
  EXPECT_FALSE(pivot[1].receives || other[0].receives);
  EXPECT_EQ(pivot[0].rows(), 24 * 8);
  EXPECT_EQ(other[0].rows(), 24 * 8);
  EXPECT_EQ(pivot[1].rows(), 24 * 8 + panel_message_elements<float>(8, 8));
  EXPECT_EQ(other[1].rows(), pivot[1].rows());
}

TEST(Schedule, ExplainsTheCandidateMessages) {
  const std::string text = explain_pass(parameters_of(2048, 128, Pivoting::tournament), {5, 1}, 1);
  for (const auto* line : {"(2,0) -> (1,0)  candidate rows up the tournament's tree: 132096 in 2 messages",
                           "(4,0) -> (3,0)  candidate rows up the tournament's tree: 132096 in 2 messages",
                           "(3,0) -> (1,0)  candidate rows up the tournament's tree: 132096 in 2 messages",
                           "(0,0) -> (1,0)  candidate rows up the tournament's tree: 132096 in 2 messages",
                           "winners and the rows they displace: 263184 in 2 messages"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST(PassPicture, CountsTheRanksOfLargeGrids) {
  EXPECT_EQ("\n" + picture(parameters_of(5120, 64, Pivoting::local), {16, 16}, 18), R"(
Which ranks wait for which. Time runs downwards; a role waits where its column has colons.

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

TEST(PassPicture, OmitsRolesThatAGridDoesNotHave) {
  EXPECT_EQ("\n" + picture(parameters_of(100, 10, Pivoting::partial), {1, 4}, 3), R"(
Which ranks wait for which. Time runs downwards; a role waits where its column has colons.

pivot                    3 normalize
(0,3)                    process row 0

P, L11, U11, L21         : waits for P, L11, L21
-- P, L11, L21 to 3 ---->:
rows exchanged by P      rows exchanged by P
U12 = L11^-1 A12         U12 = L11^-1 A12
A22 = A22 - L21 U12      A22 = A22 - L21 U12
)");
  // the last pass reduces nothing and normalizes only b
  EXPECT_EQ("\n" + picture(parameters_of(64, 16, Pivoting::local), {2, 2}, 3), R"(
Which ranks wait for which. Time runs downwards; a role waits where its column has colons.

pivot                    normalize                eliminate                reduce
(1,1)                    (1,0)                    (0,1)                    (0,0)

P, L11, U11, L21         : waits for P, L11, L21  : waits for U11          : waits for L21, U12
-- U11 ------------------:----------------------->:                        :
-- P, L11, L21 --------->:                        -- L21 ----------------->:
                         rows exchanged by P                               :
                         U12 = L11^-1 A12                                  :
                         -- U12 ------------------------------------------>:
)");
}

constexpr std::array all_pass_roles{Role::pivot, Role::normalize, Role::eliminate, Role::reduce};

MessageKind kind_of_label(const std::string& label) {
  if (label.starts_with("U11")) return MessageKind::u11;
  if (label.starts_with("U12")) return MessageKind::u12;
  if (label.starts_with("for each")) return MessageKind::candidate;
  if (label.starts_with("a tree")) return MessageKind::winners;
  return label.starts_with("rows") ? MessageKind::rows : MessageKind::panel;
}

// The arrows that start at the lane of a role, from the top down.
std::vector<MessageKind> drawn_sends(const std::string& picture, std::size_t lane) {
  constexpr std::size_t lane_width = 25;
  std::vector<MessageKind> kinds;
  std::istringstream text(picture);
  for (std::string line; std::getline(text, line);) {
    const std::size_t start = lane * lane_width;
    if (line.size() < start + 4 || (line.compare(start, 2, "--") != 0 && line.compare(start, 2, "<-") != 0)) continue;
    if (start > 0 && line[start - 1] == '-') continue;  // an arrow of another role
    kinds.push_back(kind_of_label(line.substr(start + 3)));
  }
  return kinds;
}

// The messages that the driver starts on the rank, in its order; those of one kind once. An exchange between two roles
// counts for the first one.
std::vector<MessageKind> recorded_sends(const RunParameters& parameters, GridShape grid, GridPosition at, Index pass,
                                        LuAlgorithm algorithm) {
  const Role role = role_in_pass(grid, pass, at);
  std::vector<MessageKind> kinds;
  for (const MessageRecord& record :
       record_messages(parameters, {grid, at}, {pass, pass + 1}, Precision::double_, algorithm)) {
    const MessageKind kind = record.kind == MessageKind::tournament ? MessageKind::winners : record.kind;
    const bool is_exchange =
        kind == MessageKind::candidate || kind == MessageKind::winners || kind == MessageKind::rows;
    const bool is_first = role == Role::pivot || (role == Role::normalize && kind == MessageKind::rows);
    if (is_exchange ? !is_first : record.receives) continue;
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

void expect_messages_in_the_drivers_order(const RunParameters& parameters, GridShape grid, LuAlgorithm algorithm) {
  constexpr Index pass = 2;
  const std::string text = picture_of_pass(
      parameters, grid, pass, messages_in_pass(parameters, grid, pass, Precision::double_, algorithm), algorithm);
  SCOPED_TRACE(text);
  std::size_t lane = 0;
  for (const Role role : all_pass_roles) {
    std::optional<GridPosition> rank;
    for (int p = 0; p < grid.rows; ++p) {
      for (int q = 0; q < grid.columns; ++q) {
        if (!rank && role_in_pass(grid, pass, {p, q}) == role) rank = GridPosition{p, q};
      }
    }
    if (!rank) continue;
    EXPECT_EQ(drawn_sends(text, lane), recorded_sends(parameters, grid, *rank, pass, algorithm)) << name_of(role);
    ++lane;
  }
}

TEST(PassPicture, HasTheMessagesOfEveryRoleInTheDriversOrder) {
  for (const GridShape grid : {GridShape{1, 3}, {3, 1}, {2, 2}, {2, 3}, {3, 3}}) {
    for (const Pivoting pivoting : all_pivotings) {
      for (const RowSwapKind kind : all_row_swaps) {
        const RunParameters parameters = parameters_of(512, 64, pivoting, {kind, 64, 1});
        expect_messages_in_the_drivers_order(parameters, grid, LuAlgorithm::blocked);
        if (lu_algorithm(true, pivoting, grid) == LuAlgorithm::row_by_row) {
          expect_messages_in_the_drivers_order(parameters, grid, LuAlgorithm::row_by_row);
        }
      }
    }
  }
}

TEST(PassPicture, FitsIn100ColumnsForEveryPassAndGrid) {
  for (const GridShape grid : {GridShape{1, 1}, {1, 5}, {5, 1}, {2, 3}, {16, 16}, {100, 120}}) {
    for (const Pivoting pivoting : all_pivotings) {
      for (const Index pass : {0, 1, 77, 127}) {
        if (grid.size() > 1000 && pass != 77) continue;  // recording the messages of every rank takes long
        std::istringstream text(picture(parameters_of(12800, 100, pivoting), grid, pass));
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
