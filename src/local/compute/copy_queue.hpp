// Copies between host and device that overlap kernels. A GPU has copy engines, but executes the commands of a thread in
// order, even if the thread uses several contexts.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/timeline.hpp"
#include "device/command_stream.hpp"
#include "solvers/queue/operation_queue.hpp"

namespace glinpack::compute {

/// A second queue of the device, on a thread of its own, that only copies. The thread of the kernels' queue, which is
/// current, calls its functions; they return once the device has the commands. NVIDIA's OpenGL driver (580) waits for
/// all commands that the other queue has when wait_for() is called, not only for those before its sync. Copies are
/// recorded in Lane::copy of the timeline.
class CopyQueue {
 public:
  /// The queue number of the fences that copies return.
  static constexpr std::uint32_t number = 1;

  /// `device`: that of the kernels. Throws std::runtime_error if it has no second queue.
  CopyQueue(std::shared_ptr<ComputeDevice> device, Timeline& timeline);

  /// Copies bytes first ... first + bytes - 1 of `from` to the same position in `to`, immediately. Later kernels wait
  /// for the copy.
  void upload(BufferId from, BufferId to, std::int64_t first, std::int64_t bytes);
  /// The same, after all kernels launched so far. Later kernels do not wait.
  Fence download(BufferId from, BufferId to, std::int64_t first, std::int64_t bytes);

  /// Returns when the copies before the fence are done. Throws std::runtime_error if the driver has rejected one.
  void wait(Fence fence);
  /// Kernels launched from now on wait for all copies so far.
  void hold_kernels();
  /// Records the copies on the timeline. Throws std::runtime_error if the driver has rejected one.
  void collect();

 private:
  struct Copied {
    Fence fence;
    const DeviceSync* sync;
  };
  /// The data of the thread.
  struct Copier {
    explicit Copier(const ComputeDevice& kernels);
    /// Starts after `kernels`, unless that is null.
    Copied copy(const DeviceSync* kernels, BufferId from, BufferId to, const Interval& interval, std::int64_t first);
    /// The copies since the last call, with the times of `timeline`.
    std::vector<Interval> take_intervals(const Timeline& timeline);

    std::shared_ptr<ComputeDevice> device;
    Fences fences;
    Timeline own_timeline;  // of this thread; the backend's timeline belongs to another one
    OperationClock clock;
  };
  /// Runs work(copier) on the thread, and returns its result.
  template <class Work>
  auto on_thread(Work work) {
    return *queue_.take(queue_.enqueue(std::move(work)));
  }
  Copied copy(const DeviceSync* kernels, BufferId from, BufferId to, std::int64_t first, std::int64_t bytes);

  std::shared_ptr<ComputeDevice> kernels_;
  Timeline& timeline_;
  std::deque<std::unique_ptr<DeviceSync>> awaited_;  // by copies that the host has not waited for
  OperationQueue<Copier> queue_;
};

}  // namespace glinpack::compute
