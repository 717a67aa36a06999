// Finds passes in which a GPU was throttled and slower than in the neighbouring passes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/run.hpp"

namespace glinpack::app {

/// A GPU's kernels in one pass.
struct PassKernels {
  std::int32_t pass = 0;
  double begin = 0;    // of the first kernel, seconds of the run
  double end = 0;      // of the last kernel
  double seconds = 0;  // sum over the kernels
  double flops = 0;
};

/// Passes in which one rank's device did arithmetic, in order.
std::vector<PassKernels> kernels_by_pass(std::span<const Interval> intervals);

/// A range of consecutive passes.
struct SlowPasses {
  std::int32_t first = 0;
  std::int32_t last = 0;
  double factor = 1;           // time per operation, relative to the neighbouring passes
  std::uint32_t throttle = 0;  // ThrottleReason, of slowing_throttle
};

/// Finds passes in which heat or power throttled the GPU and an operation took at least 10 per cent longer. The
/// baseline is the nearest unthrottled passes before and after. A sample gives the state of the passes that contain it;
/// other passes use the nearest sample. Ignores passes with less than half of the operations of their neighbours, since
/// small kernels are slower. A GPU that was always throttled has no baseline.
std::vector<SlowPasses> slow_throttled_passes(std::span<const PassKernels> passes,
                                              std::span<const sensors::Sample> samples);

/// Likewise for a sensor of a rank.
std::vector<SlowPasses> slow_throttled_passes(const RankRecord& rank, const SensorRecord& sensor);

/// "hardware thermal slowdown, power brake".
std::string reasons_text(std::uint32_t throttle);
/// The reasons in such a text.
std::uint32_t reasons_from_text(std::string_view text);

}  // namespace glinpack::app
