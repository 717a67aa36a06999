// The watchdog thread of a rank: it reports its rank's progress, and on a watcher it judges the job.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "watch/watch_judgement.hpp"
#include "watch/watch_socket.hpp"

namespace glinpack {

/// The ranks that judge the job: rank 0, and a second one in case rank 0 or its host fails.
struct Watchers {
  int first = 0;
  int second = -1;  // -1: none, the job has one rank

  bool has(int rank) const { return rank == first || rank == second; }
};

struct WatchPlan {
  double limit = 0;  // seconds without progress
  std::uint64_t token = 0;
  int rank = 0;
  Watchers watchers;
  std::vector<WatchedRank> ranks;                // all ranks, in order: hosts and processes
  std::vector<std::pair<int, WatchLink>> links;  // to the watchers; on a watcher, to all ranks
};

/// Starts a thread named watchdog that blocks all signals: they are for the main thread.
std::thread started_without_signals(const std::function<void()>& body);

/// Runs from construction. The thread calls `end_job` once, with the message to print, after notifying the other ranks;
/// it may return, in tests. An exception on the thread is logged as a warning, and the rank is no longer watched.
class WatchThread {
 public:
  /// The time limit of `end_job`. The other watcher judges only if ranks remain after it.
  static constexpr double most_seconds_to_end = 4;

  WatchThread(WatchPlan plan, const ProgressRecord& progress, std::function<void(const std::string&)> end_job);
  WatchThread(const WatchThread&) = delete;
  WatchThread& operator=(const WatchThread&) = delete;
  /// Sends a farewell message.
  ~WatchThread();

 private:
  void run();
  void watch();
  void wait_for_messages();
  bool has_lost_rank() const;
  void record_message(int rank, const WatchMessage& message);
  void add_elapsed_time();
  void send_to_all(WatchMessage::Kind kind);
  void find_stopped_on_own_host();
  bool another_rank_ends_job();
  bool may_judge();
  bool hears_no_watcher() const;
  std::string verdict_text();
  WatchMessage message(WatchMessage::Kind kind) const;
  WatchedRank& own() { return plan_.ranks[static_cast<std::size_t>(plan_.rank)]; }

  WatchPlan plan_;
  const ProgressRecord& progress_;
  std::function<void(const std::string&)> end_job_;
  double period_;        // seconds between messages
  double passed_ = 0;    // seconds, in the last period
  double deferred_ = 0;  // seconds for which this watcher has waited for the first one's verdict
  double ending_ = 0;    // seconds that another rank still has to end the job
  Socket wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace glinpack
