// A rank that waits in a message for another rank is not communicating yet. The timelines of all ranks together tell
// the one from the other, at no cost to the run.
#pragma once

#include <span>
#include <vector>

#include "lu/run.hpp"

namespace glinpack::app {

/// For every interval of every rank: the moment from which its message can have been under way, within [start, end];
/// before it the rank waited for another rank. Intervals that are no messages, and messages whose other end is not
/// known, begin with their start. The other end is found by process row or column, pass, phase and order:
///
///   broadcast   its root is the pivot's process column (L) or row (U). Nothing arrives before the root begins, and
///               nothing leaves it before the first receiver does, unless the root is done by then: it was buffered.
///   rows moved  likewise: rows move between the pivot's process row and the others of the process column. Where they
///               bring U along (`rows_bring_u`), every rank gives and takes: nothing ends before the last one begins
///   all-reduce  of the panel: it cannot end before the last rank begins
///
/// These are lower bounds of the waiting: where a receiver passes a broadcast on, that one's delay is not seen. The
/// ranks' clocks start together, after a barrier. O(messages log messages).
std::vector<std::vector<double>> message_starts(std::span<const RankRecord> ranks, bool rows_bring_u = false);

}  // namespace glinpack::app
