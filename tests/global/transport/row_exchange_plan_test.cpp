#include "transport/row_exchange_plan.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <deque>
#include <map>
#include <numeric>
#include <random>

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

std::vector<Index> interchanged_sequentially(Index first, const std::vector<GlobalIndex>& pivots, Index n) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  for (std::size_t j = 0; j < pivots.size(); ++j) {
    std::swap(rows[static_cast<std::size_t>(first) + j], rows[static_cast<std::size_t>(pivots[j].value)]);
  }
  return rows;
}

TEST(RowMoves, EqualTheSequentialInterchanges) {
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
    EXPECT_EQ(rows, interchanged_sequentially(first, pivots, n)) << "seed " << seed;
  }
}

TEST(RowMoves, AreEmptyIfEveryPivotIsItsOwnRow) {
  const std::vector<GlobalIndex> pivots{GlobalIndex(4), GlobalIndex(5), GlobalIndex(6)};
  EXPECT_TRUE(net_row_moves(GlobalIndex(4), pivots).empty());
}

// A simulated process column: its matrix with one number per row, and the ranks' buffers.
struct SimulatedColumn {
  BlockCyclic rows;
  std::vector<Index> matrix;                // global row -> content
  std::vector<std::vector<Index>> buffers;  // by rank; -1: nothing received
  std::vector<std::vector<Index>> u;        // by rank: row of U -> content

  SimulatedColumn(const BlockCyclic& distribution, Index width)
      : rows(distribution),
        matrix(static_cast<std::size_t>(rows.extent())),
        buffers(static_cast<std::size_t>(rows.processes()),
                std::vector<Index>(static_cast<std::size_t>(2 * width), -1)),
        u(static_cast<std::size_t>(rows.processes()), std::vector<Index>(static_cast<std::size_t>(width), -1)) {
    std::iota(matrix.begin(), matrix.end(), 0);
  }
  Index& at(int rank, Index local) {
    return matrix[static_cast<std::size_t>(rows.global(LocalIndex(local), rank).value)];
  }
  Index& buffer(int rank, Index row) {
    return buffers.at(static_cast<std::size_t>(rank)).at(static_cast<std::size_t>(row));
  }

  std::vector<Index> sent(int rank, const RowTransfer& transfer) {
    std::vector<Index> contents;
    for (const RowRange& range : transfer.ranges) {
      EXPECT_GT(range.count, 0);
      for (Index i = 0; i < range.count; ++i) contents.push_back(buffer(rank, range.first + i));
    }
    return contents;
  }

  void run(const std::vector<RowExchangePlan>& plans) {
    const int ranks = rows.processes();
    for (int rank = 0; rank < ranks; ++rank) start(rank, plans[static_cast<std::size_t>(rank)]);
    exchange(plans);
    for (int rank = 0; rank < ranks; ++rank) finish(rank, plans[static_cast<std::size_t>(rank)]);
  }

 private:
  void start(int rank, const RowExchangePlan& plan) {
    Index next = plan.gather_first;
    for (const Index row : plan.rows_to_gather) buffer(rank, next++) = at(rank, row);
    std::vector<Index> moved;
    for (const RowMove& move : plan.local_moves) moved.push_back(at(rank, move.from));
    for (std::size_t i = 0; i < moved.size(); ++i) at(rank, plan.local_moves[i].to) = moved[i];
  }

  // Every rank starts a round as soon as it has completed the one before. Messages of a pair of ranks arrive in the
  // order in which they were sent. No rank may deadlock.
  void exchange(const std::vector<RowExchangePlan>& plans) {
    std::map<std::pair<int, int>, std::deque<std::vector<Index>>> in_flight;
    std::vector<std::size_t> round(plans.size(), 0);
    std::vector<std::size_t> received(plans.size(), 0);
    for (bool moves = true; moves;) {
      moves = false;
      for (int rank = 0; rank < rows.processes(); ++rank) {
        const auto here = static_cast<std::size_t>(rank);
        if (round[here] == plans[here].rounds.size()) continue;
        const TransferRound& now = plans[here].rounds[round[here]];
        for (; received[here] <= now.size(); ++received[here], moves = true) {
          if (received[here] == 0) {  // sends first
            for (const RowTransfer& transfer : now) {
              if (!transfer.receives) in_flight[{rank, transfer.process}].push_back(sent(rank, transfer));
            }
            continue;
          }
          const RowTransfer& transfer = now[received[here] - 1];
          if (!transfer.receives) continue;
          auto& queue = in_flight[{transfer.process, rank}];
          if (queue.empty()) break;
          ASSERT_EQ(static_cast<Index>(queue.front().size()), transfer.rows());
          std::size_t next = 0;
          for (const RowRange& range : transfer.ranges) {
            for (Index i = 0; i < range.count; ++i) buffer(rank, range.first + i) = queue.front()[next++];
          }
          queue.pop_front();
        }
        if (received[here] <= now.size()) continue;
        received[here] = 0;
        ++round[here];
      }
    }
    for (std::size_t rank = 0; rank < plans.size(); ++rank) EXPECT_EQ(round[rank], plans[rank].rounds.size());
    for (const auto& [ranks, queue] : in_flight) EXPECT_TRUE(queue.empty()) << ranks.first << " to " << ranks.second;
  }

  void finish(int rank, const RowExchangePlan& plan) {
    Index next = plan.scatter_first;
    for (const Index row : plan.rows_to_scatter) at(rank, row) = buffer(rank, next++);
    next = plan.u_first;
    for (const Index row : plan.u_rows)
      u[static_cast<std::size_t>(rank)][static_cast<std::size_t>(row)] = buffer(rank, next++);
  }
};

