#include "watch/watchdog.hpp"

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include "mpi/communication.hpp"
#include "mpi/session.hpp"

namespace glinpack {

namespace {

constexpr std::size_t most_addresses = 8;
constexpr double seconds_to_connect = 2;  // to one address
// For all ranks to try all addresses of a watcher.
constexpr double seconds_to_be_reached = seconds_to_connect * most_addresses + 4;
// A launcher that ends a job may not read the latest output of its processes.
constexpr std::chrono::seconds for_launcher_to_read{1};
// MPI_Abort may wait for a launcher that cannot be reached.
constexpr std::chrono::seconds most_for_abort{3};
static_assert(for_launcher_to_read + most_for_abort <= std::chrono::duration<double>(WatchThread::most_seconds_to_end));

// The messages that ranks exchange at the start.
struct ProcessAndHost {
  long process = 0;
  char host[HOST_NAME_MAX + 1] = {};
};
struct WatcherOffer {
  std::uint64_t token = 0;
  std::array<std::uint32_t, most_addresses> addresses{};
  std::size_t count = 0;
  std::uint16_t port = 0;
};

ProcessAndHost own_process_and_host() {
  ProcessAndHost mine;
  mine.process = getpid();
  const std::string host = host_name();
  std::copy_n(host.begin(), std::min(host.size(), sizeof mine.host - 1), mine.host);
  return mine;
}

template <class Value>
Value broadcast_from(int root, const Value& mine) {
  std::string bytes(reinterpret_cast<const char*>(&mine), sizeof mine);
  broadcast_bytes(MPI_COMM_WORLD, bytes, root);
  Value value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

WatcherOffer offer_of(const WatchListener& listener, std::size_t most, std::uint64_t token) {
  WatcherOffer offer{.token = token, .port = listener.port()};
  for (const std::uint32_t address : own_addresses(most)) offer.addresses[offer.count++] = address;
  return offer;
}

bool is_one_node_of(std::span<const int> nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [&](int node) { return node == nodes.front(); });
}

// Moves the loopback, the last address, to the front on the same node, and removes it otherwise.
std::vector<WatchAddress> addresses_in(const WatcherOffer& offer, bool same_node) {
  std::vector<WatchAddress> addresses;
  for (std::size_t i = 0; i < offer.count; ++i) addresses.push_back({offer.addresses[i], offer.port});
  if (same_node) {
    std::rotate(addresses.begin(), addresses.end() - 1, addresses.end());
  } else {
    addresses.pop_back();
  }
  return addresses;
}

// Collective: connects a watcher to all other ranks, except one that is connected already.
class WatcherSetup {
 public:
  WatcherSetup(WatchPlan& plan, std::span<const int> nodes) : plan_(plan), nodes_(nodes) {}

