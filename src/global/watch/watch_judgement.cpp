#include "watch/watch_judgement.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "base/timeline.hpp"

namespace glinpack {

namespace {

// A rank that stops blocks other ranks, which reach the limit at about the same time.
constexpr double nearly = 0.5;

std::string name_of_rank(std::size_t rank, const WatchedRank& watched) {
  return fmt::format("rank {} on {} (process {})", rank, watched.host, watched.process);
}

bool is_present(const WatchedRank& rank) { return rank.contact == Contact::present; }

bool is_lost(const WatchedRank& rank) { return rank.contact == Contact::lost; }

auto is_silent_for(double seconds) {
  return [seconds](const WatchedRank& rank) { return is_present(rank) && rank.silent >= seconds; };
}

bool works(const WatchedRank& rank) {
  return is_present(rank) && rank.progress.watched && rank.progress.awaited == Awaited::nothing;
}

auto works_without_progress_for(double seconds) {
  return [seconds](const WatchedRank& rank) { return works(rank) && rank.without_progress() >= seconds; };
}

// The ranks that match; `reason` follows their names.
template <class Match, class Reason>
Judgement blame(std::span<const WatchedRank> ranks, Match match, Reason reason) {
  Judgement judgement;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!match(ranks[rank])) continue;
    judgement.reason += (judgement.culprits.empty() ? "" : ", ") + name_of_rank(rank, ranks[rank]);
    judgement.culprits.push_back(static_cast<int>(rank));
  }
  judgement.reason += reason(ranks[static_cast<std::size_t>(judgement.culprits.front())]);
  return judgement;
}

}  // namespace

std::optional<Judgement> judge(std::span<const WatchedRank> ranks, double limit) {
  const auto any = [&](auto match) { return std::any_of(ranks.begin(), ranks.end(), match); };
  if (any(is_lost)) {
    return blame(ranks, is_lost, [](const auto&) { return " has ended without a word: killed, or crashed"; });
  }
  const auto nearly_silent = is_silent_for(nearly * limit);
  if (any(is_silent_for(limit))) {
    const bool stopped =
        std::all_of(ranks.begin(), ranks.end(), [&](const auto& rank) { return !nearly_silent(rank) || rank.stopped; });
    return blame(ranks, nearly_silent, [stopped](const WatchedRank& first) {
      return fmt::format(
          ": no heartbeat for {:.1f} s: {}", first.silent,
          stopped ? "stopped by a signal or a debugger" : "stopped, or its host or the network to it has failed");
    });
  }
  // ranks that wait for a silent rank may reach the limit before it does, if it went silent later
  if (any(nearly_silent)) return std::nullopt;
  if (any(works_without_progress_for(limit))) {
    return blame(ranks, works_without_progress_for(nearly * limit), [](const WatchedRank& first) {
      return fmt::format(" has made no progress for {:.1f} s, and waits for no other rank: {}",
                         first.without_progress(), activity_text(first.progress));
    });
  }
  const auto waits = [limit](const WatchedRank& rank) {
    return rank.progress.awaited != Awaited::nothing && rank.without_progress() >= limit;
  };
  const bool all_wait =
      std::all_of(ranks.begin(), ranks.end(), [&](const auto& rank) { return !is_present(rank) || waits(rank); });
  if (!all_wait || !any(is_present)) return std::nullopt;
  return Judgement{{},
                   fmt::format("no rank has made progress for {:.1f} s: all wait for messages of each other, of which "
                               "the network may have lost one",
                               limit)};
}

std::string activity_text(const ProgressSnapshot& progress) {
  std::string text = progress.pass < 0 ? "outside the passes" : fmt::format("pass {}", progress.pass);
  text = progress.watched ? fmt::format("{}, {}", text, name_of(progress.phase)) : "between runs";
  switch (progress.awaited) {
    case Awaited::nothing:
      return progress.watched && progress.phase == Phase::wait ? text + ": waits for the device" : text;
    case Awaited::from:
      return fmt::format("{}: waits for a message from rank {}", text, progress.peer);
    case Awaited::to:
      return fmt::format("{}: waits for rank {} to take a message", text, progress.peer);
    case Awaited::row:
      return text + ": waits for its process row";
    case Awaited::column:
      return text + ": waits for its process column";
    case Awaited::all:
      return text + ": waits for all ranks";
    case Awaited::unnamed:
      return text + ": waits for a message";
  }
  return text;
}

std::string line_of_rank(int rank, const WatchedRank& watched) {
  std::string text =
      fmt::format("  {}: {}", name_of_rank(static_cast<std::size_t>(rank), watched), activity_text(watched.progress));
  if (watched.silent >= 1) text += fmt::format(" (as it said {:.1f} s ago)", watched.silent);
  text += fmt::format("; no progress for {:.1f} s", watched.without_progress());
  if (watched.contact == Contact::left) text += "; has ended";
  if (watched.contact == Contact::ends_job) text += "; has ended the job";
  if (watched.contact == Contact::lost) text += "; lost";
  if (watched.stopped) text += "; stopped";
  return text + "\n";
}

std::string watchdog_text(const Judgement& judgement, std::span<const WatchedRank> ranks) {
  std::string text = "glinpack: watchdog: " + judgement.reason + "\n";
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) text += line_of_rank(static_cast<int>(rank), ranks[rank]);
  return text;
}

}  // namespace glinpack
