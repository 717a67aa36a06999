#include "global/link_screening.hpp"

#include <algorithm>

#include "global/bytes.hpp"
#include "global/communication.hpp"
#include "global/ping_pong.hpp"
#include "global/stop_request.hpp"

namespace glinpack {

namespace {

constexpr PingPongLimits latency_limits{50, 0.01};
constexpr PingPongLimits bandwidth_limits{4, 0.02};
constexpr double share_of_first_look = 0.8;  // of the time: the rest is for a second look at what seems slow

using Pair = std::pair<int, int>;

Link measure(MPI_Comm communicator, Pair pair) {
  const auto [first, second] = pair;
  Link link{first, second, 0, 0};
  link.latency = ping_pong(communicator, first, second, screening_latency_bytes, latency_limits).least;
  link.bandwidth =
      ping_pong(communicator, first, second, screening_bandwidth_bytes, bandwidth_limits).bytes_per_second();
  return link;
}

// Lets the ranks take turns, and ends on all of them at the same turn when rank 0's time is over or a signal asked any
// of them for an end.
class Turns {
 public:
  explicit Turns(MPI_Comm communicator) : communicator_(communicator), begin_(MPI_Wtime()) {
    GLINPACK_MPI(MPI_Comm_rank(communicator, &rank_));
  }

  int rank() const { return rank_; }
  double seconds() const { return MPI_Wtime() - begin_; }

  bool interrupted() const { return interrupted_; }

  /// Collective: the turn before is over everywhere. False when `limit` seconds have passed, or after a signal.
  bool goes_on(double limit) {
    enum : int { is_interrupted, is_over, has_time };
    int least = stop_signal() != 0 ? is_interrupted : rank_ == 0 && seconds() >= limit ? is_over : has_time;
    all_reduce(communicator_, &least, 1, MPI_INT, MPI_MIN);
    interrupted_ = least == is_interrupted;
    return least == has_time;
  }

  /// Collective. The pairs measure one after the other; what this rank is the first of goes into `links`.
  bool one_by_one(std::span<const Pair> pairs, double limit, std::vector<Link>& links) {
    for (const Pair& pair : pairs) {
      if (!goes_on(limit)) return false;
      try_pair(pair, links);
    }
    return true;
  }

  /// Collective. All at once; they must be disjoint.
  bool together(std::span<const Pair> pairs, double limit, std::vector<Link>& links) {
    if (!goes_on(limit)) return false;
    for (const Pair& pair : pairs) try_pair(pair, links);
    return true;
  }

 private:
  void try_pair(Pair pair, std::vector<Link>& links) const {
    if (rank_ != pair.first && rank_ != pair.second) return;
    const Link link = measure(communicator_, pair);
    if (rank_ == pair.first) links.push_back(link);
  }

  MPI_Comm communicator_;
  double begin_;
  int rank_ = 0;
  bool interrupted_ = false;
};

// All ranks' links, on rank 0, ordered by their ends.
std::vector<Link> gathered(MPI_Comm communicator, const std::vector<Link>& mine) {
  std::vector<Link> all;
  for (const std::string& bytes : gather_bytes(communicator, as_bytes(mine), 0)) {
    const auto part = from_bytes<Link>(bytes);
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end(),
            [](const Link& a, const Link& b) { return Pair(a.first, a.second) < Pair(b.first, b.second); });
  return all;
}

// Slow links are measured again, one at a time: a moment's disturbance is no slow link.
void look_again(MPI_Comm communicator, Turns& turns, double limit, Screening& screening) {
  std::string bytes = as_bytes(screening.slow);
  broadcast_bytes(communicator, bytes, 0);
  std::vector<Pair> suspects;
  for (const Link& link : from_bytes<Link>(bytes)) suspects.emplace_back(link.first, link.second);
  std::vector<Link> again;
  turns.one_by_one(suspects, limit, again);
  for (const Link& second : gathered(communicator, again)) {
    for (Link& link : screening.links) {
      if (link.first != second.first || link.second != second.second) continue;
      link.latency = std::min(link.latency, second.latency);
      link.bandwidth = std::max(link.bandwidth, second.bandwidth);
    }
  }
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

LinkMedian median_of(std::span<const Link> links) {
  std::vector<double> latencies;
  std::vector<double> bandwidths;
  for (const Link& link : links) {
    latencies.push_back(link.latency);
    bandwidths.push_back(link.bandwidth);
  }
  return {static_cast<Index>(links.size()), median(std::move(latencies)), median(std::move(bandwidths))};
}

}  // namespace

int tournament_rounds(int ranks) { return ranks < 2 ? 0 : ranks % 2 == 0 ? ranks - 1 : ranks; }

// One player, or an empty place where they are odd in number, stays; the others move on by one place a round.
std::vector<std::pair<int, int>> tournament_round(int ranks, int round) {
  const int places = ranks + ranks % 2;
  const auto player = [&](int place) { return place == 0 ? places - 1 : (place - 1 + round) % (places - 1); };
  std::vector<Pair> pairs;
  for (int place = 0; place < places / 2; ++place) {
    const Pair pair = std::minmax({player(place), player(places - 1 - place)});
    if (pair.second < ranks) pairs.push_back(pair);
  }
  return pairs;
}

void judge_links(Screening& screening, std::span<const std::string> hosts) {
  const auto within = [&](const Link& link) {
    return hosts[static_cast<std::size_t>(link.first)] == hosts[static_cast<std::size_t>(link.second)];
  };
  std::vector<Link> links = screening.links;
  const auto border = std::stable_partition(links.begin(), links.end(), within);
  screening.within_hosts = median_of({links.begin(), border});
  screening.between_hosts = median_of({border, links.end()});
  screening.slow.clear();
  for (const Link& link : screening.links) {
    const LinkMedian& usual = within(link) ? screening.within_hosts : screening.between_hosts;
    if (link.bandwidth < slow_bandwidth * usual.bandwidth || link.latency > slow_latency * usual.latency) {
      screening.slow.push_back(link);
    }
  }
}

Screening screen_links(MPI_Comm communicator, const ScreeningOptions& options) {
  const int ranks = size_of(communicator);
  const std::vector<std::string> hosts = gather_bytes(communicator, host_name(), 0);
  Turns turns(communicator);
  Screening screening;
  screening.pairs = Index{ranks} * (ranks - 1) / 2;
  std::vector<Link> mine;
  for (int round = 0; round < tournament_rounds(ranks); ++round) {
    const std::vector<Pair> pairs = tournament_round(ranks, round);
    const double limit = share_of_first_look * options.seconds;
    if (!(options.together ? turns.together(pairs, limit, mine) : turns.one_by_one(pairs, limit, mine))) break;
  }
  screening.links = gathered(communicator, mine);
  if (turns.rank() == 0) judge_links(screening, hosts);
  look_again(communicator, turns, options.seconds, screening);
  if (turns.rank() == 0) judge_links(screening, hosts);
  screening.seconds = turns.seconds();
  screening.interrupted = turns.interrupted();
  return screening;
}

}  // namespace glinpack
