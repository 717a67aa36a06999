// Broadcasts through node-shared memory. All ranks of a test run on one machine, so the tests assign ranks to nodes.
#include <sys/resource.h>

#include <array>
#include <memory>
#include <numeric>

#include "matrix/matrix_source.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/scatter_matrix.hpp"
#include "mpi/session.hpp"
#include "run/run.hpp"
#include "run/workspace.hpp"
#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using namespace test;

// The node of each rank, as returned by nodes_of(): ranks assigned to nodes in blocks or round-robin.
std::vector<int> blocks_of(int per_node, int size) {
  std::vector<int> nodes;
  for (int rank = 0; rank < size; ++rank) nodes.push_back(rank / per_node * per_node);
  return nodes;
}
std::vector<int> round_robin(int count, int size) {
  std::vector<int> nodes;
  for (int rank = 0; rank < size; ++rank) nodes.push_back(rank % count);
  return nodes;
}

// One node; nodes of two and of three ranks in blocks; two nodes round-robin; no shared memory.
std::vector<std::vector<int>> splits_of(int size) {
  return {blocks_of(size, size), blocks_of(2, size), blocks_of(3, size), round_robin(2, size), {}};
}

// Null without nodes: messages alone.
std::unique_ptr<NodeWindow> window_of(const std::vector<int>& nodes, std::size_t largest, ThreadTeam& team) {
  if (nodes.empty()) return nullptr;
  auto window = std::make_unique<NodeWindow>(MPI_COMM_WORLD, nodes, world_rank(), largest, team);
  EXPECT_TRUE(all_agree(world(), window->error().empty())) << window->error();
  return window;
}

TEST(Nodes, RanksOfOneMachineShareANode) {
  EXPECT_EQ(nodes_of(MPI_COMM_WORLD), blocks_of(world_size(), world_size()));
  EXPECT_EQ(nodes_of(MPI_COMM_SELF), std::vector<int>{0});
}

TEST(NodeBroadcasts, DeliverTheDataOfEveryRootToEveryRankInConsecutiveMessages) {
  constexpr Index largest = 140'000;  // over a megabyte: threads copy it together
  for (const std::vector<int>& nodes : splits_of(world_size())) {
    for (const int threads : {1, 3}) {
      ThreadTeam team(threads);
      const auto window = window_of(nodes, largest * sizeof(double), team);
      for (const BroadcastKind kind : all_broadcasts) {
        for (int root = 0; root < world_size(); ++root) {
          for (const Index count : {Index{0}, Index{1}, Index{2}, Index{5}, Index{1000}, largest}) {
            std::vector<double> data(static_cast<std::size_t>(count), -1);
            std::vector<double> expected(data);
            std::iota(expected.begin(), expected.end(), root);
            if (world_rank() == root) data = expected;
            Broadcast(MPI_COMM_WORLD, kind, root, {data.data(), count, MPI_DOUBLE, 9}, window.get()).wait();
            ASSERT_EQ(data, expected) << name_of(kind) << ", root " << root << ", " << count << " elements";
          }
        }
      }
    }
  }
}

TEST(NodeBroadcasts, TwoPendingBroadcastsDoNotMix) {
  const int last = world_size() - 1;
  for (const std::vector<int>& nodes : splits_of(world_size())) {
    ThreadTeam team(1);
    const auto window = window_of(nodes, 4096, team);
    for (const BroadcastKind kind : all_broadcasts) {
      for (int turn = 0; turn < 5; ++turn) {
        const auto value = static_cast<float>(turn);
        std::vector<float> first(500, world_rank() == 0 ? value + 1 : 0);
        std::vector<float> second(700, world_rank() == last ? value + 2 : 0);
        Broadcast a(MPI_COMM_WORLD, kind, 0, {first.data(), 500, MPI_FLOAT, 10}, window.get());
        Broadcast b(MPI_COMM_WORLD, kind, last, {second.data(), 700, MPI_FLOAT, 11}, window.get());
        wait_until([&] {
          const bool a_done = a.test();
          return b.test() && a_done;
        });
        EXPECT_TRUE(a.arrived());
        EXPECT_TRUE(b.arrived());
        EXPECT_EQ(first, std::vector<float>(500, value + 1)) << name_of(kind);
        EXPECT_EQ(second, std::vector<float>(700, value + 2)) << name_of(kind);
      }
    }
  }
}

