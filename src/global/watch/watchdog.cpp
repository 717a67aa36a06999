#include "watch/watchdog.hpp"

#include <mpi.h>
#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>

#include "mpi/communication.hpp"
#include "mpi/session.hpp"

namespace glinpack {

namespace {

constexpr std::size_t most_addresses = 8;
// A launcher that ends a job may not read the latest output of its processes.
constexpr std::chrono::seconds for_launcher_to_read{1};
// MPI_Abort may wait for a launcher that cannot be reached.
constexpr std::chrono::seconds most_for_abort{3};
static_assert(for_launcher_to_read + most_for_abort <= std::chrono::duration<double>(WatchThread::most_seconds_to_end));

// Where a rank is; all ranks exchange it at the start.
struct Whereabouts {
  std::uint64_t token = 0;  // rank 0's is the job's
  long process = 0;
  char host[HOST_NAME_MAX + 1] = {};
  std::array<std::uint32_t, most_addresses> addresses{};
  std::size_t count = 0;
  std::uint16_t port = 0;
};

Whereabouts own_whereabouts(std::uint16_t port) {
  Whereabouts mine;
  mine.token = std::random_device{}() | std::uint64_t{std::random_device{}()} << 32 | 1;
  mine.process = getpid();
  const std::string host = host_name();
  std::copy_n(host.begin(), std::min(host.size(), sizeof mine.host - 1), mine.host);
  for (const std::uint32_t address : own_addresses(most_addresses)) mine.addresses[mine.count++] = address;
  mine.port = port;
  return mine;
}

std::vector<WatchAddress> addresses_of(const Whereabouts& there, bool same_node) {
  if (same_node) return {{loopback_address(), there.port}};
  std::vector<WatchAddress> addresses;
  for (std::size_t i = 0; i < there.count; ++i) addresses.push_back({there.addresses[i], there.port});
  return addresses;
}

// Collective.
std::unique_ptr<WatchThread> start_thread(double limit, void (*end_job)(const std::string&)) {
  const std::vector<int> nodes = nodes_of(MPI_COMM_WORLD);
  const bool is_one_node = std::all_of(nodes.begin(), nodes.end(), [&](int node) { return node == nodes.front(); });
  auto socket = make_collectively(world(), [&] { return std::make_unique<HeartbeatSocket>(is_one_node); });
  WatchPlan plan;
  plan.limit = limit;
  plan.rank = rank_in(MPI_COMM_WORLD);
  plan.watchers = choose_watchers(nodes);
  const std::vector<Whereabouts> all = all_gathered(world(), own_whereabouts(socket->port()));
  plan.token = all.front().token;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const int number = static_cast<int>(rank);
    plan.ranks.push_back({.host = all[rank].host, .process = all[rank].process, .progress = {}});
    if (number == plan.rank || !(plan.watchers.has(plan.rank) || plan.watchers.has(number))) continue;
    const bool same_node = nodes[rank] == nodes[static_cast<std::size_t>(plan.rank)];
    plan.peers.push_back({.rank = number, .addresses = addresses_of(all[rank], same_node)});
  }
  auto thread = std::make_unique<WatchThread>(std::move(plan), std::move(socket), own_progress(), end_job);
  std::string error;
  try {
    thread->meet_peers();
  } catch (const std::exception& failure) {
    error = std::string("the watchdog cannot be set up: ") + failure.what();
  }
  agree_or_throw(world(), error);
  return thread;
}

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
    end_job(
        fmt::format("glinpack: watchdog: no heartbeat of a rank for {:.1f} s after MPI_Init: stopped, or its host or "
                    "the network to it has failed; rank {} on {} waits for it\n",
                    time.count(), launcher_rank(), host_name()));
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
    limit = all_gathered(world(), limit).front();
  }
  return limit > 0 ? std::unique_ptr<Watchdog>(new Watchdog(limit)) : nullptr;
}

Watchdog::Watchdog(double limit) {
  const StartGuard guard(limit + WatchPlan{}.seconds_to_meet);
  thread_ = start_thread(limit, end_job);
  before_abort([this] { thread_.reset(); });  // a reported error needs no watchdog
}

Watchdog::~Watchdog() { before_abort({}); }

}  // namespace glinpack
