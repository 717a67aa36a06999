// Puts the operations of a device on the timeline, in Lane::gpu unless told otherwise.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "local/gl/fences.hpp"
#include "local/gl/handle.hpp"
#include "local/timeline.hpp"

namespace glinpack::gl {

/// On a GPU an operation lies between two timestamps of the device, which are read when they are collected. Software
/// OpenGL has no such clock: there an operation is waited for at its end and timed on the host, or, where operations
/// are to go on by themselves, lasts until the host sees that a fence behind it has passed (it may have ended before).
class OperationClock {
 public:
  enum class Source { device, host, fence };
  OperationClock(std::shared_ptr<Context> context, Timeline& timeline, Fences& fences, Source source);

  /// Around the commands of an operation. The pass and role are those of the moment of start().
  void start(Phase phase, double flops, std::int64_t bytes);
  /// As interval says, but for its times.
  void start(const Interval& interval);
  void finish();
  /// Ends the operations whose fences have passed by now; Source::fence only.
  void observe();
  /// Reads the timestamps of all finished operations; waits for the device if they are not there yet.
  void collect();

 private:
  struct Pending {
    Interval interval;
    TimestampHandle start;
    TimestampHandle finish;
  };
  struct Unfinished {
    Interval interval;
    Fence fence;
  };
  TimestampHandle stamp();
  bool available(const Pending& pending) const;
  void collect_while_available();
  void collect_first(double offset);
  double device_clock_offset() const;

  std::shared_ptr<Context> context_;
  Timeline& timeline_;
  Fences& fences_;
  Source source_;
  Interval current_;
  TimestampHandle current_start_;
  std::deque<Pending> pending_;
  std::vector<TimestampHandle> free_stamps_;
  std::deque<Unfinished> unfinished_;
  double last_end_ = 0;  // of the operations that fences have ended
};

}  // namespace glinpack::gl
