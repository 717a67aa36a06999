#include "mpi/node_broadcast.hpp"

#include <gtest/gtest.h>

#include <set>

namespace glinpack {
namespace {

using Nodes = std::vector<int>;

// For every rank, the first rank of its node: ranks fill nodes in blocks, round-robin, unevenly, or one per node.
const Nodes splits[] = {{0},          {0, 0},          {0, 1},          {0, 0, 0, 0},       {0, 0, 2, 2},
                        {0, 1, 0, 1}, {0, 1, 1, 3, 3}, {0, 1, 2, 3, 4}, {0, 1, 1, 0, 4, 1}, {0, 1, 1, 1, 1, 1}};

TEST(NodePlaces, EveryNodeHasOneLeaderAndTheRootLeadsItsNode) {
  for (const Nodes& nodes : splits) {
    const auto size = static_cast<int>(nodes.size());
    for (int root = 0; root < size; ++root) {
      const std::vector<int> leaders = node_places(nodes, root, 0).leaders;
      EXPECT_EQ(leaders.front(), root);
      std::multiset<int> led;
      for (const int leader : leaders) led.insert(nodes[static_cast<std::size_t>(leader)]);
      const std::set<int> all(nodes.begin(), nodes.end());
      EXPECT_EQ(led, std::multiset<int>(all.begin(), all.end()));
      for (int rank = 0; rank < size; ++rank) {
        const NodePlaces places = node_places(nodes, root, rank);
        EXPECT_EQ(places.leaders, leaders) << "ranks disagree";
        EXPECT_EQ(places.leads, std::find(leaders.begin(), leaders.end(), rank) != leaders.end());
      }
    }
  }
}

TEST(NodePlaces, LeadersAreTheFirstRanksOfTheirNodesInRingOrderFromTheRoot) {
  EXPECT_EQ(node_places(Nodes{0, 0, 2, 2}, 0, 0).leaders, (std::vector<int>{0, 2}));
  EXPECT_EQ(node_places(Nodes{0, 0, 2, 2}, 1, 0).leaders, (std::vector<int>{1, 2}));
  EXPECT_EQ(node_places(Nodes{0, 0, 2, 2}, 3, 0).leaders, (std::vector<int>{3, 0}));
  EXPECT_EQ(node_places(Nodes{0, 1, 0, 1}, 2, 0).leaders, (std::vector<int>{2, 3}));
  EXPECT_EQ(node_places(Nodes{0, 1, 2}, 1, 0).leaders, (std::vector<int>{1, 2, 0}));
}

TEST(NodePlaces, ANodeIsSharedIfItHasMoreThanOneRank) {
  EXPECT_FALSE(any_node_shared(Nodes{}));
  EXPECT_FALSE(any_node_shared(Nodes{0}));
  EXPECT_FALSE(any_node_shared(Nodes{0, 1, 2}));
  EXPECT_TRUE(any_node_shared(Nodes{0, 1, 1}));
  EXPECT_TRUE(any_node_shared(Nodes{0, 0}));
}

}  // namespace
}  // namespace glinpack
