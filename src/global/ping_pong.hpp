// Messages to and fro between two ranks: what a link can do while nothing else goes on.
#pragma once

#include <mpi.h>

#include "local/matrix_view.hpp"

namespace glinpack {

/// When a ping-pong has gone on long enough: so many round trips, or so many seconds, whichever is first; at least one.
struct PingPongLimits {
  int round_trips = 100;
  double seconds = 0.1;
};

/// One way, that is, half of a round trip, in seconds.
struct PingPongTime {
  Index bytes = 0;
  int round_trips = 0;  // 0 on ranks that did not measure
  double least = 0;
  double mean = 0;

  double bytes_per_second() const { return least > 0 ? static_cast<double>(bytes) / least : 0; }
};

/// Collective over the ranks `first` and `second` of the communicator, which differ; other ranks return at once.
/// Messages of `bytes` >= 1 go to and fro, one at a time; the first round trip warms up and is not counted. The result
/// is on `first`.
PingPongTime ping_pong(MPI_Comm communicator, int first, int second, Index bytes, const PingPongLimits& limits);

}  // namespace glinpack
