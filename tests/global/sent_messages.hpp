// Intercepts this process's MPI calls that send, receive, reduce and broadcast (MPI's profiling interface). Records
// them while a SentMessages object exists.
#pragma once

#include <mpi.h>

#include <vector>

#include "transport/recorder.hpp"

namespace glinpack::test {

class SentMessages {
 public:
  SentMessages();
  SentMessages(const SentMessages&) = delete;
  SentMessages& operator=(const SentMessages&) = delete;
  ~SentMessages();

  /// The messages on `communicator`, in call order: those of row exchanges, or all others. `line`: the line of the grid
  /// that the communicator spans.
  std::vector<WireMessage> on(MPI_Comm communicator, Line line, bool rows) const;
};

}  // namespace glinpack::test
