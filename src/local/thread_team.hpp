// Threads that are kept between the calls that use them together, and the barrier that they meet at.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace glinpack {

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
class ThreadTeam {
 public:
  explicit ThreadTeam(int members);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
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
