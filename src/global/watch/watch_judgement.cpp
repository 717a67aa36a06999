#include "watch/watch_judgement.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

#include "base/timeline.hpp"

namespace glinpack {

namespace {

// A rank that stops blocks other ranks, which reach the limit at about the same time.
constexpr double nearly = 0.5;

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", seconds);
  return text;
}

std::string name_of_rank(int rank, const WatchedRank& watched) {
  return "rank " + std::to_string(rank) + " on " + watched.host + " (process " + std::to_string(watched.process) + ")";
}

std::vector<int> ranks_that(std::span<const WatchedRank> ranks, const std::function<bool(const WatchedRank&)>& match) {
  std::vector<int> matching;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (match(ranks[rank])) matching.push_back(static_cast<int>(rank));
  }
  return matching;
}

std::string names_of(const std::vector<int>& culprits, std::span<const WatchedRank> ranks) {
  std::string names;
  for (const int rank : culprits) {
    names += (names.empty() ? "" : ", ") + name_of_rank(rank, ranks[static_cast<std::size_t>(rank)]);
  }
  return names;
}

const WatchedRank& first_of(const std::vector<int>& culprits, std::span<const WatchedRank> ranks) {
  return ranks[static_cast<std::size_t>(culprits.front())];
}

bool silent_for(const WatchedRank& rank, double seconds) {
  return rank.contact == Contact::present && rank.silent >= seconds;
}

bool works(const WatchedRank& rank) {
  return rank.contact == Contact::present && rank.progress.watched && rank.progress.awaited == Awaited::nothing;
}

bool waits(const WatchedRank& rank) {
  return rank.contact == Contact::present && rank.progress.awaited != Awaited::nothing;
}

std::optional<Judgement> judge_lost(std::span<const WatchedRank> ranks) {
  const auto culprits = ranks_that(ranks, [](const WatchedRank& rank) { return rank.contact == Contact::lost; });
  if (culprits.empty()) return std::nullopt;
  return Judgement{culprits, names_of(culprits, ranks) + " has ended without a word: killed, or crashed"};
}

std::optional<Judgement> judge_silent(std::span<const WatchedRank> ranks, double limit) {
  if (ranks_that(ranks, [&](const auto& rank) { return silent_for(rank, limit); }).empty()) return std::nullopt;
  const auto culprits = ranks_that(ranks, [&](const auto& rank) { return silent_for(rank, nearly * limit); });
  const bool stopped = std::all_of(culprits.begin(), culprits.end(),
                                   [&](int rank) { return ranks[static_cast<std::size_t>(rank)].stopped; });
  return Judgement{
      culprits,
      names_of(culprits, ranks) + " has not been heard of for " + seconds_text(first_of(culprits, ranks).silent) +
          (stopped ? ": stopped by a signal or a debugger" : ": stopped, or its host or the network to it has failed")};
}

std::optional<Judgement> judge_working(std::span<const WatchedRank> ranks, double limit) {
  const auto stuck_at_work = [&](double least) {
    return ranks_that(ranks, [least](const auto& rank) { return works(rank) && rank.without_progress() >= least; });
  };
  if (stuck_at_work(limit).empty()) return std::nullopt;
  const auto culprits = stuck_at_work(nearly * limit);
  const WatchedRank& first = first_of(culprits, ranks);
  return Judgement{culprits, names_of(culprits, ranks) + " has made no progress for " +
                                 seconds_text(first.without_progress()) +
                                 ", and waits for no other rank: " + activity_text(first.progress)};
}

std::optional<Judgement> judge_waiting(std::span<const WatchedRank> ranks, double limit) {
  const auto present = std::count_if(ranks.begin(), ranks.end(),
                                     [](const WatchedRank& rank) { return rank.contact == Contact::present; });
  const auto waiting = std::count_if(ranks.begin(), ranks.end(), [limit](const WatchedRank& rank) {
    return waits(rank) && rank.without_progress() >= limit;
  });
  if (waiting == 0 || waiting < present) return std::nullopt;
  return Judgement{{},
                   "no rank has made progress for " + seconds_text(limit) +
                       ": all wait for messages of each other, of which the network may have lost one"};
}

}  // namespace

std::optional<Judgement> judge(std::span<const WatchedRank> ranks, double limit) {
  if (auto judgement = judge_lost(ranks)) return judgement;
  if (auto judgement = judge_silent(ranks, limit)) return judgement;
  // ranks that wait for a silent rank may reach the limit before it does, if it went silent later
  const bool going_silent =
      std::any_of(ranks.begin(), ranks.end(), [&](const auto& rank) { return silent_for(rank, nearly * limit); });
  if (going_silent) return std::nullopt;
  if (auto judgement = judge_working(ranks, limit)) return judgement;
  return judge_waiting(ranks, limit);
}

std::string activity_text(const ProgressSnapshot& progress) {
  const std::string pass = progress.pass < 0 ? "outside the passes" : "pass " + std::to_string(progress.pass);
  std::string text = progress.watched ? pass + ", " + std::string(name_of(progress.phase)) : "between runs";
  const std::string peer = "rank " + std::to_string(progress.peer);
  switch (progress.awaited) {
    case Awaited::nothing:
      return progress.watched && progress.phase == Phase::wait ? text + ": waits for the device" : text;
    case Awaited::from:
      return text + ": waits for a message from " + peer;
    case Awaited::to:
      return text + ": waits for " + peer + " to take a message";
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
  std::string text = "  " + name_of_rank(rank, watched) + ": " + activity_text(watched.progress);
  if (watched.silent >= 1) text += " (as it said " + seconds_text(watched.silent) + " ago)";
  text += "; no progress for " + seconds_text(watched.without_progress());
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
