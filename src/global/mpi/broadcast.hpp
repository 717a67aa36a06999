// Broadcasts along process rows and columns, chosen by name as HPL's BCAST values are.
#pragma once

#include <mpi.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/matrix_view.hpp"
#include "mpi/node_route.hpp"

namespace glinpack {

struct Pending;

enum class BroadcastKind {
  ring,                // HPL 0, 1rg: increasing ring
  ring_modified,       // HPL 1, 1rM: the root's neighbour receives first and does not forward
  two_rings,           // HPL 2, 2rg
  two_rings_modified,  // HPL 3, 2rM
  long_,               // HPL 4, Lng: scatter, then roll
  long_modified,       // HPL 5, LnM
  ibcast,              // MPI_Ibcast
  ring_pipelined,      // the ring, with the message in pieces; HPL has none
};

inline constexpr std::array all_broadcasts{
    BroadcastKind::ring,  BroadcastKind::ring_modified, BroadcastKind::two_rings, BroadcastKind::two_rings_modified,
    BroadcastKind::long_, BroadcastKind::long_modified, BroadcastKind::ibcast,    BroadcastKind::ring_pipelined};

/// An MPI collective: it needs all ranks of a communicator, and MPI chooses its messages.
constexpr bool is_mpi_collective(BroadcastKind kind) { return kind == BroadcastKind::ibcast; }

/// How the ranks of one node pass broadcast data to each other.
enum class NodeTransport {
  shared,  // through shared memory; by messages if it is unavailable
  mpi,     // by messages, as between nodes
};
inline constexpr std::array all_node_transports{NodeTransport::shared, NodeTransport::mpi};
std::string_view name_of(NodeTransport transport);  // "shared", "mpi"

/// "ring", "ring-modified", "two-rings", "two-rings-modified", "long", "long-modified", "ibcast", "ring-pipelined".
std::string_view name_of(BroadcastKind kind);
/// By name, by HPL's name (1rg 1rM 2rg 2rM Lng LnM) or digit (0 ... 5).
std::optional<BroadcastKind> broadcast_from_name(std::string_view name);
/// HPL's digit; those that HPL does not have are 6, ibcast, and 7, ring_pipelined.
int hpl_digit(BroadcastKind kind);

/// A pending broadcast. Non-blocking: the constructor starts it, test() makes progress, wait() ends it. The buffer must
/// outlive it, and must not change on the root until it is done.
class Broadcast {
 public:
  /// Collective over `communicator`: the same kind, root and count on all ranks. Simultaneous broadcasts on one
  /// communicator need different tags.
  Broadcast(MPI_Comm communicator, BroadcastKind kind, int root, void* data, Index count, MPI_Datatype type, int tag);
  /// The messages of a route. Collective over the ranks whose routes have some.
  Broadcast(MPI_Comm communicator, NodeRoute route, void* data, MPI_Datatype type, int tag);
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;

  /// Makes progress on the broadcast. True once this process has received and forwarded its data.
  bool test();
  void wait();
  /// Whether this process has its data: it may read them, but others may still need them from here.
  bool arrived() const { return received_ == to_receive_; }
  void wait_until_arrived();
  /// The operation that blocks this process now.
  Pending pending() const;

 private:
  // True if a step has ended.
  bool advance();
  bool done() const { return next_step_ == steps_.size() && pending_ == 0; }
  void start_ready_steps();
  MPI_Request start(const BroadcastStep& step) const;
  void count_receives();

  MPI_Comm communicator_;
  bool is_collective_;  // an MPI collective, as one step
  char* data_;
  MPI_Datatype type_;
  int type_bytes_;
  int tag_;
  std::vector<BroadcastStep> steps_;   // peers are ranks of the communicator
  std::size_t next_step_ = 0;          // to start
  std::vector<MPI_Request> requests_;  // of the started steps
  std::vector<int> ended_;             // steps, as MPI lists them
  std::size_t pending_ = 0;            // started and not ended
  std::size_t counted_ = 0;            // steps before the first receive that has not ended
  Index received_ = 0;                 // receives among them
  Index to_receive_ = 0;
};

}  // namespace glinpack
