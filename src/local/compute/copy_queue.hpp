// Copies between host and device that overlap kernels. A GPU has copy engines, but executes the commands of a thread in
// order, even if the thread uses several contexts.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/operation_queue.hpp"
#include "base/timeline.hpp"
#include "device/command_stream.hpp"

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
  CopyQueue(std::shared_ptr<ComputeDevice> device, Timeline& timeline)
      : kernels_(std::move(device)),
        timeline_(timeline),
        queue_([this] { return std::make_shared<Copier>(*kernels_); }) {}

  /// Copies bytes first ... first + bytes - 1 of `from` to the same position in `to`, immediately. Later kernels wait
  /// for the copy.
  void upload(BufferId from, BufferId to, std::int64_t first, std::int64_t bytes) {
    kernels_->wait_for(*copy(nullptr, from, to, first, bytes).sync);
  }
  /// The same, after all kernels launched so far. Later kernels do not wait.
  Fence download(BufferId from, BufferId to, std::int64_t first, std::int64_t bytes) {
    awaited_.push_back(kernels_->insert_sync());
    kernels_->flush();  // as in Copier::copy()
    return copy(awaited_.back().get(), from, to, first, bytes).fence;
  }

  /// Returns when the copies before the fence are done. Throws std::runtime_error if the driver has rejected one.
  void wait(Fence fence) {
    on_thread([fence](Copier& copier) {
      copier.fences.wait(fence);
      copier.device->throw_error("a copy between host and device failed");
      return true;
    });
    awaited_.clear();
  }
  /// Kernels launched from now on wait for all copies so far.
  void hold_kernels() {
    const DeviceSync* const last = on_thread([](Copier& copier) { return copier.fences.latest(); });
    if (last != nullptr) kernels_->wait_for(*last);
  }
  /// Records the copies on the timeline. Throws std::runtime_error if the driver has rejected one.
  void collect() {
    for (const Interval& copy : on_thread([this](Copier& copier) { return copier.take_intervals(timeline_); })) {
      timeline_.add(copy);
    }
  }

 private:
  struct Copied {
    Fence fence;
    const DeviceSync* sync;
  };
  /// The data of the thread.
  struct Copier {
    explicit Copier(const ComputeDevice& kernels)
        : device(kernels.open_queue(QueueUse::copies)),
          fences(device, number),
          clock(device, own_timeline, fences,
                device->description().software ? OperationClock::Source::host : OperationClock::Source::device) {}

    /// Starts after `kernels`, unless that is null.
    Copied copy(const DeviceSync* kernels, BufferId from, BufferId to, const Interval& interval, std::int64_t first) {
      if (kernels != nullptr) device->wait_for(*kernels);
      clock.start(interval);
      device->copy(from, first, to, first, interval.bytes);
      clock.finish();
      fences.poll();
      fences.note_commands();
      const Fence fence = fences.take();
      device->flush();  // the wait is in another queue
      return {fence, fences.latest()};
    }
    /// The copies since the last call, with the times of `timeline`.
    std::vector<Interval> take_intervals(const Timeline& timeline) {
      clock.collect();
      device->throw_error("a copy between host and device failed");
      std::vector<Interval> intervals = own_timeline.intervals();
      const double later = timeline.now() - own_timeline.now();
      for (Interval& interval : intervals) {
        interval.start += later;
        interval.end += later;
      }
      own_timeline.restart();
      return intervals;
    }

    std::shared_ptr<ComputeDevice> device;
    Fences fences;
    Timeline own_timeline;  // of this thread; the backend's timeline belongs to another one
    OperationClock clock;
  };
  /// Runs work(copier) on the thread, and returns its result.
  template <class Work>
  std::invoke_result_t<Work, Copier&> on_thread(Work work) {
    return *queue_.take(queue_.enqueue(std::move(work)));
  }
  Copied copy(const DeviceSync* kernels, BufferId from, BufferId to, std::int64_t first, std::int64_t bytes) {
    const Interval interval{0, 0, 0, bytes, timeline_.pass(), timeline_.role(), Lane::copy, Phase::transfer};
    return on_thread([=](Copier& copier) { return copier.copy(kernels, from, to, interval, first); });
  }

  std::shared_ptr<ComputeDevice> kernels_;
  Timeline& timeline_;
  std::deque<std::unique_ptr<DeviceSync>> awaited_;  // by copies that the host has not waited for
  OperationQueue<Copier> queue_;
};

}  // namespace glinpack::compute
