#include "global/nodes.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <string>

#include "global/communication.hpp"

namespace glinpack {

namespace {

// As it travels.
struct NodeName {
  int first_rank = 0;  // first_rank_of_node()
  char host[HOST_NAME_MAX + 1] = {};
  friend bool operator==(const NodeName& a, const NodeName& b) {
    return a.first_rank == b.first_rank && std::strcmp(a.host, b.host) == 0;
  }
};

}  // namespace

std::vector<int> nodes_of(MPI_Comm communicator) {
  NodeName mine;
  mine.first_rank = first_rank_of_node();
  const std::string host = host_name();
  std::copy_n(host.begin(), std::min(host.size(), sizeof mine.host - 1), mine.host);
  const std::vector<NodeName> names = all_gather(communicator, mine);
  std::vector<int> nodes;
  for (const NodeName& name : names) {
    nodes.push_back(static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin()));
  }
  return nodes;
}

bool any_node_shared(std::span<const int> nodes) {
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (nodes[rank] != static_cast<int>(rank)) return true;
  }
  return false;
}

NodePlaces node_places(std::span<const int> nodes, int root, int rank) {
  NodePlaces places;
  std::vector<bool> has_leader(nodes.size());
  const auto size = static_cast<int>(nodes.size());
  for (int place = 0; place < size; ++place) {
    const int candidate = (root + place) % size;
    const auto node = static_cast<std::size_t>(nodes[static_cast<std::size_t>(candidate)]);
    if (has_leader[node]) continue;
    has_leader[node] = true;
    places.leaders.push_back(candidate);
    if (nodes[static_cast<std::size_t>(candidate)] == nodes[static_cast<std::size_t>(rank)]) places.leader = candidate;
    places.leads |= candidate == rank;
  }
  return places;
}

}  // namespace glinpack
