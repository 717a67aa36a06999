// What this process hands to MPI: the calls that send, receive, reduce and broadcast are intercepted (MPI's profiling
// interface) and noted while a SentMessages lives.
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

  /// Those on a communicator, which is `line` of the grid, in the order in which MPI was given them.
  std::vector<WireMessage> on(MPI_Comm communicator, Line line) const;
};

}  // namespace glinpack::test
