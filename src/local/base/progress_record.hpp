// The progress of a rank: its main thread writes it, its watchdog's thread reads it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/non_copyable.hpp"

namespace glinpack {

enum class Phase : std::uint8_t;  // timeline.hpp

/// What a rank waits for: nothing, a message from or to another rank, or a collective operation over its process row,
/// its process column or all ranks. `unnamed`: an unknown message.
enum class Awaited : std::uint8_t { nothing, from, to, row, column, all, unnamed };

/// A snapshot of a rank's activity.
struct ProgressSnapshot {
  std::uint64_t steps = 0;  // kernels, transfers and messages begun or ended so far: more, and there was progress
  std::int32_t pass = -1;   // -1 outside the passes
  std::int32_t peer = -1;   // `from` and `to`: the rank of MPI_COMM_WORLD
  Phase phase{};            // of the kernel, transfer or message begun last
  Awaited awaited = Awaited::nothing;
  bool watched = false;  // within a section that is to make progress: a run, not the writing of its report
};

/// Written by one thread and read by any, at any time, without a lock. Memory order is relaxed: a reader may see values
/// out of order for a moment, which is short against a watchdog's limit.
class ProgressRecord {
 public:
  /// A kernel, transfer or message ended. By any thread.
  void step() { steps_.fetch_add(1, std::memory_order_relaxed); }
  void enter(Phase phase) {
    phase_.store(phase, std::memory_order_relaxed);
    step();
  }
  void enter_pass(std::int32_t pass) { pass_.store(pass, std::memory_order_relaxed); }
  void await(Awaited awaited, std::int32_t peer) {
    peer_.store(peer, std::memory_order_relaxed);
    awaited_.store(awaited, std::memory_order_relaxed);
    step();
  }
  void watch(bool watched) {
    watched_.store(watched, std::memory_order_relaxed);
    step();
  }

  ProgressSnapshot snapshot() const {
    return {.steps = steps_.load(std::memory_order_relaxed),
            .pass = pass_.load(std::memory_order_relaxed),
            .peer = peer_.load(std::memory_order_relaxed),
            .phase = phase_.load(std::memory_order_relaxed),
            .awaited = awaited_.load(std::memory_order_relaxed),
            .watched = watched_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<std::int32_t> pass_{-1};
  std::atomic<std::int32_t> peer_{-1};
  std::atomic<Phase> phase_{};
  std::atomic<Awaited> awaited_{Awaited::nothing};
  std::atomic<bool> watched_{false};
};

/// This process's own.
inline ProgressRecord& own_progress() {
  static ProgressRecord record;
  return record;
}

/// A section of the program in which no progress is a fault.
class WatchedSection : NonCopyable {
 public:
  explicit WatchedSection(ProgressRecord& record = own_progress()) : record_(record) { record_.watch(true); }
  ~WatchedSection() { record_.watch(false); }

 private:
  ProgressRecord& record_;
};

}  // namespace glinpack