TEST(NodeWindows, ASlotIsFreeAfterAllRanksOfTheNodeHaveReadIt) {
  if (world_size() == 1) return;
  ThreadTeam team(1);
  NodeWindow window(MPI_COMM_WORLD, blocks_of(world_size(), world_size()), world_rank(), sizeof(int), team);
  ASSERT_TRUE(all_agree(world(), window.error().empty())) << window.error();
  std::array<std::uint64_t, 3> messages{};
  for (std::uint64_t& message : messages) message = window.next_message();
  EXPECT_TRUE(window.is_free(messages[0]));
  EXPECT_TRUE(window.is_free(messages[1]));
  EXPECT_FALSE(window.is_free(messages[2]));
  EXPECT_FALSE(window.has_begun(messages[0]));
  world().barrier();
  const int sent = 17;
  if (world_rank() == 0) window.copy_in(messages[0], &sent, sizeof sent);
  world().barrier();
  EXPECT_TRUE(window.has_begun(messages[0]));
  EXPECT_FALSE(window.has_begun(messages[2])) << "reports message 0, which used the same slot";
  EXPECT_FALSE(window.is_free(messages[2]));
  world().barrier();
  if (world_rank() != 0) {
    int received = 0;
    window.copy_out(messages[0], &received, sizeof received);
    EXPECT_EQ(received, sent);
  }
  world().barrier();
  EXPECT_TRUE(window.is_free(messages[2]));
}

RunParameters parameters_of(Index n, Index nb, Pivoting pivoting, int lookahead) {
  return {.n = n, .nb = nb, .pivoting = pivoting, .lookahead = lookahead};
}

template <class Real>
void expect_same_factors_on_all_nodes(const std::string& backend, const ProcessGrid& grid,
                                      const RunParameters& parameters) {
  const auto source = make_hpl_source(parameters.n);
  const auto expected = factorize_and_gather<Real>(parameters, grid, backend, *source);
  for (const int per_node : {1, 2, 3, 6}) {
    SCOPED_TRACE(testing::Message() << backend << ", " << grid.shape().rows << "x" << grid.shape().columns
                                    << ", N = " << parameters.n << ", look-ahead " << parameters.lookahead << ", "
                                    << name_of(parameters.pivoting) << " pivoting, " << per_node << " ranks a node, "
                                    << name_of(parameters.row_swap.kind) << ", pieces " << parameters.row_swap.pieces);
    NodeWindows windows(grid, blocks_of(per_node, grid.shape().columns), blocks_of(per_node, grid.shape().rows),
                        broadcast_sizes<Real>(parameters, grid.shape(), grid.position()), 2);
    EXPECT_EQ(windows.row() != nullptr, per_node > 1 && grid.shape().columns > 1);
    EXPECT_EQ(windows.column() != nullptr, per_node > 1 && grid.shape().rows > 1);
    EXPECT_EQ(windows.row_rings() != nullptr,
              per_node > 1 && grid.shape().rows > 1 && parameters.pivoting != Pivoting::local);
    const auto factors = factorize_and_gather<Real>(parameters, grid, backend, *source, &windows);
    expect_equal(factors, expected);
  }
}

TEST(NodeBroadcasts, GiveBitwiseEqualFactorsForEveryNodeSize) {
  on_every_grid([](const ProcessGrid& grid) {
    for (const Pivoting pivoting : {Pivoting::partial, Pivoting::local, Pivoting::tournament}) {
      for (const int lookahead : {0, 1}) {
        expect_same_factors_on_all_nodes<double>("reference", grid, parameters_of(33, 4, pivoting, lookahead));
        expect_same_factors_on_all_nodes<float>("openblas", grid, parameters_of(66, 17, pivoting, lookahead));
      }
      expect_same_factors_on_all_nodes<float>("gl-compute", grid, parameters_of(33, 8, pivoting, 1));
      expect_same_factors_on_all_nodes<float>("gl-raster", grid, parameters_of(29, 5, pivoting, 0));
    }
  });
}

