#include "app/record/throttling.hpp"

#include <algorithm>
#include <map>

namespace glinpack::app {
namespace {

using sensors::Sample;

constexpr double least_factor = 1.1;
constexpr double least_share_of_flops = 0.5;
constexpr std::size_t fewest_neighbours = 3;
constexpr std::size_t most_neighbours = 16;

std::uint32_t slowing(const Sample& sample) {
  const std::uint32_t throttle = sample.reading.throttle;
  return (throttle & sensors::unknown_throttle) != 0 ? 0 : throttle & sensors::slowing_throttle;
}

/// The reason for throttling in a pass. `samples` must not be empty.
std::uint32_t throttle_in(const PassKernels& pass, std::span<const Sample> samples) {
  const auto earlier = [](const Sample& sample, double seconds) { return sample.seconds < seconds; };
  const auto begin = std::lower_bound(samples.begin(), samples.end(), pass.begin, earlier);
  const auto end = std::lower_bound(begin, samples.end(), pass.end, earlier);
  std::uint32_t throttle = 0;
  for (auto sample = begin; sample != end; ++sample) throttle |= slowing(*sample);
  if (begin != end) return throttle;
  if (begin == samples.begin()) return slowing(*begin);
  if (begin == samples.end()) return slowing(*(begin - 1));
  const double middle = (pass.begin + pass.end) / 2;
  return slowing(middle - (begin - 1)->seconds < begin->seconds - middle ? *(begin - 1) : *begin);
}

/// Sums over passes.
struct Work {
  double seconds = 0;
  double flops = 0;
  std::size_t passes = 0;

  void add(const PassKernels& pass) {
    seconds += pass.seconds;
    flops += pass.flops;
    ++passes;
  }
  double slowness() const { return seconds / flops; }
};

/// Up to `most` unthrottled passes, starting at `place` in steps of `step`.
template <class Throttle>
Work neighbours(std::span<const PassKernels> passes, const Throttle& throttle, std::ptrdiff_t place,
                std::ptrdiff_t step, std::size_t most) {
  Work work;
  for (; place >= 0 && place < std::ssize(passes) && work.passes < most; place += step) {
    if (throttle[static_cast<std::size_t>(place)] == 0) work.add(passes[static_cast<std::size_t>(place)]);
  }
  return work;
}

}  // namespace

std::vector<PassKernels> kernels_by_pass(std::span<const Interval> intervals) {
  std::map<std::int32_t, PassKernels> passes;
  for (const Interval& interval : intervals) {
    if (interval.lane != Lane::gpu || interval.pass < 0 || interval.flops <= 0 || interval.seconds() <= 0) continue;
    const auto [found, is_new] = passes.try_emplace(
        interval.pass, PassKernels{.pass = interval.pass, .begin = interval.start, .end = interval.end});
    PassKernels& pass = found->second;
    pass.begin = std::min(pass.begin, interval.start);
    pass.end = std::max(pass.end, interval.end);
    pass.seconds += interval.seconds();
    pass.flops += interval.flops;
  }
  std::vector<PassKernels> list;
  for (const auto& [number, pass] : passes) list.push_back(pass);
  return list;
}

std::vector<SlowPasses> slow_throttled_passes(std::span<const PassKernels> passes, std::span<const Sample> samples) {
  if (samples.empty()) return {};
  std::vector<std::uint32_t> throttle;
  for (const PassKernels& pass : passes) throttle.push_back(throttle_in(pass, samples));

  std::vector<SlowPasses> found;
  for (std::size_t first = 0; first < passes.size();) {
    std::size_t end = first;
    while (end < passes.size() && throttle[end] != 0) ++end;
    if (end == first) {
      ++first;
      continue;
    }
    const std::size_t most = std::clamp(end - first, fewest_neighbours, most_neighbours);
    const Work before = neighbours(passes, throttle, static_cast<std::ptrdiff_t>(first) - 1, -1, most);
    const Work after = neighbours(passes, throttle, static_cast<std::ptrdiff_t>(end), 1, most);
    const double sides = (before.passes > 0 ? 1 : 0) + (after.passes > 0 ? 1 : 0);
    const double usual_flops = (before.flops + after.flops) / static_cast<double>(before.passes + after.passes);
    Work here;
    SlowPasses slow;
    for (std::size_t i = first; i < end && sides > 0; ++i) {
      if (passes[i].flops < least_share_of_flops * usual_flops) continue;
      if (here.passes == 0) slow.first = passes[i].pass;
      here.add(passes[i]);
      slow.last = passes[i].pass;
      slow.throttle |= throttle[i];
    }
    first = end;
    if (here.passes == 0) continue;
    const double expected =
        ((before.passes > 0 ? before.slowness() : 0) + (after.passes > 0 ? after.slowness() : 0)) / sides;
    slow.factor = here.slowness() / expected;
    if (slow.factor >= least_factor) found.push_back(slow);
  }
  return found;
}

std::vector<SlowPasses> slow_throttled_passes(const RankRecord& rank, const SensorRecord& sensor) {
  if (sensor.info.kind != sensors::Kind::gpu) return {};
  return slow_throttled_passes(kernels_by_pass(rank.intervals), sensor.samples);
}

std::string reasons_text(std::uint32_t throttle) {
  std::string text;
  for (const sensors::ThrottleReason reason : sensors::reasons_in(throttle)) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(reason));
  }
  return text;
}

std::uint32_t reasons_from_text(std::string_view text) {
  const std::string list = ", " + std::string(text) + ",";
  std::uint32_t throttle = 0;
  for (const sensors::ThrottleReason reason : sensors::reasons_in(~sensors::unknown_throttle)) {
    if (list.find(", " + std::string(name_of(reason)) + ",") != std::string::npos) throttle |= reason;
  }
  return throttle;
}

}  // namespace glinpack::app
