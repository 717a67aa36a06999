// The thread of a rank that watches: it tells how far its rank has come, and where it is to, judges the job.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "global/watch_judgement.hpp"
#include "global/watch_socket.hpp"

namespace glinpack {

/// Which ranks judge the job: rank 0, and one more in case it is rank 0 that fails, or its host.
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
  std::vector<WatchedRank> ranks;                // of all, in order: hosts and processes
  std::vector<std::pair<int, WatchLink>> links;  // with the watchers; of a watcher with all ranks
};

/// Runs from its construction on. `end_job` is called on the thread, once, with what is to be told, when the other
/// ranks have been told that it is; it may return, in tests. What is thrown on the thread is said on stderr, and the
/// rank is watched no more.
class WatchThread {
 public:
  /// `end_job` may take so long. Meanwhile nobody else judges; where some are left then, they do.
  static constexpr double most_seconds_to_end = 4;

  WatchThread(WatchPlan plan, const ProgressRecord& progress, std::function<void(const std::string&)> end_job);
  WatchThread(const WatchThread&) = delete;
  WatchThread& operator=(const WatchThread&) = delete;
  /// Says farewell.
  ~WatchThread();

 private:
  void run();
  void watch();
  void wait_for_messages();
  bool has_lost_one() const;
  void take(int rank, const WatchMessage& message);
  void let_time_pass();
  void tell(WatchMessage::Kind kind);
  void look_at_own_host();
  bool leaves_it_to_another();
  bool may_judge();
  bool left_alone() const;
  std::string judged();
  WatchMessage message(WatchMessage::Kind kind) const;
  WatchedRank& own() { return plan_.ranks[static_cast<std::size_t>(plan_.rank)]; }

  WatchPlan plan_;
  const ProgressRecord& progress_;
  std::function<void(const std::string&)> end_job_;
  double period_;        // seconds between messages
  double passed_ = 0;    // seconds, in the last period
  double deferred_ = 0;  // seconds for which the first watcher has been left to judge
  double ending_ = 0;    // seconds for which another rank still has the time to end the job
  Socket wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace glinpack
