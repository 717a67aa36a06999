#include "transport/node_route.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "mpi/shared_memory.hpp"

namespace glinpack {
namespace {

using Nodes = std::vector<int>;

// For every rank, the first rank of its node: ranks fill nodes in blocks, round-robin, unevenly, or one per node.
const Nodes splits[] = {{0},          {0, 0},          {0, 1},          {0, 0, 0, 0},       {0, 0, 2, 2},
                        {0, 1, 0, 1}, {0, 1, 1, 3, 3}, {0, 1, 2, 3, 4}, {0, 1, 1, 0, 4, 1}, {0, 1, 1, 1, 1, 1}};

NodeRoute ring(const Nodes& nodes, int root, int rank) {
  const NodeLine line{.size = static_cast<int>(nodes.size()), .rank = rank, .nodes = nodes, .shared_bytes = 8};
  return node_route(BroadcastKind::ring, line, {.root = root, .count = 1, .element_bytes = 8});
}

// The ranks that the message of a ring passes.
std::vector<int> ranks_of_ring(const Nodes& nodes, int root) {
  std::vector<int> ranks{root};
  for (;;) {
    const std::vector<BroadcastStep> steps = ring(nodes, root, ranks.back()).steps;
    if (steps.empty() || steps.back().receive) return ranks;
    ranks.push_back(steps.back().peer);
  }
}

TEST(NodeRoute, OneRankOfEveryNodeHasMessagesAndTheOthersCopyFromIt) {
  for (const Nodes& nodes : splits) {
    const auto size = static_cast<int>(nodes.size());
    for (int root = 0; root < size; ++root) {
      std::multiset<int> led;
      for (const int leader : ranks_of_ring(nodes, root)) led.insert(nodes[static_cast<std::size_t>(leader)]);
      const std::set<int> all(nodes.begin(), nodes.end());
      EXPECT_EQ(led, std::multiset<int>(all.begin(), all.end()));
      for (int rank = 0; rank < size; ++rank) {
        const NodeRoute route = ring(nodes, root, rank);
        for (const int reader : route.copied_by) EXPECT_EQ(ring(nodes, root, reader).copies_from, rank);
        if (route.copies_from < 0) continue;
        EXPECT_NE(rank, root);
        EXPECT_TRUE(route.steps.empty() && route.copied_by.empty());
        const std::vector<int> readers = ring(nodes, root, route.copies_from).copied_by;
        EXPECT_EQ(std::count(readers.begin(), readers.end(), rank), 1);
        EXPECT_EQ(nodes[static_cast<std::size_t>(rank)], nodes[static_cast<std::size_t>(route.copies_from)]);
      }
    }
  }
}

TEST(NodeRoute, MessagesPassTheFirstRanksOfNodesInRingOrderFromTheRoot) {
  EXPECT_EQ(ranks_of_ring({0, 0, 2, 2}, 0), (std::vector<int>{0, 2}));
  EXPECT_EQ(ranks_of_ring({0, 0, 2, 2}, 1), (std::vector<int>{1, 2}));
  EXPECT_EQ(ranks_of_ring({0, 0, 2, 2}, 3), (std::vector<int>{3, 0}));
  EXPECT_EQ(ranks_of_ring({0, 1, 0, 1}, 2), (std::vector<int>{2, 3}));
  EXPECT_EQ(ranks_of_ring({0, 1, 2}, 1), (std::vector<int>{1, 2, 0}));
}

TEST(NodeRoute, MessagesAboveTheCapacityAndCollectivesUseNoSharedMemory) {
  const Nodes nodes{0, 0, 0};
  const NodeLine line{.size = 3, .rank = 1, .nodes = nodes, .shared_bytes = 15};
  EXPECT_EQ(node_route(BroadcastKind::ring, line, {.root = 0, .count = 1, .element_bytes = 8}).copies_from, 0);
  const NodeRoute large = node_route(BroadcastKind::ring, line, {.root = 0, .count = 2, .element_bytes = 8});
  EXPECT_FALSE(large.copies_in_node());
  EXPECT_EQ(large.steps.size(), 2U);
  const NodeRoute collective = node_route(BroadcastKind::ibcast, line, {.root = 0, .count = 1, .element_bytes = 8});
  EXPECT_TRUE(collective.is_collective);
  EXPECT_FALSE(collective.copies_in_node());
}

TEST(NodeRoute, ANodeIsSharedIfItHasMoreThanOneRank) {
  EXPECT_FALSE(any_node_shared(Nodes{}));
  EXPECT_FALSE(any_node_shared(Nodes{0}));
  EXPECT_FALSE(any_node_shared(Nodes{0, 1, 2}));
  EXPECT_TRUE(any_node_shared(Nodes{0, 1, 1}));
  EXPECT_TRUE(any_node_shared(Nodes{0, 0}));
}

}  // namespace
}  // namespace glinpack
