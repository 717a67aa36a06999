// Something timed several times: median, least and most.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace glinpack {

struct MeasuringOptions {
  int repeat = 5;         // repetitions, at least 1
  double seconds = 0.25;  // that all repetitions take together, about; one round of the work may take longer
};

/// Seconds, or a rate: whoever hands it out says which.
struct Measured {
  double median = 0;  // of an even number of values the mean of the two in the middle
  double least = 0;
  double most = 0;
  int repetitions = 0;
};

/// Of at least one value.
Measured spread_of(std::vector<double> values);

/// Seconds of one round of work, once for each repetition: work(rounds) does that many and returns when they are done.
/// The first call warms up; then rounds are doubled and more until a repetition is long enough.
std::vector<double> seconds_of_rounds(const MeasuringOptions& options, const std::function<void(std::int64_t)>& work);

/// The same, as seconds and as rate: `amount` (flops, bytes) of a round divided by them.
Measured measured_seconds(const MeasuringOptions& options, const std::function<void(std::int64_t)>& work);
Measured measured_rate(const MeasuringOptions& options, double amount, const std::function<void(std::int64_t)>& work);

}  // namespace glinpack
