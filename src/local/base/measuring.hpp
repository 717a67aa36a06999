// The clock of all durations, and repeated measurements: median, minimum and maximum.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace glinpack {

/// Seconds of a clock that is never set. MPI_Wtime may follow the time of day.
double steady_seconds();

struct MeasuringOptions {
  int repeat = 5;         // repetitions, at least 1
  double seconds = 0.25;  // approximate time of all repetitions; one round of the work may take longer
};

/// Seconds or a rate, as the function that returns it says.
struct Measured {
  double median = 0;  // of an even number of values: the mean of the middle two
  double min = 0;
  double max = 0;
  int repetitions = 0;
};

/// Median and range of at least one value.
Measured spread_of(std::vector<double> values);

/// Seconds of one round of work, for each repetition. work(rounds) runs `rounds` rounds and returns when they are done.
/// The first call warms up. Then the number of rounds grows until a repetition is long enough.
std::vector<double> seconds_of_rounds(const MeasuringOptions& options, const std::function<void(std::int64_t)>& work);

/// Their median and range: as seconds, or as a rate, with `amount` flops or bytes per round.
Measured measured_seconds(const MeasuringOptions& options, const std::function<void(std::int64_t)>& work);
Measured measured_rate(const MeasuringOptions& options, double amount, const std::function<void(std::int64_t)>& work);

}  // namespace glinpack
