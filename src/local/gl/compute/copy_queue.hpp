// Copies between host and device that overlap kernels. A GPU has copy engines, but executes the commands of a thread in
// order, even if the thread uses several contexts.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/timeline.hpp"
#include "gl/command_stream.hpp"
#include "solvers/queue/operation_queue.hpp"

namespace glinpack::gl {

/// A second context, on a thread of its own, that only copies. The thread of the kernels' context, which is current,
/// calls its functions; they return once the device has the commands. An NVIDIA driver (580) waits for all commands
/// that the other context has when glWaitSync is called, not only for those before its fence. Copies are recorded in
/// Lane::copy of the timeline.
class CopyQueue {
 public:
  /// The queue number of the fences that copies return.
  static constexpr std::uint32_t number = 1;

  /// `context`: that of the kernels. Throws std::runtime_error if the device has no second context.
  CopyQueue(std::shared_ptr<Context> context, Timeline& timeline);

  /// Copies bytes first ... first + bytes - 1 of `from` to the same position in `to`, immediately. Later kernels wait
  /// for the copy.
  void upload(GLuint from, GLuint to, std::int64_t first, std::int64_t bytes);
  /// The same, after all kernels launched so far. Later kernels do not wait.
  Fence download(GLuint from, GLuint to, std::int64_t first, std::int64_t bytes);

  /// Returns when the copies before the fence are done. Throws std::runtime_error if the driver has rejected one.
  void wait(Fence fence);
  /// Kernels launched from now on wait for all copies so far.
  void hold_kernels();
  /// Records the copies on the timeline. Throws std::runtime_error if the driver has rejected one.
  void collect();

 private:
  struct Copied {
    Fence fence;
    GLsync sync;
  };
  /// The data of the thread.
  struct Copier {
    explicit Copier(const Context& kernels);
    /// Starts after `kernels`, unless that is null.
    Copied copy(GLsync kernels, GLuint from, GLuint to, const Interval& interval, std::int64_t first);
    /// The copies since the last call, with the times of `timeline`.
    std::vector<Interval> take_intervals(const Timeline& timeline);

    std::shared_ptr<Context> context;
    Fences fences;
    Timeline own_timeline;  // of this thread; the backend's timeline belongs to another one
    OperationClock clock;
  };
  /// Runs work(copier) on the thread, and returns its result.
  template <class Work>
  auto on_thread(Work work) {
    return *queue_.take(queue_.enqueue(std::move(work)));
  }
  Copied copy(GLsync kernels, GLuint from, GLuint to, std::int64_t first, std::int64_t bytes);

  std::shared_ptr<Context> kernels_;
  Timeline& timeline_;
  std::deque<SyncHandle> awaited_;  // by copies that the host has not waited for
  OperationQueue<Copier> queue_;
};

}  // namespace glinpack::gl
