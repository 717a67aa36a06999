// All pairs of ranks, each tried with a few messages: which links are slow.
#pragma once

#include <mpi.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "local/matrix_view.hpp"

namespace glinpack {

/// What two ranks of a communicator reached; the best of a few round trips.
struct Link {
  int first = 0;  // < second
  int second = 0;
  double latency = 0;    // seconds, one way, messages of screening_latency_bytes
  double bandwidth = 0;  // bytes a second, messages of screening_bandwidth_bytes
};

inline constexpr Index screening_latency_bytes = 8;
inline constexpr Index screening_bandwidth_bytes = Index{1} << 20;

/// A link is slow that has less than half the median bandwidth, or more than twice the median latency, of its kind:
/// links within a host are compared with each other, and links between hosts.
inline constexpr double slow_bandwidth = 0.5;
inline constexpr double slow_latency = 2.0;

/// The usual link of a kind.
struct LinkMedian {
  Index links = 0;
  double latency = 0;
  double bandwidth = 0;
};

struct Screening {
  std::vector<Link> links;  // that were measured
  Index pairs = 0;          // that there are
  double seconds = 0;
  LinkMedian within_hosts;
  LinkMedian between_hosts;
  std::vector<Link> slow;
  bool interrupted = false;  // a signal ended it before its time (stop_request.hpp); the same on every rank
};

struct ScreeningOptions {
  double seconds = 10;    // ends after about so long, whether or not all pairs were measured
  bool together = false;  // disjoint pairs at the same time: quicker, and links that share a cable share its bandwidth
};

/// Collective over the communicator; the result is on rank 0. Pairs take turns in rounds of disjoint ones; links that
/// look slow are measured a second time, alone, and the better figures count. A stop request of any rank ends it after
/// the turn under way.
Screening screen_links(MPI_Comm communicator, const ScreeningOptions& options);

/// The rounds of a tournament in which every two of `ranks` players meet once: pairs of a round are disjoint (the
/// circle method). Pure.
int tournament_rounds(int ranks);
std::vector<std::pair<int, int>> tournament_round(int ranks, int round);

/// Fills in medians and slow links from the links measured; hosts: of every rank. Pure.
void judge_links(Screening& screening, std::span<const std::string> hosts);

}  // namespace glinpack
