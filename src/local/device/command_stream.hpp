// The stream of commands of a compute device: fences in it, which the host waits for, and the times of the operations,
// which the timeline records.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backend/device_memory.hpp"
#include "base/timeline.hpp"
#include "device/compute_device.hpp"

namespace glinpack {

/// Fence ids rise with every fence taken; a fence is passed when all commands before it are done.
class Fences {
 public:
  /// Fences of the device's commands, with the backend's queue number `queue`.
  explicit Fences(std::shared_ptr<ComputeDevice> device, std::uint32_t queue = 0)
      : device_(std::move(device)), queue_(queue) {}

  /// Commands were issued after the last fence.
  void note_commands() { idle_ = false; }
  /// A fence after all commands so far.
  Fence take();
  bool passed(Fence fence) const { return fence.id <= passed_; }
  void wait(Fence fence);
  /// Updates which fences have passed, without waiting.
  void poll();
  /// Waits for all commands so far.
  void wait_idle() { wait(take()); }
  /// Waits for all commands so far, noted or not. Throws std::runtime_error if one failed.
  void finish() {
    note_commands();
    wait_idle();
    device_->throw_error("the device reports a failed operation");
  }
  /// The sync object of the latest fence, until the next call of another function; null if it has passed.
  const DeviceSync* latest() const { return pending_.empty() ? nullptr : pending_.back().sync.get(); }
  /// Whether all fences had passed at the last poll() or wait().
  bool all_passed() const { return passed_ == last_; }

 private:
  struct Pending {
    std::uint64_t id;
    std::unique_ptr<DeviceSync> sync;
  };
  /// Marks this fence and all earlier ones as passed.
  void pass(std::deque<Pending>::iterator fence);

  std::shared_ptr<ComputeDevice> device_;
  std::uint32_t queue_;
  std::deque<Pending> pending_;
  std::unique_ptr<DeviceSync> last_passed_;
  std::uint64_t last_ = 0;
  std::uint64_t passed_ = 0;
  bool idle_ = true;  // no command since fence `last_`
};

/// On a GPU, two timestamps of the device enclose an operation; they are read when they are collected. A software
/// device has no such clock. There, the host waits for each operation and times it. For asynchronous operations, it
/// uses the time when it sees the fence of an operation passed, which may be after its end.
class OperationClock {
 public:
  enum class Source { device, host, fence };
  OperationClock(std::shared_ptr<ComputeDevice> device, Timeline& timeline, Fences& fences, Source source);

  /// start() and finish() enclose the commands of an operation. The pass and role are those at start().
  void start(Phase phase, double flops, std::int64_t bytes);
  /// With the attributes of `interval`, except its times.
  void start(const Interval& interval);
  void finish();
  /// Starts an operation during which another one may run. No timestamp can be taken between the two: NVIDIA's driver
  /// waits for the first one then, and at a fence or a flush, too. Either finish_alone() ends it. Or finish_other()
  /// ends the other one, and end_overlapped() ends this one later, when the host sees its end.
  void start_overlapped(Phase phase, double flops);
  void finish_alone();
  void finish_other(Phase phase, double flops);
  void end_overlapped();  // does nothing after finish_alone()
  /// Ends the operations whose fences have passed by now; Source::fence only.
  void observe();
  /// Reads the timestamps of all finished operations; waits for the device if they are not yet available.
  void collect();

 private:
  struct Pending {
    Interval interval;
    std::unique_ptr<DeviceStamp> start;
    std::unique_ptr<DeviceStamp> finish;  // none if the interval has its end
  };
  struct Unfinished {
    Interval interval;
    Fence fence;
  };
  std::unique_ptr<DeviceStamp> stamp();
  bool available(const Pending& pending) const;
  void collect_while_available();
  void collect_first(double offset);
  double device_clock_offset() const;

  std::shared_ptr<ComputeDevice> device_;
  Timeline& timeline_;
  Fences& fences_;
  Source source_;
  Interval current_;
  std::unique_ptr<DeviceStamp> current_start_;
  std::optional<Pending> overlapped_;
  std::deque<Pending> pending_;
  std::vector<std::unique_ptr<DeviceStamp>> free_stamps_;
  std::deque<Unfinished> unfinished_;
  double last_end_ = 0;  // of the operations that fences have ended
};

}  // namespace glinpack
