// Passes in which a GPU was slower than in those around them, and throttled: what explains a slow pass.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lu/run.hpp"

namespace glinpack::app {

/// A GPU's kernels in one pass.
struct PassKernels {
  std::int32_t pass = 0;
  double begin = 0;    // of the first, seconds of the run
  double end = 0;      // of the last
  double seconds = 0;  // in all
  double flops = 0;
};

/// Passes in which one rank's device did arithmetic, in their order.
std::vector<PassKernels> kernels_by_pass(std::span<const Interval> intervals);

/// Passes that follow one another.
struct SlowPasses {
  std::int32_t first = 0;
  std::int32_t last = 0;
  double factor = 1;           // their time for an operation, against the passes around them
  std::uint32_t throttle = 0;  // ThrottleReason, of slowing_throttle
};

/// Where a GPU was throttled by heat or power, and took at least a tenth longer for an operation than in the nearest
/// passes before and after in which it was not. A sample tells of the passes that it lies in; a pass without one has
/// the state of the sample nearest to it. Passes with less than half of the operations of those around them do not
/// count: small kernels are slow of themselves. A GPU that was throttled in all passes has nothing to compare with.
std::vector<SlowPasses> slow_throttled_passes(std::span<const PassKernels> passes,
                                              std::span<const sensors::Sample> samples);

/// The same for a sensor of a rank.
std::vector<SlowPasses> slow_throttled_passes(const RankRecord& rank, const SensorRecord& sensor);

/// "hardware thermal slowdown, power brake".
std::string reasons_text(std::uint32_t throttle);

}  // namespace glinpack::app
