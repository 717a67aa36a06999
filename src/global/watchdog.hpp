// The watchdog of a job: where some rank makes no progress, all ranks' last words, and an end (docs/watchdog.md).
#pragma once

#include <memory>

#include "global/watch_thread.hpp"

namespace glinpack {

inline constexpr int exit_watchdog = 5;

/// Watches all ranks of MPI_COMM_WORLD while it lives. Where some rank makes no progress for the limit
/// (watch_judgement.hpp), it prints to stderr what is known of every rank and ends the job by MPI_Abort with
/// exit_watchdog; a process that is still there some seconds later is killed.
class Watchdog {
 public:
  /// Collective over MPI_COMM_WORLD. `limit`: seconds, at least least_limit. Throws AgreedError where a rank cannot
  /// reach those that watch.
  explicit Watchdog(double limit);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  static constexpr double least_limit = 1;

 private:
  std::unique_ptr<WatchThread> thread_;
};

/// The ranks that judge: 0, and the first on another node, where there is one, else 1. `nodes`: as nodes_of() has them.
Watchers choose_watchers(std::span<const int> nodes);

}  // namespace glinpack
