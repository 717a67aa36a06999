// What a rank waits for, noted for whoever watches it (local/progress_record.hpp).
#pragma once

#include <mpi.h>

#include <vector>

#include "local/progress_record.hpp"

namespace glinpack {

/// A message or a collective operation under way. Cheap: no call to MPI.
struct Pending {
  Awaited awaited = Awaited::unnamed;
  int peer = -1;  // the rank of MPI_COMM_WORLD where the communicator was introduced, else of the communicator

  static Pending from(MPI_Comm communicator, int rank);
  static Pending to(MPI_Comm communicator, int rank);
  /// A collective operation.
  static Pending with_all_of(MPI_Comm communicator);
};

/// Introduces a communicator, so that its ranks are told by their numbers in MPI_COMM_WORLD, and what it is. By the
/// main thread, as all of this.
void introduce_communicator(MPI_Comm communicator, Awaited what);
/// Before it is freed.
void forget_communicator(MPI_Comm communicator);

/// Notes it while this lives.
class PendingNote {
 public:
  explicit PendingNote(const Pending& pending) { own_progress().await(pending.awaited, pending.peer); }
  PendingNote(const PendingNote&) = delete;
  PendingNote& operator=(const PendingNote&) = delete;
  ~PendingNote() { own_progress().await(Awaited::nothing, -1); }
};

}  // namespace glinpack
