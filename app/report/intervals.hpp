// Arithmetic on sets of time: how much of the network's time is hidden behind computation, and how much is idle.
#pragma once

#include <vector>

namespace glinpack::app {

/// [begin, end) in seconds.
struct TimeSpan {
  double begin = 0;
  double end = 0;
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

/// Spans in ascending order that neither overlap nor touch, none of them empty. What united() returns, and what the
/// functions below expect.
using TimeSet = std::vector<TimeSpan>;

/// The union of any spans, in any order; empty and reversed ones count as nothing. O(n log n), O(n) where sorted.
TimeSet united(std::vector<TimeSpan> spans);
/// What is in `a` and not in `b`. O(a + b).
TimeSet subtracted(const TimeSet& a, const TimeSet& b);
/// What is in both. O(a + b).
TimeSet common(const TimeSet& a, const TimeSet& b);
/// The part of `set` within `window`.
TimeSet clipped(const TimeSet& set, TimeSpan window);
/// Seconds in all.
double length(const TimeSet& set);

}  // namespace glinpack::app
