#include "compute/copy_queue.hpp"

#include <utility>

namespace glinpack::compute {

CopyQueue::Copier::Copier(const ComputeDevice& kernels)
    : device(kernels.open_queue(QueueUse::copies)),
      fences(device, number),
      clock(device, own_timeline, fences,
            device->description().software ? OperationClock::Source::host : OperationClock::Source::device) {}

CopyQueue::Copied CopyQueue::Copier::copy(const DeviceSync* kernels, BufferId from, BufferId to,
                                          const Interval& interval, std::int64_t first) {
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

std::vector<Interval> CopyQueue::Copier::take_intervals(const Timeline& timeline) {
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

CopyQueue::CopyQueue(std::shared_ptr<ComputeDevice> device, Timeline& timeline)
    : kernels_(std::move(device)),
      timeline_(timeline),
      queue_([this] { return std::make_shared<Copier>(*kernels_); }) {}

CopyQueue::Copied CopyQueue::copy(const DeviceSync* kernels, BufferId from, BufferId to, std::int64_t first,
                                  std::int64_t bytes) {
  const Interval interval{0, 0, 0, bytes, timeline_.pass(), timeline_.role(), Lane::copy, Phase::transfer};
  return on_thread([=](Copier& copier) { return copier.copy(kernels, from, to, interval, first); });
}

void CopyQueue::upload(BufferId from, BufferId to, std::int64_t first, std::int64_t bytes) {
  kernels_->wait_for(*copy(nullptr, from, to, first, bytes).sync);
}

Fence CopyQueue::download(BufferId from, BufferId to, std::int64_t first, std::int64_t bytes) {
  awaited_.push_back(kernels_->insert_sync());
  kernels_->flush();  // as in Copier::copy()
  return copy(awaited_.back().get(), from, to, first, bytes).fence;
}

void CopyQueue::wait(Fence fence) {
  on_thread([fence](Copier& copier) {
    copier.fences.wait(fence);
    copier.device->throw_error("a copy between host and device failed");
    return true;
  });
  awaited_.clear();
}

void CopyQueue::hold_kernels() {
  const DeviceSync* const last = on_thread([](Copier& copier) { return copier.fences.latest(); });
  if (last != nullptr) kernels_->wait_for(*last);
}

void CopyQueue::collect() {
  for (const Interval& copy : on_thread([this](Copier& copier) { return copier.take_intervals(timeline_); })) {
    timeline_.add(copy);
  }
}

}  // namespace glinpack::compute
