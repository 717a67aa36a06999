// The watchdog of a job. If a rank makes no progress, it prints the state of all ranks and ends the job
// (docs/diagnosing.md).
#pragma once

#include <memory>

#include "watch/watch_thread.hpp"

namespace glinpack {

inline constexpr int exit_watchdog = 5;

/// Watches all ranks of MPI_COMM_WORLD during its lifetime. If a rank makes no progress for the limit
/// (watch_judgement.hpp), it prints the known state of every rank to stderr. Then it ends the job by MPI_Abort with
/// exit_watchdog. Processes that remain some seconds later are killed.
class Watchdog {
 public:
  /// Collective over MPI_COMM_WORLD. `limit`: rank 0's counts; seconds, at least least_limit; null if it is 0. Throws
  /// AgreedError if a rank cannot reach the watchers. A rank that is stopped before the ranks have met ends the job,
  /// too: those that passed a limit need no other rank to find it.
  static std::unique_ptr<Watchdog> start(double limit);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  static constexpr double least_limit = 1;

 private:
  explicit Watchdog(double limit);

  std::unique_ptr<WatchThread> thread_;
};

/// The watchers: rank 0, and the first rank on another node, or rank 1 if there is none. `nodes`: as from nodes_of().
Watchers choose_watchers(std::span<const int> nodes);

}  // namespace glinpack