TEST(NodeRings, GiveBitwiseEqualFactorsForEveryRowSwap) {
  on_every_grid([](const ProcessGrid& grid) {
    if (grid.shape().rows == 1) return;
    for (const Pivoting pivoting : {Pivoting::partial, Pivoting::tournament}) {
      for (const RowSwapKind kind : {RowSwapKind::direct, RowSwapKind::binary_exchange, RowSwapKind::spread_roll}) {
        RunParameters parameters = parameters_of(66, 17, pivoting, 1);
        parameters.row_swap = {kind, 0, 3};
        expect_same_factors_on_all_nodes<float>("openblas", grid, parameters);
        parameters = parameters_of(40, 8, pivoting, 1);
        parameters.row_swap = {kind, 0, 2};
        expect_same_factors_on_all_nodes<float>("vk-compute", grid, parameters);
      }
    }
  });
}

TEST(NodeBroadcasts, ASingularMatrixEndsTheRunWithMessagesPending) {
  on_every_grid([](const ProcessGrid& grid) {
    const RunParameters parameters = parameters_of(24, 4, Pivoting::partial, 1);
    std::vector<double> dense(24 * 24);
    for (std::size_t i = 0; i < 24; ++i) dense[i * 24 + i] = i == 13 ? 0 : 4;
    const auto source =
        scatter_matrix(grid, distribution_of(parameters, grid.shape()), grid.is_root() ? &dense : nullptr);
    NodeWindows windows(grid, blocks_of(2, grid.shape().columns), blocks_of(2, grid.shape().rows),
                        broadcast_sizes<double>(parameters, grid.shape(), grid.position()), 1);
    EXPECT_EQ(factorize_and_gather<double>(parameters, grid, "openblas", *source, &windows).zero_pivot, 13);
  });
}

// Limits the size of files, and so of shared memory, during its lifetime.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(NodeWindows, AFailedAllocationIsThrownOnAllRanksAndTheRunFallsBackToMessages) {
  if (world_size() == 1) return;
  const ProcessGrid grid(MPI_COMM_WORLD, {1, world_size()}, RankOrder::row_major);
  const RunParameters parameters = parameters_of(65, 8, Pivoting::partial, 1);
  // rank 0 creates the shared memory
  std::unique_ptr<FileSizeLimit> limit;
  if (world_rank() == 0) limit = std::make_unique<FileSizeLimit>(4096);
  const auto allocate = [&] {
    NodeWindows windows(grid, nodes_of(grid.row()), nodes_of(grid.column()),
                        broadcast_sizes<double>(parameters, grid.shape(), grid.position()), 1);
  };
  EXPECT_THAT(allocate, testing::ThrowsMessage<AgreedError>(
                            testing::HasSubstr("rank 0: allocating memory for the processes of a node")));
  EXPECT_EQ(node_windows_of<double>(parameters, grid, 1), nullptr);
  auto& [timeline, backend] = test::cached_backend<double>("openblas");
  const RunResult result = run(parameters, grid, *backend, *make_hpl_source(parameters.n));
  EXPECT_TRUE(result.passed) << result.failure;
}

TEST(NodeWindows, AreNotCreatedIfDisabledOrForIbcast) {
  const ProcessGrid grid(MPI_COMM_WORLD, {1, world_size()}, RankOrder::row_major);
  RunParameters parameters = parameters_of(65, 8, Pivoting::partial, 1);
  const auto windows = [&] { return node_windows_of<double>(parameters, grid, 1); };
  EXPECT_EQ(windows() != nullptr, world_size() > 1);
  parameters.broadcast = BroadcastKind::ibcast;
  EXPECT_EQ(windows(), nullptr);
  parameters.broadcast = BroadcastKind::ring;
  parameters.parts = RunParts::compute;
  EXPECT_EQ(windows(), nullptr);
  parameters.parts = RunParts::all;
  parameters.node_memory = false;
  EXPECT_EQ(windows(), nullptr);
}

}  // namespace
}  // namespace glinpack
