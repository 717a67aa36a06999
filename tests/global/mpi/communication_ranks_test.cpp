#include <memory>
#include <numeric>
#include <stdexcept>

#include "matrix/matrix_source.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/communication.hpp"
#include "mpi/process_grid.hpp"
#include "mpi/scatter_matrix.hpp"
#include "tests/global/world.hpp"
#include "transport/row_exchange.hpp"

namespace glinpack {
namespace {

using test::world_rank;
using test::world_size;

// As in process columns without look-ahead: a rank waits for its next message before it completes its sends.
TEST(Broadcasts, WaitingForTheNextMessageDoesNotBlockForwarding) {
  constexpr Index count = 200'003;
  for (const std::string name : {"1rg", "1rM", "2rg", "2rM", "Lng", "LnM", "ibcast", "ring-pipelined"}) {
    const BroadcastKind kind = *broadcast_from_name(name);
    const int messages = 2 * world_size();
    std::vector<std::vector<double>> data(static_cast<std::size_t>(messages));
    std::vector<std::unique_ptr<Broadcast>> pending;
    for (int i = 0; i < messages; ++i) {
      const int root = i % world_size();
      auto& mine = data[static_cast<std::size_t>(i)];
      mine.assign(count, world_rank() == root ? i + 1 : 0);
      pending.push_back(
          std::make_unique<Broadcast>(MPI_COMM_WORLD, kind, root, MpiMessage{mine.data(), count, MPI_DOUBLE, 20 + i}));
      pending.back()->wait_until_arrived();
    }
    for (const auto& broadcast : pending) broadcast->wait();
    for (int i = 0; i < messages; ++i) {
      EXPECT_EQ(data[static_cast<std::size_t>(i)], std::vector<double>(count, i + 1)) << name;
    }
  }
}

TEST(ProcessGrids, RowAndColumnCommunicatorsAreRankedByPosition) {
  const GridShape shape = squarest_grid(world_size());
  for (const RankOrder order : {RankOrder::row_major, RankOrder::column_major}) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape, order);
    ASSERT_TRUE(grid.active());
    int in_row = -1;
    int in_column = -1;
    MPI_Comm_rank(grid.row(), &in_row);
    MPI_Comm_rank(grid.column(), &in_column);
    EXPECT_EQ(in_row, grid.position().column);
    EXPECT_EQ(in_column, grid.position().row);
    const int expected = order == RankOrder::row_major ? grid.position().row * shape.columns + grid.position().column
                                                       : grid.position().column * shape.rows + grid.position().row;
    EXPECT_EQ(world_rank(), expected);
  }
}

TEST(ProcessGrids, OfOneNodeAreTheNodeGrid) {
  const GridShape shape = squarest_grid(world_size());
  const ProcessGrid grid(MPI_COMM_WORLD, shape, RankOrder::column_major, shape);
  ASSERT_TRUE(grid.active());
  EXPECT_EQ(world_rank(), grid.position().column * shape.rows + grid.position().row);
  EXPECT_THROW(ProcessGrid(MPI_COMM_WORLD, {1, 1}, RankOrder::row_major, GridShape{1, world_size() + 1}),
               std::invalid_argument);
}

TEST(ProcessGrids, LeaveSurplusRanksInactiveAndRejectTooFew) {
  const ProcessGrid one(MPI_COMM_WORLD, {1, 1}, RankOrder::row_major);
  EXPECT_EQ(one.active(), world_rank() == 0);
  EXPECT_THROW(ProcessGrid(MPI_COMM_WORLD, {world_size() + 1, 1}, RankOrder::row_major), std::invalid_argument);
}

TEST(Agreement, AnErrorOfOneRankIsThrownOnAllRanksWithItsNumber) {
  EXPECT_NO_THROW(agree_or_throw(world(), ""));
  const int failing = world_size() - 1;
  EXPECT_THAT([&] { agree_or_throw(world(), world_rank() == failing ? "out of luck" : ""); },
              testing::ThrowsMessage<std::runtime_error>(
                  testing::HasSubstr("rank " + std::to_string(failing) + ": out of luck")));
}

TEST(GatherBytes, KeepsRankOrderAndLengths) {
  const auto all = world().gather(0, std::string(static_cast<std::size_t>(world_rank()), 'x'));
  if (world_rank() != 0) {
    EXPECT_TRUE(all.empty());
    return;
  }
  ASSERT_EQ(all.size(), static_cast<std::size_t>(world_size()));
  for (std::size_t rank = 0; rank < all.size(); ++rank) EXPECT_EQ(all[rank].size(), rank);
}

TEST(ScatteredMatrix, HasThePartOfEveryRankAndRowSumsAsRightHandSide) {
  const Index n = 11;
  const ProcessGrid grid(MPI_COMM_WORLD, squarest_grid(world_size()), RankOrder::row_major);
  const Distribution distribution(n, 3, grid.shape());
  std::vector<double> dense(static_cast<std::size_t>(n * n));
  std::iota(dense.begin(), dense.end(), 1.0);
  const auto source = scatter_matrix(grid, distribution, grid.is_root() ? &dense : nullptr);
  const GridPosition at = grid.position();
  const Index rows = distribution.local_rows(at);
  const Index columns = distribution.local_columns(at);
  std::vector<double> part(static_cast<std::size_t>(rows * columns));
  source->fill(distribution, at, LocalIndex(0), {part.data(), rows, columns, columns});
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const Index row = distribution.rows.global(LocalIndex(i), at.row).value;
      const Index column = distribution.columns.global(LocalIndex(j), at.column).value;
      const double row_sum = static_cast<double>(n * (row * n + 1) + n * (n - 1) / 2);
      const double expected = column < n ? static_cast<double>(row * n + column + 1) : row_sum;
      EXPECT_EQ(part[static_cast<std::size_t>(i * columns + j)], expected);
    }
  }
}

}  // namespace
}  // namespace glinpack
