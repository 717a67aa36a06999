#include "network/links.hpp"

#include <algorithm>

#include "base/measuring.hpp"
#include "mpi/communication.hpp"
#include "mpi/session.hpp"
#include "transport/wire.hpp"
#include "watch/stop_request.hpp"

namespace glinpack {

namespace {

constexpr char last_trip = 1;

void send(MPI_Comm communicator, int to, const std::vector<char>& message) {
  send_message(communicator, mpi_message(std::span(message), tags::ping_pong), to);
}

void receive(MPI_Comm communicator, int from, std::vector<char>& message) {
  receive_message(communicator, mpi_message(std::span(message), tags::ping_pong), from);
}

// Answers until a message is marked as the last one.
void answer(MPI_Comm communicator, int peer, std::vector<char>& message) {
  do {
    receive(communicator, peer, message);
    send(communicator, peer, message);
  } while (message.front() != last_trip);
}

constexpr PingPongLimits latency_limits{50, 0.01};
constexpr PingPongLimits bandwidth_limits{4, 0.02};
constexpr double share_of_first_screening = 0.8;  // of the time; the rest is for slow links

using Pair = std::pair<int, int>;

Link measure(MPI_Comm communicator, Pair pair) {
  const auto [first, second] = pair;
  Link link{first, second, 0, 0};
  link.latency = ping_pong(communicator, first, second, screening_latency_bytes, latency_limits).min;
  link.bandwidth =
      ping_pong(communicator, first, second, screening_bandwidth_bytes, bandwidth_limits).bytes_per_second();
  return link;
}

// The rounds of measurements. They end on all ranks at the same round, when rank 0's time is over or after a signal on
// any rank.
class ScreeningRounds {
 public:
  explicit ScreeningRounds(MPI_Comm communicator)
      : communicator_(communicator), begin_(steady_seconds()), rank_(rank_in(communicator)) {}

  int rank() const { return rank_; }
  double seconds() const { return steady_seconds() - begin_; }

  bool interrupted() const { return interrupted_; }

  /// Collective: waits until all ranks have ended the last round. False when `limit` seconds have passed, or after a
  /// signal.
  bool has_time_left(double limit) {
    enum : int { is_interrupted, is_over, has_time };
    int worst = stop_signal() != 0 ? is_interrupted : rank_ == 0 && seconds() >= limit ? is_over : has_time;
    all_reduce(communicator_, &worst, 1, MPI_INT, MPI_MIN);
    interrupted_ = worst == is_interrupted;
    return worst == has_time;
  }

  /// Collective. Measures the pairs one after the other, or disjoint ones at the same time; `links` receives those
  /// whose first rank is this one.
  bool measure_all(std::span<const Pair> pairs, bool at_once, double limit, std::vector<Link>& links) {
    if (at_once && !has_time_left(limit)) return false;
    for (const Pair& pair : pairs) {
      if (!at_once && !has_time_left(limit)) return false;
      if (rank_ != pair.first && rank_ != pair.second) continue;
      const Link link = measure(communicator_, pair);
      if (rank_ == pair.first) links.push_back(link);
    }
    return true;
  }

 private:
  MPI_Comm communicator_;
  double begin_;
  int rank_;
  bool interrupted_ = false;
};

// All ranks' links, on rank 0, ordered by their ends.
std::vector<Link> gathered(MPI_Comm communicator, const std::vector<Link>& mine) {
  std::vector<Link> all;
  for (const auto& part : gather_values(MpiCommunicator(communicator), mine, 0))
    all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end(),
            [](const Link& a, const Link& b) { return Pair(a.first, a.second) < Pair(b.first, b.second); });
  return all;
}

// Measures slow links again, one at a time, to exclude transient disturbances.
void measure_slow_links_again(MPI_Comm communicator, ScreeningRounds& rounds, double limit, Screening& screening) {
  std::vector<Pair> suspects;
  for (const Link& link : broadcast_value(MpiCommunicator(communicator), screening.slow, 0))
    suspects.emplace_back(link.first, link.second);
  std::vector<Link> again;
  rounds.measure_all(suspects, false, limit, again);
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

PingPongTime ping_pong(MPI_Comm communicator, int first, int second, Index bytes, const PingPongLimits& limits) {
  const int rank = rank_in(communicator);
  PingPongTime time;
  if (rank != first && rank != second) return time;
  std::vector<char> message(static_cast<std::size_t>(bytes));
  if (rank == second) {
    answer(communicator, first, message);
    return time;
  }
  time.bytes = bytes;
  const double begin = steady_seconds();
  double sum = 0;
  for (int trip = 0; message.front() != last_trip; ++trip) {
    const bool enough = trip >= limits.round_trips || steady_seconds() - begin > limits.seconds;
    message.front() = trip > 0 && enough ? last_trip : 0;
    const double start = steady_seconds();
    send(communicator, second, message);
    receive(communicator, second, message);
    const double one_way = (steady_seconds() - start) / 2;
    if (trip == 0) continue;  // connections are made, buffers touched
    time.min = trip == 1 ? one_way : std::min(time.min, one_way);
    sum += one_way;
    time.round_trips = trip;
  }
  time.mean = sum / time.round_trips;
  return time;
}

int pairing_rounds(int ranks) { return ranks < 2 ? 0 : ranks % 2 == 0 ? ranks - 1 : ranks; }

// Circle method: one rank (or an empty place, if the number of ranks is odd) stays; the others rotate by one place a
// round.
std::vector<std::pair<int, int>> pairing_round(int ranks, int round) {
  const int places = ranks + ranks % 2;
  const auto rank_at = [&](int place) { return place == 0 ? places - 1 : (place - 1 + round) % (places - 1); };
  std::vector<Pair> pairs;
  for (int place = 0; place < places / 2; ++place) {
    const Pair pair = std::minmax({rank_at(place), rank_at(places - 1 - place)});
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
  const std::vector<std::string> hosts = MpiCommunicator(communicator).gather(0, host_name());
  ScreeningRounds rounds(communicator);
  Screening screening;
  screening.pairs = Index{ranks} * (ranks - 1) / 2;
  std::vector<Link> mine;
  for (int round = 0; round < pairing_rounds(ranks); ++round) {
    const std::vector<Pair> pairs = pairing_round(ranks, round);
    const double limit = share_of_first_screening * options.seconds;
    if (!rounds.measure_all(pairs, options.concurrent_pairs, limit, mine)) break;
  }
  screening.links = gathered(communicator, mine);
  if (rounds.rank() == 0) judge_links(screening, hosts);
  measure_slow_links_again(communicator, rounds, options.seconds, screening);
  if (rounds.rank() == 0) judge_links(screening, hosts);
  screening.seconds = rounds.seconds();
  screening.interrupted = rounds.interrupted();
  return screening;
}

}  // namespace glinpack
