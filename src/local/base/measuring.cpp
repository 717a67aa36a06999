#include "base/measuring.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace glinpack {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

double seconds_of(const std::function<void(std::int64_t)>& work, std::int64_t rounds) {
  const double start = steady_seconds();
  work(rounds);
  return std::max(steady_seconds() - start, 1e-9);  // a coarse clock must not make a rate infinite
}

// The number of rounds that takes `wanted` seconds. A step is at most tenfold, since short times are inaccurate.
std::int64_t rounds_for(double wanted, const std::function<void(std::int64_t)>& work) {
  constexpr double near_enough = 0.6;
  constexpr double largest_step = 10;
  std::int64_t rounds = 1;
  while (true) {
    const double seconds = seconds_of(work, rounds);
    if (seconds >= near_enough * wanted) return rounds;
    rounds = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(rounds) * std::clamp(wanted / seconds, 1.0 + near_enough, largest_step)));
  }
}

}  // namespace

Measured spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back(), static_cast<int>(values.size())};
}

std::vector<double> seconds_of_rounds(const MeasuringOptions& options, const std::function<void(std::int64_t)>& work) {
  work(1);
  const std::int64_t rounds = rounds_for(options.seconds / options.repeat, work);
  std::vector<double> seconds;
  for (int repetition = 0; repetition < options.repeat; ++repetition) {
    seconds.push_back(seconds_of(work, rounds) / static_cast<double>(rounds));
  }
  return seconds;
}

Measured measured_seconds(const MeasuringOptions& options, const std::function<void(std::int64_t)>& work) {
  return spread_of(seconds_of_rounds(options, work));
}

Measured measured_rate(const MeasuringOptions& options, double amount, const std::function<void(std::int64_t)>& work) {
  std::vector<double> values = seconds_of_rounds(options, work);
  for (double& value : values) value = amount / value;
  return spread_of(std::move(values));
}

}  // namespace glinpack
