// Axes of charts: which range, which ticks, where a value lies.
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

  /// From 0, at least, to 1, at most; outside of it beyond them.
  double place(double value) const;
};

/// From a tick to a tick around [least, most], their distance 1, 2 or 5 times a power of ten (P. Heckbert, "Nice
/// numbers for graph labels", Graphics Gems, 1990); about `count` of them, 2 at least. Equal, reversed and infinite
/// limits give an axis, too.
Axis linear_axis(double least, double most, int count);

/// Powers of ten, with 2 and 5 times them where there is room, around values greater than 0.
Axis logarithmic_axis(double least, double most, int count);

/// Powers of two, for sizes in bytes.
Axis binary_axis(double least, double most, int count);

/// Logarithmic where the values, all greater than 0, span more than `decades`; else linear, from 0 where that is not
/// far off.
Axis axis_of(const std::vector<double>& values, int count, double decades);

/// Short, exact enough for a tick: "0.05", "1500", "20k", "1.5M", "1e-07".
std::string tick_text(double value);
/// Of a size in bytes: "8", "4 Ki", "1 Mi".
std::string binary_tick_text(double value);

}  // namespace glinpack::app
