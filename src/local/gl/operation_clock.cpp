#include "local/gl/operation_clock.hpp"

#include <algorithm>
#include <utility>

namespace glinpack::gl {
namespace {

constexpr std::size_t most_pending = 4096;  // operations; beyond it finished ones are read early

double seconds_of(const TimestampHandle& stamp) {
  GLuint64 nanoseconds = 0;
  glGetQueryObjectui64v(stamp.id(), GL_QUERY_RESULT, &nanoseconds);
  return static_cast<double>(nanoseconds) * 1e-9;
}

}  // namespace

OperationClock::OperationClock(std::shared_ptr<Context> context, Timeline& timeline, Fences& fences, Source source)
    : context_(std::move(context)), timeline_(timeline), fences_(fences), source_(source) {}

void OperationClock::start(Phase phase, double flops, std::int64_t bytes) {
  start({0, 0, flops, bytes, timeline_.pass(), timeline_.role(), Lane::gpu, phase});
}

void OperationClock::start(const Interval& interval) {
  fences_.work_given();
  timeline_.resume(interval.phase);
  current_ = interval;
  current_.start = timeline_.now();
  if (source_ == Source::device) current_start_ = stamp();
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
  if (pending_.size() > most_pending) collect_while_available();
}

void OperationClock::observe() {
  const double now = timeline_.now();
  if (now < last_end_) last_end_ = 0;  // the timeline was restarted
  while (!unfinished_.empty() && fences_.passed(unfinished_.front().fence)) {
    Interval interval = unfinished_.front().interval;
    unfinished_.pop_front();
    // one operation after the other: it began when the one before it had ended
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
  pending.interval.start = seconds_of(pending.start) + offset;
  pending.interval.end = seconds_of(pending.finish) + offset;
  timeline_.add(pending.interval);
  free_stamps_.push_back(std::move(pending.start));
  free_stamps_.push_back(std::move(pending.finish));
}

TimestampHandle OperationClock::stamp() {
  TimestampHandle stamp;
  if (free_stamps_.empty()) {
    stamp = TimestampHandle(context_);
  } else {
    stamp = std::move(free_stamps_.back());
    free_stamps_.pop_back();
  }
  glQueryCounter(stamp.id(), GL_TIMESTAMP);
  return stamp;
}

bool OperationClock::available(const Pending& pending) const {
  GLint available = GL_FALSE;
  glGetQueryObjectiv(pending.finish.id(), GL_QUERY_RESULT_AVAILABLE, &available);
  return available == GL_TRUE;
}

double OperationClock::device_clock_offset() const {
  GLint64 nanoseconds = 0;
  glGetInteger64v(GL_TIMESTAMP, &nanoseconds);
  return timeline_.now() - static_cast<double>(nanoseconds) * 1e-9;
}

}  // namespace glinpack::gl