  void connect_all_to(int watcher, int excluded) {
    std::optional<WatchListener> listener;
    WatcherOffer mine;
    std::string error;
    try {
      if (plan_.rank == watcher) {
        listener.emplace(is_one_node());
        mine = offer_of(*listener, is_one_node() ? 1 : most_addresses,
                        std::random_device{}() | std::uint64_t{std::random_device{}()} << 32);
      }
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    agree(error);
    const WatcherOffer offer = broadcast_from(watcher, mine);
    if (plan_.token == 0) plan_.token = offer.token;
    try {
      if (plan_.rank == watcher) {
        // a rank that does not connect reports its own error
        auto accepted = listener->accept(offer.token, nodes_.size() - (excluded >= 0 ? 2 : 1), seconds_to_be_reached);
        for (auto& [rank, link] : accepted) plan_.links.emplace_back(rank, std::move(link));
      } else if (plan_.rank != excluded) {
        plan_.links.emplace_back(watcher, connect(watcher, offer));
      }
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    agree(error);
  }

 private:
  static void agree(const std::string& error) {
    agree_or_throw(MPI_COMM_WORLD, error.empty() ? error : "the watchdog cannot be set up: " + error);
  }

  WatchLink connect(int watcher, const WatcherOffer& offer) const {
    const auto node_of = [this](int rank) { return nodes_[static_cast<std::size_t>(rank)]; };
    const WatchedRank& there = plan_.ranks[static_cast<std::size_t>(watcher)];
    const auto addresses = addresses_in(offer, node_of(plan_.rank) == node_of(watcher));
    try {
      return connect_to(addresses, offer.token, plan_.rank, seconds_to_connect);
    } catch (const std::exception& failure) {
      throw std::runtime_error("rank " + std::to_string(watcher) + " on " + there.host + " " + failure.what() +
                               "; allow TCP between the hosts, or leave out --watchdog");
    }
  }

  bool is_one_node() const { return is_one_node_of(nodes_); }

  WatchPlan& plan_;
  std::span<const int> nodes_;
};

[[noreturn]] void end_job(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  std::this_thread::sleep_for(for_launcher_to_read);
  std::thread([] {
    std::this_thread::sleep_for(most_for_abort);
    kill(getpid(), SIGKILL);
  }).detach();
  MPI_Abort(MPI_COMM_WORLD, exit_watchdog);
  _exit(exit_watchdog);
}

// Ends the job if the ranks do not meet within `seconds` of its construction; 0: never. Rank 0 does so first.
class StartGuard {
 public:
  explicit StartGuard(double seconds) {
    if (seconds > 0) thread_ = started_without_signals([this, seconds] { wait_for_ranks(seconds); });
  }
  StartGuard(const StartGuard&) = delete;
  StartGuard& operator=(const StartGuard&) = delete;
  ~StartGuard() {
    {
      const std::lock_guard lock(mutex_);
      met_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void wait_for_ranks(double seconds) {
    const int turn = std::min(launcher_rank(), 2);
    std::unique_lock lock(mutex_);
    const std::chrono::duration<double> time(seconds + turn * WatchThread::most_seconds_to_end);
    if (changed_.wait_for(lock, time, [this] { return met_; })) return;
    char text[256];
    std::snprintf(text, sizeof text,
                  "glinpack: watchdog: a rank has not been heard of for %.1f s after MPI_Init: stopped, or its host or "
                  "the network to it has failed; rank %d on %s waits for it\n",
                  time.count(), launcher_rank(), host_name().c_str());
    end_job(text);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool met_ = false;
  std::thread thread_;
};

}  // namespace

Watchers choose_watchers(std::span<const int> nodes) {
  if (nodes.size() < 2) return {};
  const auto other = std::find_if(nodes.begin(), nodes.end(), [&](int node) { return node != nodes.front(); });
  return {.first = 0, .second = other == nodes.end() ? 1 : static_cast<int>(other - nodes.begin())};
}

std::unique_ptr<Watchdog> Watchdog::start(double limit) {
  {
    const StartGuard guard(limit);
    limit = broadcast_from(0, limit);
  }
  return limit > 0 ? std::make_unique<Watchdog>(limit) : nullptr;
}

Watchdog::Watchdog(double limit) {
  WatchPlan plan{.limit = limit, .token = 0, .rank = 0, .watchers = {}, .ranks = {}, .links = {}};
  plan.rank = rank_in(MPI_COMM_WORLD);
  std::optional<StartGuard> guard(std::in_place, limit);
  const std::vector<int> nodes = nodes_of(MPI_COMM_WORLD);
  if (!is_one_node_of(nodes)) guard.emplace(limit + 2 * seconds_to_be_reached);
  plan.watchers = choose_watchers(nodes);
  for (const ProcessAndHost& one : all_gather(MPI_COMM_WORLD, own_process_and_host())) {
    WatchedRank watched;
    watched.host = one.host;
    watched.process = one.process;
    plan.ranks.push_back(std::move(watched));
  }
  if (plan.watchers.second >= 0) {
    if (plan.watchers.has(plan.rank)) allow_many_connections();
    WatcherSetup setup(plan, nodes);
    setup.connect_all_to(plan.watchers.first, -1);
    setup.connect_all_to(plan.watchers.second, plan.watchers.first);
  }
  thread_ = std::make_unique<WatchThread>(std::move(plan), own_progress(), end_job);
  before_abort([this] { thread_.reset(); });  // a reported error needs no watchdog
}

Watchdog::~Watchdog() { before_abort({}); }

}  // namespace glinpack
