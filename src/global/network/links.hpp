// Measures the links between ranks: one pair by ping-pong, and all pairs with a few messages each to find slow links.
#pragma once

#include <mpi.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/matrix_view.hpp"

namespace glinpack {

/// Limits of a ping-pong: round trips or seconds, whichever is reached first; at least one round trip.
struct PingPongLimits {
  int round_trips = 100;
  double seconds = 0.1;
};

/// One way, that is, half of a round trip, in seconds.
struct PingPongTime {
  Index bytes = 0;
  int round_trips = 0;  // 0 on ranks that did not measure
  double min = 0;
  double mean = 0;

  double bytes_per_second() const { return min > 0 ? static_cast<double>(bytes) / min : 0; }
};

/// Collective over the ranks `first` and `second` of the communicator, which differ; other ranks return at once.
/// Sends messages of `bytes` >= 1 back and forth, one at a time. The first round trip is a warm-up and is not counted.
/// The result is on `first`.
PingPongTime ping_pong(MPI_Comm communicator, int first, int second, Index bytes, const PingPongLimits& limits);

/// The measured link between two ranks of a communicator; the best of a few round trips.
struct Link {
  int first = 0;  // < second
  int second = 0;
  double latency = 0;    // seconds, one way, messages of screening_latency_bytes
  double bandwidth = 0;  // bytes a second, messages of screening_bandwidth_bytes
};

inline constexpr Index screening_latency_bytes = 8;
inline constexpr Index screening_bandwidth_bytes = Index{1} << 20;

/// A link is slow if it has less than half the median bandwidth, or more than twice the median latency, of its kind.
/// The kinds are links within a host and links between hosts.
inline constexpr double slow_bandwidth = 0.5;
inline constexpr double slow_latency = 2.0;

/// The usual link of a kind.
struct LinkMedian {
  Index links = 0;
  double latency = 0;
  double bandwidth = 0;
};

struct Screening {
  std::vector<Link> links;  // measured
  Index pairs = 0;          // all pairs of ranks
  double seconds = 0;
  LinkMedian within_hosts;
  LinkMedian between_hosts;
  std::vector<Link> slow;
  bool interrupted = false;  // a signal ended it before its time (stop_request.hpp); the same on every rank
};

struct ScreeningOptions {
  double seconds = 10;  // the approximate time limit, even if pairs are left
  // measure disjoint pairs at the same time: faster, but links on one cable share its bandwidth
  bool concurrent_pairs = false;
};

/// Collective over the communicator; the result is on rank 0. Measures in rounds of disjoint pairs. Links that seem
/// slow are measured again, one at a time, and the better result counts. A stop request of any rank ends it after the
/// current round.
Screening screen_links(MPI_Comm communicator, const ScreeningOptions& options);

/// Rounds of disjoint pairs that contain every pair of `ranks` ranks once (the circle method). Pure.
int pairing_rounds(int ranks);
std::vector<std::pair<int, int>> pairing_round(int ranks, int round);

/// Fills in medians and slow links from the links measured; hosts: of every rank. Pure.
void judge_links(Screening& screening, std::span<const std::string> hosts);

}  // namespace glinpack
