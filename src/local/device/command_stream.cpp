#include "device/command_stream.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace glinpack {

Fence Fences::take() {
  if (!idle_) pending_.push_back({++last_, device_->insert_sync()});
  idle_ = true;
  return {last_, queue_};
}

void Fences::wait(Fence fence) {
  if (passed(fence)) return;
  auto awaited = pending_.begin();  // the latest one up to `fence`: it implies the earlier ones
  while (awaited + 1 != pending_.end() && (awaited + 1)->id <= fence.id) ++awaited;
  awaited->sync->wait();
  pass(awaited);
}

void Fences::poll() {
  while (!pending_.empty() && pending_.front().sync->has_passed()) pass(pending_.begin());
}

void Fences::pass(std::deque<Pending>::iterator fence) {
  passed_ = fence->id;
  // Mesa's llvmpipe signals a fence shortly before its own thread releases it. Deleted in between, it is written to
  // after its memory is freed. So a passed fence is kept until the next one passes.
  last_passed_ = std::move(fence->sync);
  pending_.erase(pending_.begin(), fence + 1);
}

namespace {

constexpr std::size_t max_pending = 4096;  // operations; above it, finished ones are read early

double seconds_of(const DeviceStamp& stamp) { return static_cast<double>(stamp.nanoseconds()) * 1e-9; }

}  // namespace

OperationClock::OperationClock(std::shared_ptr<ComputeDevice> device, Timeline& timeline, Fences& fences, Source source)
    : device_(std::move(device)), timeline_(timeline), fences_(fences), source_(source) {}

void OperationClock::start(Phase phase, double flops, std::int64_t bytes) {
  start({0, 0, flops, bytes, timeline_.pass(), timeline_.role(), Lane::gpu, timeline_.phase_of(phase)});
}

void OperationClock::start(const Interval& interval) {
  fences_.note_commands();
  timeline_.resume(interval.phase);
  current_ = interval;
  current_.start = timeline_.now();
  if (source_ == Source::device) current_start_ = stamp();
}

void OperationClock::start_overlapped(Phase phase, double flops) {
  start(phase, flops, 0);
  overlapped_ = Pending{current_, {}, {}};
  if (source_ == Source::device) overlapped_->start = stamp();
}

void OperationClock::finish_alone() {
  if (source_ == Source::device) free_stamps_.push_back(std::move(overlapped_->start));
  overlapped_.reset();
  finish();
}

void OperationClock::finish_other(Phase phase, double flops) {
  current_.phase = phase;
  current_.flops = flops;
  finish();
}

void OperationClock::end_overlapped() {
  if (!overlapped_) return;
  overlapped_->interval.end = timeline_.now();
  if (source_ == Source::device) {
    pending_.push_back(std::move(*overlapped_));
  } else {
    timeline_.add(overlapped_->interval);
  }
  overlapped_.reset();
}

void OperationClock::finish() {
  if (source_ == Source::host) {
    fences_.wait_idle();
    current_.end = timeline_.now();
    timeline_.add(current_);
    return;
  }
  if (source_ == Source::fence) {
    unfinished_.push_back({current_, fences_.take()});
    fences_.poll();
    observe();
    return;
  }
  pending_.push_back({current_, std::move(current_start_), stamp()});
  current_start_ = {};
  if (pending_.size() > max_pending) collect_while_available();
}

void OperationClock::observe() {
  const double now = timeline_.now();
  if (now < last_end_) last_end_ = 0;  // the timeline was restarted
  while (!unfinished_.empty() && fences_.passed(unfinished_.front().fence)) {
    Interval interval = unfinished_.front().interval;
    unfinished_.pop_front();
    // operations run one after the other: each starts at the end of the previous one
    interval.start = std::max(interval.start, last_end_);
    interval.end = last_end_ = now;
    timeline_.add(interval);
  }
}

void OperationClock::collect() {
  if (source_ == Source::fence) {
    fences_.wait_idle();
    observe();
  }
  const double offset = pending_.empty() ? 0 : device_clock_offset();
  while (!pending_.empty()) collect_first(offset);
}

void OperationClock::collect_while_available() {
  const double offset = device_clock_offset();
  while (!pending_.empty() && available(pending_.front())) collect_first(offset);
}

void OperationClock::collect_first(double offset) {
  Pending pending = std::move(pending_.front());
  pending_.pop_front();
  pending.interval.start = seconds_of(*pending.start) + offset;
  if (pending.finish) pending.interval.end = seconds_of(*pending.finish) + offset;
  timeline_.add(pending.interval);
  free_stamps_.push_back(std::move(pending.start));
  if (pending.finish) free_stamps_.push_back(std::move(pending.finish));
}

std::unique_ptr<DeviceStamp> OperationClock::stamp() {
  std::unique_ptr<DeviceStamp> stamp;
  if (free_stamps_.empty()) {
    stamp = device_->make_stamp();
  } else {
    stamp = std::move(free_stamps_.back());
    free_stamps_.pop_back();
  }
  stamp->record();
  return stamp;
}

bool OperationClock::available(const Pending& pending) const {
  return (pending.finish ? pending.finish : pending.start)->is_available();
}

// The system may stop this thread between two readings of clocks: of several pairs the closest one counts.
double OperationClock::device_clock_offset() const {
  constexpr int max_readings = 20;
  constexpr double close = 50e-6;  // seconds
  double offset = 0;
  double distance = std::numeric_limits<double>::infinity();
  for (int reading = 0; reading < max_readings && distance > close; ++reading) {
    const double before = timeline_.now();
    const std::int64_t nanoseconds = device_->nanoseconds();
    const double after = timeline_.now();
    if (after - before >= distance) continue;
    distance = after - before;
    offset = (before + after) / 2 - static_cast<double>(nanoseconds) * 1e-9;
  }
  return offset;
}

}  // namespace glinpack
