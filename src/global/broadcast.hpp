// Broadcasts along process rows and columns, chosen by name as HPL's BCAST values are.
#pragma once

#include <mpi.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "global/pending.hpp"
#include "global/pipelined_ring.hpp"
#include "local/matrix_view.hpp"

namespace glinpack {

enum class BroadcastKind {
  ring,                // HPL 0, 1rg: increasing ring
  ring_modified,       // HPL 1, 1rM: the root's neighbour receives first and does not forward
  two_rings,           // HPL 2, 2rg
  two_rings_modified,  // HPL 3, 2rM
  long_,               // HPL 4, Lng: scatter, then roll
  long_modified,       // HPL 5, LnM
  ibcast,              // MPI_Ibcast: what the MPI library chooses
  ring_pipelined,      // the ring, with the message in pieces; HPL has none
};

inline constexpr std::array all_broadcasts{
    BroadcastKind::ring,  BroadcastKind::ring_modified, BroadcastKind::two_rings, BroadcastKind::two_rings_modified,
    BroadcastKind::long_, BroadcastKind::long_modified, BroadcastKind::ibcast,    BroadcastKind::ring_pipelined};

/// How the ranks of one node hand each other what is broadcast.
enum class NodeTransport {
  shared,  // through memory that they share; by messages where it cannot be had
  mpi,     // by messages, as between nodes
};
std::string_view name_of(NodeTransport transport);  // "shared", "mpi"

/// "ring", "ring-modified", "two-rings", "two-rings-modified", "long", "long-modified", "ibcast", "ring-pipelined".
std::string_view name_of(BroadcastKind kind);
/// By name, by HPL's name (1rg 1rM 2rg 2rM Lng LnM) or digit (0 ... 5).
std::optional<BroadcastKind> broadcast_from_name(std::string_view name);
/// HPL's digit; those that HPL does not have are 6, ibcast, and 7, ring_pipelined.
int hpl_digit(BroadcastKind kind);

/// Whom a process receives the whole message from and sends it on to, in the broadcasts that forward it whole. Places
/// count from the root, which is 0. Pure, so that every kind is tested for every size without MPI.
struct ForwardingPlace {
  int parent = -1;  // -1 for the root
  std::vector<int> children;
};
/// For ring, ring_modified, two_rings and two_rings_modified; ring_pipelined has the places of ring.
ForwardingPlace forwarding_place(BroadcastKind kind, int size, int place);

/// All ranks of a communicator in the order in which a ring passes them: `root`, root + 1, ...
std::vector<int> ring_order(MPI_Comm communicator, int root);

/// One broadcast under way. Non-blocking: started by the constructor, driven by test(), ended by wait(). The buffer
/// must live, and on the root must not change, until it is done.
class Broadcast {
 public:
  /// Collective over `communicator`: the same kind, root and count everywhere. Broadcasts that are under way at the
  /// same time on one communicator need different tags.
  Broadcast(MPI_Comm communicator, BroadcastKind kind, int root, void* data, Index count, MPI_Datatype type, int tag);
  /// Among some ranks of the communicator alone, in the order in which a ring passes them: the root first, this rank
  /// one of them. Collective over them, of any kind but ibcast.
  Broadcast(MPI_Comm communicator, BroadcastKind kind, std::vector<int> members, void* data, Index count,
            MPI_Datatype type, int tag);
  Broadcast(const Broadcast&) = delete;
  Broadcast& operator=(const Broadcast&) = delete;

  /// Drives the broadcast on; true once this process has its data and has sent on what others need.
  bool test();
  void wait();
  /// Whether this process has its data: it may read them, but others may still need them from here.
  bool arrived() const { return pipelined_ ? pipelined_->arrived() : to_receive_ == 0; }
  void wait_until_arrived();
  /// What this process would wait for now.
  Pending pending() const;

 private:
  struct Step {
    int peer = 0;     // rank in the communicator
    Index first = 0;  // elements [first, first + count)
    Index count = 0;
    bool receive = false;
    bool after_earlier = false;  // starts when all steps before it are done
  };

  void plan_forwarding(BroadcastKind kind);
  void plan_long(bool modified);
  void start_ready_steps();
  void take_done();
  std::size_t receives_not_started() const;
  int rank_at(int place) const { return members_[static_cast<std::size_t>(place)]; }

  MPI_Comm communicator_;
  std::vector<int> members_;  // ranks, by place
  char* data_;
  Index count_;
  MPI_Datatype type_;
  int tag_;
  int size_ = 1;
  int place_ = 0;
  std::optional<PipelinedRing> pipelined_;  // in place of the steps below
  std::vector<Step> steps_;
  std::size_t next_step_ = 0;
  std::size_t to_receive_ = 0;  // steps, not done
  std::vector<MPI_Request> under_way_;
};

}  // namespace glinpack
