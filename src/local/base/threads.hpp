// Threads for work on host memory that is not BLAS: a loop over a range in equal slices, and a pool of threads with a
// barrier.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/matrix_view.hpp"
#include "base/non_copyable.hpp"

namespace glinpack {

/// Calls body(begin, end) for `threads` adjoining slices of [0, count), at most one per `grain` items, and waits for
/// all. An exception of a slice is rethrown here.
template <class Body>
void parallel_for(int threads, Index count, Index grain, Body body) {
  const Index slices = std::clamp<Index>(count / std::max<Index>(1, grain), 1, std::max(1, threads));
  if (slices == 1) {
    body(Index{0}, count);
    return;
  }
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(slices));
  std::vector<std::thread> workers;
  const auto run_slice = [&](Index slice) {
    try {
      body(count * slice / slices, count * (slice + 1) / slices);
    } catch (...) {
      errors[static_cast<std::size_t>(slice)] = std::current_exception();
    }
  };
  for (Index slice = 0; slice < slices; ++slice) {
    try {
      workers.emplace_back(run_slice, slice);
    } catch (const std::system_error&) {
      run_slice(slice);  // no further thread can be started: slower, but correct
    }
  }
  for (std::thread& worker : workers) worker.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// Throws std::runtime_error that names the limit unless `count` more threads can run at the same time.
void check_that_threads_start(int count);

/// Spins a while, since members of a team meet every few microseconds; then yields, since a member may have no core to
/// run on.
template <class Condition>
void spin_until(Condition condition) {
  constexpr int spins = 4000;
  for (int tries = 0; !condition(); ++tries) {
    if (tries > spins) std::this_thread::yield();
  }
}

/// For all threads of a team.
class SpinBarrier {
 public:
  explicit SpinBarrier(int members) : members_(members) {}

  void arrive_and_wait() {
    const unsigned mine = generation_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == members_ - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      generation_.store(mine + 1, std::memory_order_release);
      return;
    }
    spin_until([&] { return generation_.load(std::memory_order_acquire) != mine; });
  }

 private:
  int members_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<unsigned> generation_{0};
};

/// The calling thread is member 0; the others sleep between runs.
class ThreadTeam : NonCopyable {
 public:
  explicit ThreadTeam(int members);
  ~ThreadTeam();

  int members() const { return static_cast<int>(workers_.size()) + 1; }
  /// body(member) on every member at once; returns when all are done. body must not throw.
  void run(const std::function<void(int)>& body);

 private:
  void work(int member);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable started_;
  std::condition_variable finished_;
  const std::function<void(int)>* body_ = nullptr;
  unsigned runs_ = 0;
  int working_ = 0;
  bool stopping_ = false;
};

}  // namespace glinpack
