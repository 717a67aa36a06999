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
  int first_rank = 0;  // of those that MPI can give memory in common
  char host[HOST_NAME_MAX + 1] = {};
  friend bool operator==(const NodeName& a, const NodeName& b) {
    return a.first_rank == b.first_rank && std::strcmp(a.host, b.host) == 0;
  }
};

int first_rank_with_memory_in_common(MPI_Comm communicator, int rank) {
  MPI_Comm sharing = MPI_COMM_NULL;
  GLINPACK_MPI(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &sharing));
  int first = rank;
  all_reduce(sharing, &first, 1, MPI_INT, MPI_MIN);
  GLINPACK_MPI(MPI_Comm_free(&sharing));
  return first;
}

}  // namespace

std::vector<int> nodes_of(MPI_Comm communicator) {
  int rank = 0;
  int size = 1;
  GLINPACK_MPI(MPI_Comm_rank(communicator, &rank));
  GLINPACK_MPI(MPI_Comm_size(communicator, &size));
  NodeName mine;
  mine.first_rank = first_rank_with_memory_in_common(communicator, rank);
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
    places.leads |= candidate == rank;
  }
  return places;
}

}  // namespace glinpack
