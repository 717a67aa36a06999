// The watchdog of a job. If a rank makes no progress, it prints the state of all ranks and ends the job
// (docs/diagnosing.md).
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "watch/heartbeat.hpp"
#include "watch/watch_judgement.hpp"

namespace glinpack {

// The watchdog thread of a rank: it reports its rank's progress, and on a watcher it judges the job.

/// The ranks that judge the job: rank 0, and a second one in case rank 0 or its host fails.
struct Watchers {
  int first = 0;
  int second = -1;  // -1: none, the job has one rank

  bool has(int rank) const { return rank == first || rank == second; }
};

/// A rank that this one exchanges heartbeats with: every watcher, and on a watcher every rank.
struct Peer {
  int rank = 0;
  std::vector<WatchAddress> addresses;  // those of its host; the one that heartbeats come from, once one has come
  bool heard = false;
};

struct WatchPlan {
  double limit = 0;            // seconds without progress
  double seconds_to_meet = 6;  // for all ranks to hear each other
  std::uint64_t token = 0;
  int rank = 0;
  Watchers watchers;
  std::vector<WatchedRank> ranks;  // all ranks, in order: hosts and processes
  std::vector<Peer> peers;
};

/// Starts a thread named watchdog that blocks all signals: they are for the main thread.
std::thread started_without_signals(const std::function<void()>& body);

/// Runs from construction. It judges once all peers have been heard. The thread calls `end_job` once, with the message
/// to print, after notifying the other ranks; it may return, in tests. An exception on the thread is logged as a
/// warning, and the rank is no longer watched.
class WatchThread {
 public:
  /// The time limit of `end_job`. The other watcher judges only if ranks remain after it.
  static constexpr double max_seconds_to_end = 4;

  WatchThread(WatchPlan plan, std::unique_ptr<HeartbeatSocket> socket, const ProgressRecord& progress,
              std::function<void(const std::string&)> end_job);
  WatchThread(const WatchThread&) = delete;
  WatchThread& operator=(const WatchThread&) = delete;
  /// Sends a farewell message.
  ~WatchThread();

  /// Waits until all peers have been heard. Throws std::runtime_error that names one that has not. Call it once.
  void meet_peers() {
    if (const std::string error = met_.get_future().get(); !error.empty()) throw std::runtime_error(error);
  }

 private:
  void run();
  std::string meet();
  void watch();
  void receive(double seconds);
  void record(const HeartbeatSocket::Received& received);
  void add_elapsed_time();
  void send_to_all(Heartbeat::Kind kind);
  bool may_judge();
  bool hears_no_watcher() const;
  std::string verdict_text();
  WatchedRank& rank(int number) { return plan_.ranks[static_cast<std::size_t>(number)]; }
  const WatchedRank& rank(int number) const { return plan_.ranks[static_cast<std::size_t>(number)]; }

  WatchPlan plan_;
  std::unique_ptr<HeartbeatSocket> socket_;
  const ProgressRecord& progress_;
  std::function<void(const std::string&)> end_job_;
  double period_;                  // seconds between heartbeats
  double passed_ = 0;              // seconds, in the last period
  double deferred_ = 0;            // seconds for which this watcher has waited for the first one's verdict
  double ending_ = 0;              // seconds that another rank still has to end the job
  std::promise<std::string> met_;  // a peer that has not been heard; empty: none
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

// The watchdog of MPI_COMM_WORLD.

inline constexpr int exit_watchdog = 5;

/// Watches all ranks of MPI_COMM_WORLD during its lifetime. If a rank makes no progress for the limit
/// (watch_judgement.hpp), it prints the known state of every rank to stderr. Then it ends the job by MPI_Abort with
/// exit_watchdog. Processes that remain some seconds later are killed.
class Watchdog {
 public:
  /// Collective over MPI_COMM_WORLD. `limit`: rank 0's counts; seconds, at least min_limit; null if it is 0. Throws
  /// AgreedError if a rank cannot reach the watchers. A rank that is stopped before the ranks have met ends the job,
  /// too: those that passed a limit need no other rank to find it.
  static std::unique_ptr<Watchdog> start(double limit);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  static constexpr double min_limit = 1;

 private:
  explicit Watchdog(double limit);

  std::unique_ptr<WatchThread> thread_;
};

/// The watchers: rank 0, and the first rank on another node, or rank 1 if there is none. `nodes`: as from nodes_of().
Watchers choose_watchers(std::span<const int> nodes);

}  // namespace glinpack
