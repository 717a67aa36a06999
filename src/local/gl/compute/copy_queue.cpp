#include "gl/compute/copy_queue.hpp"

#include <utility>

namespace glinpack::gl {

CopyQueue::Copier::Copier(const Context& kernels)
    : context(Context::create_sharing(kernels)),
      fences(context, number),
      clock(context, own_timeline, fences,
            context->device().software ? OperationClock::Source::host : OperationClock::Source::device) {}

CopyQueue::Copied CopyQueue::Copier::copy(GLsync kernels, GLuint from, GLuint to, const Interval& interval,
                                          std::int64_t first) {
  if (kernels != nullptr) glWaitSync(kernels, 0, GL_TIMEOUT_IGNORED);
  clock.start(interval);
  glCopyNamedBufferSubData(from, to, first, first, interval.bytes);
  clock.finish();
  fences.poll();
  fences.note_commands();
  const Fence fence = fences.take();
  glFlush();  // the wait is in another context
  return {fence, fences.latest()};
}

std::vector<Interval> CopyQueue::Copier::take_intervals(const Timeline& timeline) {
  clock.collect();
  context->throw_gl_error("a copy between host and device failed");
  std::vector<Interval> intervals = own_timeline.intervals();
  const double later = timeline.now() - own_timeline.now();
  for (Interval& interval : intervals) {
    interval.start += later;
    interval.end += later;
  }
  own_timeline.restart();
  return intervals;
}

CopyQueue::CopyQueue(std::shared_ptr<Context> context, Timeline& timeline)
    : kernels_(std::move(context)),
      timeline_(timeline),
      queue_([this] { return std::make_shared<Copier>(*kernels_); }) {}

CopyQueue::Copied CopyQueue::copy(GLsync kernels, GLuint from, GLuint to, std::int64_t first, std::int64_t bytes) {
  const Interval interval{0, 0, 0, bytes, timeline_.pass(), timeline_.role(), Lane::copy, Phase::transfer};
  return on_thread([=](Copier& copier) { return copier.copy(kernels, from, to, interval, first); });
}

void CopyQueue::upload(GLuint from, GLuint to, std::int64_t first, std::int64_t bytes) {
  glWaitSync(copy(nullptr, from, to, first, bytes).sync, 0, GL_TIMEOUT_IGNORED);
}

Fence CopyQueue::download(GLuint from, GLuint to, std::int64_t first, std::int64_t bytes) {
  awaited_.emplace_back(kernels_);
  glFlush();  // as in Copier::copy()
  return copy(awaited_.back().id(), from, to, first, bytes).fence;
}

void CopyQueue::wait(Fence fence) {
  on_thread([fence](Copier& copier) {
    copier.fences.wait(fence);
    copier.context->throw_gl_error("a copy between host and device failed");
    return true;
  });
  awaited_.clear();
}

void CopyQueue::hold_kernels() {
  const GLsync last = on_thread([](Copier& copier) { return copier.fences.latest(); });
  if (last != nullptr) glWaitSync(last, 0, GL_TIMEOUT_IGNORED);
}

void CopyQueue::collect() {
  for (const Interval& copy : on_thread([this](Copier& copier) { return copier.take_intervals(timeline_); })) {
    timeline_.add(copy);
  }
}

}  // namespace glinpack::gl
