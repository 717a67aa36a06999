// Which ranks of a communicator share a node, and who does what in a broadcast that goes from node to node by messages
// and through shared memory inside them.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

namespace glinpack {

/// For every rank of the communicator the first rank of its node. Collective. Ranks are on the same node where MPI says
/// that they can share memory and their hosts have the same name: namespaces of one machine with names of their own are
/// nodes of their own.
std::vector<int> nodes_of(MPI_Comm communicator);

/// Whether two ranks share a node.
bool any_node_shared(std::span<const int> nodes);

/// One rank's part in a broadcast. Pure.
struct NodePlaces {
  /// Ranks that messages go between, in the order in which a ring passes them: the root, and of every other node the
  /// rank that comes first after it.
  std::vector<int> leaders;
  int leader = 0;      // the one of this rank's node
  bool leads = false;  // this rank is it; else it gets the data from there
};
NodePlaces node_places(std::span<const int> nodes, int root, int rank);

}  // namespace glinpack
