#include "lu/recording.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "lu/no_transport.hpp"
#include "lu/panel/panel.hpp"

namespace glinpack {
namespace {

RunParameters parameters_of(Index n, Index nb, Pivoting pivoting, const RowSwap& swap = {}) {
  return {.n = n, .nb = nb, .pivoting = pivoting, .row_swap = swap};
}

std::map<Role, int> count_roles(GridShape grid, Index pass) {
  std::map<Role, int> counts;
  for (int p = 0; p < grid.rows; ++p) {
    for (int q = 0; q < grid.columns; ++q) ++counts[role_in_pass(grid, pass, {p, q})];
  }
  return counts;
}

// White paper, section 3.1: on an s x s grid one pivot, s-1 normalize, s-1 eliminate, s^2 - 2(s-1) - 1 reduce
TEST(Schedule, CountsRolesByRowsAndColumnsInEveryPass) {
  std::vector<GridShape> grids{{1, 4}, {4, 1}, {2, 3}, {3, 2}, {7, 16}};
  for (int s = 1; s <= 40; ++s) grids.push_back({s, s});
  for (const GridShape grid : grids) {
    const Index positions = std::lcm(grid.rows, grid.columns);  // of the pivot
    for (Index pass = 0; pass < positions; ++pass) {
      for (const Index turn : {0, 1, 1000}) {  // also late passes of a large matrix
        auto counts = count_roles(grid, pass + turn * positions);
        EXPECT_EQ(counts[Role::pivot], 1);
        EXPECT_EQ(counts[Role::normalize], grid.columns - 1);
        EXPECT_EQ(counts[Role::eliminate], grid.rows - 1);
        EXPECT_EQ(counts[Role::reduce], (grid.rows - 1) * (grid.columns - 1));
      }
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

}  // namespace
}  // namespace glinpack
