#include "app/report/intervals.hpp"

#include <algorithm>

namespace glinpack::app {

TimeSet united(std::vector<TimeSpan> spans) {
  std::erase_if(spans, [](const TimeSpan& span) { return !(span.begin < span.end); });
  const auto earlier = [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; };
  if (!std::is_sorted(spans.begin(), spans.end(), earlier)) std::sort(spans.begin(), spans.end(), earlier);

  std::size_t kept = 0;
  for (const TimeSpan& span : spans) {
    if (kept > 0 && span.begin <= spans[kept - 1].end) {
      spans[kept - 1].end = std::max(spans[kept - 1].end, span.end);
    } else {
      spans[kept++] = span;
    }
  }
  spans.resize(kept);
  return spans;
}

TimeSet subtracted(const TimeSet& a, const TimeSet& b) {
  TimeSet rest;
  auto taken = b.begin();
  for (TimeSpan span : a) {
    while (taken != b.end() && taken->end <= span.begin) ++taken;
    // a span of b can overlap the next span of a, too, so `taken` does not advance past it
    for (auto hole = taken; hole != b.end() && hole->begin < span.end; ++hole) {
      if (hole->begin > span.begin) rest.push_back({span.begin, hole->begin});
      span.begin = std::max(span.begin, hole->end);
      taken = hole;
    }
    if (span.begin < span.end) rest.push_back(span);
  }
  return rest;
}

TimeSet common(const TimeSet& a, const TimeSet& b) {
  TimeSet both;
  auto in_a = a.begin();
  auto in_b = b.begin();
  while (in_a != a.end() && in_b != b.end()) {
    const TimeSpan part{std::max(in_a->begin, in_b->begin), std::min(in_a->end, in_b->end)};
    if (part.begin < part.end) both.push_back(part);
    if (in_a->end < in_b->end) {
      ++in_a;
    } else {
      ++in_b;
    }
  }
  return both;
}

TimeSet clipped(const TimeSet& set, TimeSpan window) {
  TimeSet inside;
  for (const TimeSpan& span : set) {
    const TimeSpan part{std::max(span.begin, window.begin), std::min(span.end, window.end)};
    if (part.begin < part.end) inside.push_back(part);
  }
  return inside;
}

double length(const TimeSet& set) {
  double seconds = 0;
  for (const TimeSpan& span : set) seconds += span.end - span.begin;
  return seconds;
}

}  // namespace glinpack::app
