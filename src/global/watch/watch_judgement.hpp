// Finds the ranks that block a job, from the known state of all ranks. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/progress_record.hpp"

namespace glinpack {

/// What a watcher knows of a rank.
enum class Contact {
  present,
  left,      // it has announced its end
  ends_job,  // it has announced that it ends the job, with a verdict of its own
  lost,      // its port closed without a message: it was killed, or has crashed
};

/// The known state of a rank. Times are seconds of the watcher's clock, which stops while the watcher is stopped.
struct WatchedRank {
  std::string host;
  long process = 0;           // its number on the host
  ProgressSnapshot progress;  // in its last message
  double stuck = 0;           // since its last progress, at its last message
  double silent = 0;          // since its last message
  Contact contact = Contact::present;
  bool stopped = false;  // seen on the watcher's own host: stopped by a signal, or by a debugger

  double without_progress() const { return stuck + silent; }
};

struct Judgement {
  std::vector<int> culprits;  // ranks; empty if all wait for each other
  std::string reason;         // a sentence
};

/// No judgement while the job makes progress. A lost rank blocks the job at once. After `limit` seconds, a silent rank
/// blocks it, and so does a rank that makes no progress in a watched section without waiting for another rank. If all
/// ranks wait, they block each other. A rank that waits for ranks with progress does not block it.
std::optional<Judgement> judge(std::span<const WatchedRank> ranks, double limit);

/// The activity of a rank: "pass 3, broadcast L: waits for a message from rank 2".
std::string activity_text(const ProgressSnapshot& progress);

/// A line about a rank: its activity, for how long, and the rank that it waited for.
std::string line_of_rank(int rank, const WatchedRank& watched);

/// The judgement, "glinpack: watchdog: ...", and the line of every rank.
std::string watchdog_text(const Judgement& judgement, std::span<const WatchedRank> ranks);

}  // namespace glinpack
