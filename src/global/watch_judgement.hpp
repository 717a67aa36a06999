// Who keeps a job from going on: judged from what is known of its ranks. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "local/progress_record.hpp"

namespace glinpack {

/// How a rank stands with whoever watches it.
enum class Contact {
  present,
  left,      // it has said that it ends
  ends_job,  // it has said that it ends the job, with a verdict of its own
  lost,      // its connection was closed without a word: it was killed, or has crashed
};

/// What is known of a rank. Times in seconds, of the watcher's own clock, which stands still while the watcher does.
struct WatchedRank {
  std::string host;
  long process = 0;           // its number on the host
  ProgressSnapshot progress;  // as it was heard last
  double stuck = 0;           // since its last progress, by its own account when it was heard last
  double silent = 0;          // since it was heard last
  Contact contact = Contact::present;
  bool stopped = false;  // seen on the watcher's own host: stopped by a signal, or by a debugger

  double without_progress() const { return stuck + silent; }
};

struct Judgement {
  std::vector<int> culprits;  // ranks; empty where all wait for each other
  std::string reason;         // a sentence
};

/// Nothing while all is well. A job is held up where for `limit` seconds a rank was silent, or made no progress in a
/// watched section without waiting for another rank, or all ranks have waited; and at once where a rank was lost. A
/// rank that waits for others which make progress holds up nobody.
std::optional<Judgement> judge(std::span<const WatchedRank> ranks, double limit);

/// What a rank was doing: "pass 3, broadcast L: waits for a message from rank 2".
std::string activity_text(const ProgressSnapshot& progress);

/// A line of a rank: where it was, for how long, and what it waited for.
std::string line_of_rank(int rank, const WatchedRank& watched);

/// The judgement, "glinpack: watchdog: ...", and the line of every rank.
std::string watchdog_text(const Judgement& judgement, std::span<const WatchedRank> ranks);

}  // namespace glinpack
