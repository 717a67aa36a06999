// Copies between host and device that run beside kernels: a GPU has engines of its own for them, but takes the commands
// of a thread one after the other, those of several contexts, too.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "local/gl/fences.hpp"
#include "local/gl/operation_clock.hpp"
#include "local/operation_queue.hpp"
#include "local/timeline.hpp"

namespace glinpack::gl {

/// A second context, on a thread of its own, that only copies. Its functions are called by the thread of the kernels'
/// context, which is current, and return once the device has the commands: an NVIDIA driver (580) waits for all that
/// the other context has been given by the time glWaitSync is called, not for what was before its fence alone. Copies
/// are in Lane::copy of the timeline.
class CopyQueue {
 public:
  /// Of the fences that copies return.
  static constexpr std::uint32_t number = 1;

  /// `context`: that of the kernels. Throws std::runtime_error where the device has no second one.
  CopyQueue(std::shared_ptr<Context> context, Timeline& timeline);

  /// Bytes first ... first + bytes - 1 of `from` to the same place in `to`: at once; kernels given later wait for it.
  void upload(GLuint from, GLuint to, std::int64_t first, std::int64_t bytes);
  /// The same, after the kernels given so far; those given later do not wait.
  Fence download(GLuint from, GLuint to, std::int64_t first, std::int64_t bytes);

  /// Returns when the copies before the fence are done. Throws std::runtime_error where the driver has refused one.
  void wait(Fence fence);
  /// The kernels given from now on wait for all copies given so far.
  void hold_kernels();
  /// Puts the copies on the timeline. Throws std::runtime_error where the driver has refused one.
  void collect();

 private:
  struct Copied {
    Fence fence;
    GLsync sync;
  };
  /// What belongs to the thread.
  struct Copier {
    explicit Copier(const Context& kernels);
    /// After `kernels`, where that is given.
    Copied copy(GLsync kernels, GLuint from, GLuint to, const Interval& interval, std::int64_t first);
    /// The copies since the last call, with the times of `timeline`.
    std::vector<Interval> take_intervals(const Timeline& timeline);

    std::shared_ptr<Context> context;
    Fences fences;
    Timeline own_timeline;  // the other one is not this thread's
    OperationClock clock;
  };
  /// work(copier) on the thread; what it returns.
  template <class Work>
  auto on_thread(Work work) {
    return *queue_.take(queue_.enqueue(std::move(work)));
  }
  Copied copy(GLsync kernels, GLuint from, GLuint to, std::int64_t first, std::int64_t bytes);

  std::shared_ptr<Context> kernels_;
  Timeline& timeline_;
  std::deque<SyncHandle> awaited_;  // by copies that nobody has waited for
  OperationQueue<Copier> queue_;
};

}  // namespace glinpack::gl
