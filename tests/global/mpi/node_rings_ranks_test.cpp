// Messages through rings in shared memory. All ranks of a test run on one machine, so the tests assign ranks to nodes.

#include <numeric>

#include "mpi/communication.hpp"
#include "mpi/node_rings.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

using test::world_rank;
using test::world_size;

std::vector<int> nodes_of_size(int per_node) {
  std::vector<int> nodes;
  for (int rank = 0; rank < world_size(); ++rank) nodes.push_back(rank / per_node * per_node);
  return nodes;
}

std::vector<char> message_between(int from, int to, std::size_t bytes) {
  std::vector<char> message(bytes);
  std::iota(message.begin(), message.end(), static_cast<char>(7 * from + to));
  return message;
}

// A message to and from every rank within reach, sent in two parts and received in three.
void exchange_with_all(NodeRings& rings, std::size_t bytes) {
  std::vector<std::vector<char>> sent, received;
  std::vector<RingMessage> messages;
  std::vector<int> peers;
  for (int peer = 0; peer < world_size(); ++peer) {
    if (!rings.reach(peer)) continue;
    peers.push_back(peer);
    const auto split = [](std::vector<char>& data, std::size_t parts) {
      std::vector<std::span<char>> spans;
      for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t begin = data.size() * part / parts;
        spans.push_back(std::span(data).subspan(begin, data.size() * (part + 1) / parts - begin));
      }
      return spans;
    };
    messages.push_back({peer, false, split(sent.emplace_back(message_between(world_rank(), peer, bytes)), 2)});
    messages.push_back({peer, true, split(received.emplace_back(bytes), 3)});
  }
  RingExchange exchange(rings, messages);
  wait_until([&] { return exchange.advance(); });
  for (std::size_t i = 0; i < peers.size(); ++i) {
    EXPECT_TRUE(received[i] == message_between(peers[i], world_rank(), bytes)) << bytes << " bytes from " << peers[i];
  }
}

TEST(NodeRings, DeliverConsecutiveMessagesOfAnyLength) {
  for (const int per_node : {1, 2, 3, world_size()}) {
    for (const int threads : {1, 3}) {
      ThreadTeam team(threads);
      NodeRings rings(MPI_COMM_WORLD, nodes_of_size(per_node), world_rank(), std::size_t{1} << 18, team);
      ASSERT_TRUE(all_agree(world(), rings.error().empty())) << rings.error();
      const std::size_t ring = rings.ring_bytes();
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, ring - 1, ring, 3 * ring + 5, 9 * ring}) {
        exchange_with_all(rings, bytes);
        exchange_with_all(rings, bytes);
      }
    }
  }
}

TEST(NodeRings, ReachTheOtherRanksOfTheNode) {
  ThreadTeam team(1);
  NodeRings rings(MPI_COMM_WORLD, nodes_of_size(2), world_rank(), 1, team);
  ASSERT_TRUE(all_agree(world(), rings.error().empty())) << rings.error();
  for (int rank = 0; rank < world_size(); ++rank) {
    EXPECT_EQ(rings.reach(rank), rank != world_rank() && rank / 2 == world_rank() / 2);
  }
}

TEST(NodeRings, AMessageMayBeSentBeforeItsReceiverStarts) {
  if (world_size() == 1) return;
  ThreadTeam team(1);
  NodeRings rings(MPI_COMM_WORLD, nodes_of_size(world_size()), world_rank(), 1, team);
  ASSERT_TRUE(all_agree(world(), rings.error().empty())) << rings.error();
  std::vector<char> data = message_between(0, 1, 100);
  const auto send = [&] { return RingExchange(rings, {{1, false, {data}}}).advance(); };
  if (world_rank() == 0) {
    EXPECT_TRUE(send());
  }
  world().barrier();
  if (world_rank() == 1) {
    std::vector<char> received(100);
    RingExchange exchange(rings, {{0, true, {received}}});
    EXPECT_TRUE(exchange.advance());
    EXPECT_EQ(received, data);
  }
  world().barrier();
}

}  // namespace
}  // namespace glinpack
