// Sets of time, and the part of a message that is waiting: a rank that waits in a message for another rank is not
// communicating yet. Uses the combined timelines of all ranks, at no cost to the run.
#pragma once

#include <iosfwd>
#include <span>
#include <vector>

#include "app/record/run_record.hpp"
#include "run/run.hpp"

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
/// The total length in seconds.
double length(const TimeSet& set);

/// For every interval of every rank: the earliest time at which its message can have begun, within [start, end].
/// Before that time, the rank waited for another rank. The result is the start for intervals that are not messages,
/// and for messages whose other end is unknown. The other end is found by process row or column, pass, phase and order:
///
///   broadcast   its root is the pivot's process column (L) or row (U). Nothing arrives before the root begins, and
///               nothing leaves it before the first receiver begins, unless the root has ended: then it was buffered.
///   row swap    likewise: rows move between the pivot's process row and the others of the process column. If they
///               include U (`rows_bring_u`), every rank sends and receives: none ends before the last one begins
///   all-reduce  of the panel: it cannot end before the last rank begins
///
/// These are lower bounds of the waiting: the delay of a receiver that forwards a broadcast is not detected. The ranks'
/// clocks are synchronised by a barrier. O(messages log messages).
std::vector<std::vector<double>> message_starts(std::span<const RankRecord> ranks, bool rows_bring_u = false);

// Traces (--trace): the timeline of each process.

/// Writes Chrome's trace event format, which ui.perfetto.dev opens: pid = world rank, lanes cpu, gpu, net as threads,
/// and sensor readings as counters. Runs follow one another. Written piece by piece: a trace may be larger than memory.
void write_trace(std::ostream& out, std::span<const RunRecord> records);

}  // namespace glinpack::app