struct Case {
  Index n, nb;
  int ranks;
  Index pass;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (int ranks = 1; ranks <= 9; ++ranks) {
    for (const auto& [n, nb] : {std::pair<Index, Index>{1, 1}, {5, 8}, {23, 2}, {60, 4}, {61, 16}}) {
      for (Index pass = 0; pass * nb < n; ++pass) all.push_back({n, nb, ranks, pass});
    }
  }
  all.push_back({400, 32, 33, 3});
  return all;
}

template <class Plan>
void expect_rows_interchanged(const Case& one, unsigned seed, Plan plan_of, bool with_u) {
  SCOPED_TRACE(testing::Message() << "n = " << one.n << ", nb = " << one.nb << ", " << one.ranks << " ranks, pass "
                                  << one.pass << ", seed " << seed);
  const BlockCyclic rows(one.n, one.nb, one.ranks);
  const Index first = one.pass * one.nb;
  const Index width = rows.width(BlockIndex(one.pass));
  const auto pivots = random_pivots(first, width, one.n, seed);
  const auto moves = net_row_moves(GlobalIndex(first), pivots);
  std::vector<RowExchangePlan> plans;
  for (int rank = 0; rank < one.ranks; ++rank) plans.push_back(plan_of(rows, rank, GlobalIndex(first), width, moves));
  SimulatedColumn column(rows, width);
  column.run(plans);
  auto expected = interchanged_sequentially(first, pivots, one.n);
  if (!with_u) {
    EXPECT_EQ(column.matrix, expected);
    return;
  }
  const std::vector<Index> u(expected.begin() + first, expected.begin() + first + width);
  for (int rank = 0; rank < one.ranks; ++rank)
    EXPECT_EQ(column.u[static_cast<std::size_t>(rank)], u) << "rank " << rank;
  // the rows of U are in `u`, not in the matrix
  std::copy(u.begin(), u.end(), column.matrix.begin() + first);
  EXPECT_EQ(column.matrix, expected);
}

TEST(RowExchange, DirectExchangeMovesEveryRowToItsPosition) {
  for (const Case& one : cases()) {
    for (unsigned seed = 0; seed < 3; ++seed) {
      expect_rows_interchanged(
          one, seed,
          [](const BlockCyclic& rows, int rank, GlobalIndex, Index, const auto& moves) {
            return plan_row_exchange(rows, rank, moves);
          },
          false);
    }
  }
}

TEST(RowExchange, BinaryExchangeAndSpreadRollGiveUToAllRanks) {
  for (const Case& one : cases()) {
    if (one.ranks == 1) continue;
    for (const RowSwapKind kind : {RowSwapKind::binary_exchange, RowSwapKind::spread_roll}) {
      SCOPED_TRACE(name_of(kind));
      for (unsigned seed = 0; seed < 3; ++seed) {
        expect_rows_interchanged(
            one, seed,
            [kind](const BlockCyclic& rows, int rank, GlobalIndex first, Index width, const auto& moves) {
              return plan_u_exchange(kind, rows, rank, first, width, moves);
            },
            true);
      }
    }
  }
}

// HPL's counts: log2 P exchanges with bidirectional messages, and two more messages if P is no power of two.
// Spread-roll: a tree and P - 1 turns, in which every rank receives U except its own piece.
TEST(RowExchange, SendsAsManyMessagesAsHpl) {
  const Index width = 64;
  for (const int ranks : {2, 3, 4, 5, 8, 13, 16}) {
    SCOPED_TRACE(ranks);
    const BlockCyclic rows(width * 100, width, ranks);
    const GlobalIndex first(width * 3);
    const auto moves = net_row_moves(first, random_pivots(first.value, width, rows.extent(), 1));
    const auto steps = static_cast<Index>(std::bit_width(static_cast<unsigned>(ranks)) - 1);
    const bool is_power = std::has_single_bit(static_cast<unsigned>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      const auto binary = plan_u_exchange(RowSwapKind::binary_exchange, rows, rank, first, width, moves);
      EXPECT_LE(binary.messages_received(), steps + (is_power ? 0 : 1));
      EXPECT_LE(static_cast<Index>(binary.rounds.size()), steps + (is_power ? 0 : 2));
      const auto roll = plan_u_exchange(RowSwapKind::spread_roll, rows, rank, first, width, moves);
      const Index piece = (width + ranks - 1) / ranks;
      EXPECT_GE(roll.rows_received(), width - piece);
      EXPECT_LE(static_cast<Index>(roll.rounds.size()), 1 + steps + (is_power ? 0 : 1) + ranks - 1);
      EXPECT_LE(roll.messages_received(), 2 * (ranks - 1) + 1) << "at most one from each rank to balance the pieces";
    }
  }
}

TEST(RowSwaps, HaveNamesAndHplDigits) {
  for (const RowSwapKind kind : all_row_swaps) EXPECT_EQ(row_swap_from_name(name_of(kind)), kind);
  EXPECT_EQ(row_swap_from_name("0"), RowSwapKind::binary_exchange);
  EXPECT_EQ(row_swap_from_name("1"), RowSwapKind::spread_roll);
  EXPECT_EQ(row_swap_from_name("2"), RowSwapKind::mix);
  EXPECT_EQ(row_swap_from_name("3"), std::nullopt);
  EXPECT_EQ(row_swap_from_name(""), std::nullopt);
}

TEST(RowSwaps, MixDependsOnTheNumberOfColumns) {
  const RowSwap mix{RowSwapKind::mix, 64, 1};
  EXPECT_EQ(kind_for(mix, 64), RowSwapKind::binary_exchange);
  EXPECT_EQ(kind_for(mix, 65), RowSwapKind::spread_roll);
  EXPECT_EQ(kind_for({RowSwapKind::direct, 64, 1}, 1), RowSwapKind::direct);
}

}  // namespace
}  // namespace glinpack
