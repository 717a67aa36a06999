// Axes of charts: their range, ticks and scale.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

struct Axis {
  double least = 0;
  double most = 1;
  bool logarithmic = false;
  bool binary = false;        // ticks are powers of two
  std::vector<double> ticks;  // ascending, within [least, most]

  /// Maps [least, most] to [0, 1]; values outside map outside.
  double place(double value) const;
};

/// An axis from tick to tick around [least, most] with about `count` ticks, at least 2. The tick distance is 1, 2 or 5
/// times a power of ten (P. Heckbert, "Nice numbers for graph labels", Graphics Gems, 1990). Accepts equal, reversed
/// and infinite limits.
Axis linear_axis(double least, double most, int count);

/// Powers of ten, with 2 and 5 times them if there is room. The values are greater than 0.
Axis logarithmic_axis(double least, double most, int count);

/// Powers of two, for sizes in bytes.
Axis binary_axis(double least, double most, int count);

/// Logarithmic if the values, all greater than 0, span more than `decades`. Otherwise linear, from 0 if 0 is near.
Axis axis_of(const std::vector<double>& values, int count, double decades);

/// Short, exact enough for a tick: "0.05", "1500", "20k", "1.5M", "1e-07".
std::string tick_text(double value);
/// The label of a size in bytes: "8", "4 Ki", "1 Mi".
std::string binary_tick_text(double value);

}  // namespace glinpack::app
