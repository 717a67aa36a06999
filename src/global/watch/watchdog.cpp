#include "watch/watchdog.hpp"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdio>
#include <exception>
#include <fstream>
#include <random>
#include <utility>

#include "base/measuring.hpp"
#include "mpi/communication.hpp"
#include "mpi/session.hpp"

namespace glinpack {

namespace {

constexpr double shortest_period = 0.05;
constexpr double longest_period = 1;
// Seconds for which the second watcher waits for the first one's verdict.
constexpr double head_start = 2;
// The network may lose one.
constexpr int farewells = 3;

// The state letter of proc(5): T stopped by a signal, t by a debugger.
bool is_stopped(long process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= line.size()) return false;
  const char state = line[name_end + 2];
  return state == 'T' || state == 't';
}

}  // namespace

std::thread started_without_signals(const std::function<void()>& body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(body);
  pthread_setname_np(thread.native_handle(), "watchdog");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

WatchThread::WatchThread(WatchPlan plan, std::unique_ptr<HeartbeatSocket> socket, const ProgressRecord& progress,
                         std::function<void(const std::string&)> end_job)
    : plan_(std::move(plan)),
      socket_(std::move(socket)),
      progress_(progress),
      end_job_(std::move(end_job)),
      period_(std::clamp(plan_.limit / 10, shortest_period, longest_period)),
      thread_(started_without_signals([this] { run(); })) {}

WatchThread::~WatchThread() {
  stopping_ = true;
  socket_->send({}, {loopback_address(), socket_->port()});  // wakes the thread
  thread_.join();
}

// The error: names a peer that has not been heard.
std::string WatchThread::meet() {
  const double start = steady_seconds();
  for (double sent_at = 0; !stopping_; receive(shortest_period)) {
    const auto unheard =
        std::find_if(plan_.peers.begin(), plan_.peers.end(), [](const Peer& peer) { return !peer.heard; });
    if (unheard == plan_.peers.end()) break;
    const double now = steady_seconds();
    if (now - start > plan_.seconds_to_meet) {
      std::string addresses;
      for (const WatchAddress& one : unheard->addresses) addresses += " " + text_of(one);
      return "rank " + std::to_string(unheard->rank) + " on " + rank(unheard->rank).host +
             " cannot be reached by UDP at" + addresses + "; allow UDP between the hosts, or leave out --watchdog";
    }
    if (now - sent_at < shortest_period) continue;
    send_to_all(Heartbeat::Kind::state);
    sent_at = now;
  }
  return "";
}

void WatchThread::run() {
  const std::string error = meet();
  met_.set_value(error);
  try {
    if (error.empty()) watch();
  } catch (const std::exception& error) {
    spdlog::warn("watchdog: rank {} on {} is no longer watched: {}", plan_.rank, rank(plan_.rank).host, error.what());
  }
  for (int i = 0; i < farewells; ++i) send_to_all(Heartbeat::Kind::farewell);
}

void WatchThread::watch() {
  double sent_at = steady_seconds();
  send_to_all(Heartbeat::Kind::state);
  while (!stopping_) {
    receive(period_ / 2);
    const double now = steady_seconds();
    // a batch system may stop the whole job; that time counts against no rank
    passed_ = std::min(now - sent_at, 2 * period_);
    const bool lost = std::any_of(plan_.ranks.begin(), plan_.ranks.end(),
                                  [](const WatchedRank& one) { return one.contact == Contact::lost; });
    if (passed_ < period_ && !lost) continue;
    sent_at = now;
    add_elapsed_time();
    send_to_all(Heartbeat::Kind::state);
    const std::string verdict = verdict_text();
    if (verdict.empty()) continue;
    send_to_all(Heartbeat::Kind::verdict);
    end_job_(verdict);
    while (!stopping_) receive(longest_period);
  }
}

void WatchThread::receive(double seconds) {
  for (const HeartbeatSocket::Received& received : socket_->receive(seconds)) record(received);
}

void WatchThread::record(const HeartbeatSocket::Received& received) {
  const auto& from = received.from;
  const auto& heartbeat = received.heartbeat;
  const auto is_sender = [&](const Peer& peer) {
    return heartbeat ? heartbeat->token == plan_.token && heartbeat->rank == peer.rank
                     : peer.heard && peer.addresses.front() == from;
  };
  const auto peer = std::find_if(plan_.peers.begin(), plan_.peers.end(), is_sender);
  if (peer == plan_.peers.end()) return;
  WatchedRank& watched = rank(peer->rank);
  if (!heartbeat) {
    if (watched.contact == Contact::present) watched.contact = Contact::lost;
    return;
  }
  peer->addresses = {from};
  peer->heard = true;
  watched.silent = 0;
  watched.progress = heartbeat->progress;
  watched.stuck = heartbeat->stuck;
  if (heartbeat->kind == Heartbeat::Kind::farewell) watched.contact = Contact::left;
  if (heartbeat->kind == Heartbeat::Kind::verdict) {
    watched.contact = Contact::ends_job;
    ending_ = max_seconds_to_end + 2 * period_;
  }
}

void WatchThread::add_elapsed_time() {
  for (const Peer& peer : plan_.peers) {
    if (rank(peer.rank).contact != Contact::left) rank(peer.rank).silent += passed_;
  }
  WatchedRank& own = rank(plan_.rank);
  const ProgressSnapshot now = progress_.snapshot();
  own.stuck = now.steps == own.progress.steps ? own.stuck + passed_ : 0;
  own.progress = now;
}

void WatchThread::send_to_all(Heartbeat::Kind kind) {
  const WatchedRank& own = rank(plan_.rank);
  const Heartbeat heartbeat{plan_.token, plan_.rank, kind, own.progress, own.stuck};
  for (const Peer& peer : plan_.peers) {
    for (const WatchAddress& address : peer.addresses) socket_->send(heartbeat, address);
  }
}

// The message to print if the job must end.
std::string WatchThread::verdict_text() {
  // another rank has time to end the job; if that hangs, its process is killed, and the remaining watcher judges
  if (ending_ > 0) {
    ending_ -= passed_;
    return "";
  }
  const WatchedRank& own = rank(plan_.rank);
  if (plan_.watchers.has(plan_.rank)) {
    for (WatchedRank& one : plan_.ranks) {
      one.stopped = one.host == own.host && one.silent > 2 * period_ && is_stopped(one.process);
    }
    const auto judgement = judge(plan_.ranks, plan_.limit);
    if (!judgement) deferred_ = 0;
    return judgement && may_judge() ? watchdog_text(*judgement, plan_.ranks) : "";
  }
  if (!hears_no_watcher()) return "";
  return "glinpack: watchdog: rank " + std::to_string(plan_.rank) + " on " + own.host +
         " hears nothing of the ranks that watch the job: their hosts or the network to them have failed\n" +
         line_of_rank(plan_.rank, own);
}

// The second watcher waits a little for the first one's verdict, unless the first one has failed.
bool WatchThread::may_judge() {
  if (plan_.rank == plan_.watchers.first) return true;
  const WatchedRank& first = rank(plan_.watchers.first);
  if (first.contact != Contact::present || first.silent >= plan_.limit) return true;
  deferred_ += passed_;
  return deferred_ > head_start;
}

// No progress for the limit, and no heartbeat from any watcher.
bool WatchThread::hears_no_watcher() const {
  return rank(plan_.rank).stuck >= plan_.limit &&
         std::all_of(plan_.peers.begin(), plan_.peers.end(), [this](const Peer& watcher) {
           const WatchedRank& watched = rank(watcher.rank);
           return watched.contact == Contact::lost || watched.contact == Contact::ends_job ||
                  watched.silent >= plan_.limit;
         });
}

namespace {

constexpr std::size_t max_addresses = 8;
// A launcher that ends a job may not read the latest output of its processes.
constexpr std::chrono::seconds for_launcher_to_read{1};
// MPI_Abort may wait for a launcher that cannot be reached.
constexpr std::chrono::seconds max_for_abort{3};
static_assert(for_launcher_to_read + max_for_abort <= std::chrono::duration<double>(WatchThread::max_seconds_to_end));

// Where a rank is; all ranks exchange it at the start.
struct Whereabouts {
  std::uint64_t token = 0;  // rank 0's is the job's
  long process = 0;
  char host[HOST_NAME_MAX + 1] = {};
  std::array<std::uint32_t, max_addresses> addresses{};
  std::size_t count = 0;
  std::uint16_t port = 0;
};

Whereabouts own_whereabouts(std::uint16_t port) {
  Whereabouts mine;
  mine.token = std::random_device{}() | std::uint64_t{std::random_device{}()} << 32 | 1;
  mine.process = getpid();
  const std::string host = host_name();
  std::copy_n(host.begin(), std::min(host.size(), sizeof mine.host - 1), mine.host);
  for (const std::uint32_t address : own_addresses(max_addresses)) mine.addresses[mine.count++] = address;
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
  const std::string error = error_of([&] { thread->meet_peers(); });
  agree_or_throw(world(), error.empty() ? "" : "the watchdog cannot be set up: " + error);
  return thread;
}

[[noreturn]] void end_job(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  std::this_thread::sleep_for(for_launcher_to_read);
  std::thread([] {
    std::this_thread::sleep_for(max_for_abort);
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
    met_.set_value();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void wait_for_ranks(double seconds) {
    const int turn = std::min(launcher_rank(), 2);
    const std::chrono::duration<double> time(seconds + turn * WatchThread::max_seconds_to_end);
    if (met_.get_future().wait_for(time) == std::future_status::ready) return;
    end_job(
        fmt::format("glinpack: watchdog: no heartbeat of a rank for {:.1f} s after MPI_Init: stopped, or its host or "
                    "the network to it has failed; rank {} on {} waits for it\n",
                    time.count(), launcher_rank(), host_name()));
  }

  std::promise<void> met_;
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
