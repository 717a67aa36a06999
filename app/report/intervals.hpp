// Arithmetic on sets of time: measures overlap of the network with computation, and idle time.
#pragma once

#include <vector>

namespace glinpack::app {

/// [begin, end) in seconds.
struct TimeSpan {
  double begin = 0;
  double end = 0;
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

/// Ascending, non-empty spans that neither overlap nor touch. united() returns such a set, and the functions below need
/// one.
using TimeSet = std::vector<TimeSpan>;

/// The union of any spans, in any order. Ignores empty and reversed ones. O(n log n), O(n) if sorted.
TimeSet united(std::vector<TimeSpan> spans);
/// The set difference a - b. O(a + b).
TimeSet subtracted(const TimeSet& a, const TimeSet& b);
/// The intersection. O(a + b).
TimeSet common(const TimeSet& a, const TimeSet& b);
/// The part of `set` within `window`.
TimeSet clipped(const TimeSet& set, TimeSpan window);
/// The total length in seconds.
double length(const TimeSet& set);

}  // namespace glinpack::app
