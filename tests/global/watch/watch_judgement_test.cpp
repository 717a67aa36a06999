#include "watch/watch_judgement.hpp"

#include <gmock/gmock.h>

#include "base/timeline.hpp"
#include "watch/watchdog.hpp"

namespace glinpack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr double limit = 10;

WatchedRank rank_on(const std::string& host, Awaited awaited = Awaited::nothing, double stuck = 0) {
  WatchedRank rank;
  rank.host = host;
  rank.process = 100;
  rank.progress = {.steps = 1, .pass = 3, .peer = 1, .phase = Phase::reduce, .awaited = awaited, .watched = true};
  rank.stuck = stuck;
  return rank;
}

std::vector<WatchedRank> four(Awaited awaited = Awaited::nothing, double stuck = 0) {
  return {rank_on("a", awaited, stuck), rank_on("a", awaited, stuck), rank_on("b", awaited, stuck),
          rank_on("b", awaited, stuck)};
}

TEST(Judgement, RanksThatMakeProgressAreNotReported) {
  EXPECT_FALSE(judge({}, limit));
  EXPECT_FALSE(judge(four(), limit));
  EXPECT_FALSE(judge(four(Awaited::from, limit - 0.1), limit));
  EXPECT_FALSE(judge(four(Awaited::nothing, limit - 0.1), limit));
}

TEST(Judgement, ARankThatWaitsForASlowRankIsNotReported) {
  auto ranks = four(Awaited::from, 100 * limit);
  ranks[2] = rank_on("b", Awaited::nothing, limit / 2);
  EXPECT_FALSE(judge(ranks, limit));
  ranks[2].progress.awaited = Awaited::row;
  EXPECT_FALSE(judge(ranks, limit)) << "it waits for less than the limit";
}

TEST(Judgement, ALostRankIsReportedAtOnce) {
  auto ranks = four();
  ranks[3].contact = Contact::lost;
  const auto judgement = judge(ranks, limit);
  ASSERT_TRUE(judgement);
  EXPECT_THAT(judgement->culprits, ElementsAre(3));
  EXPECT_THAT(judgement->reason, StartsWith("rank 3 on b (process 100) has ended without a word"));
}

TEST(Judgement, ARankThatHasLeftIsNotReported) {
  auto ranks = four(Awaited::all, limit / 4);
  ranks[3].contact = Contact::left;
  ranks[3].silent = 100 * limit;
  EXPECT_FALSE(judge(ranks, limit));
}

TEST(Judgement, ARankThatEndsTheJobIsNotReported) {
  auto ranks = four(Awaited::from, limit / 4);
  ranks[0].contact = Contact::ends_job;
  ranks[0].silent = limit;
  EXPECT_FALSE(judge(ranks, limit));
  ranks[2].silent = limit;
  EXPECT_THAT(judge(ranks, limit)->culprits, ElementsAre(2));
  EXPECT_THAT(line_of_rank(0, ranks[0]), HasSubstr("(as it said 10.0 s ago)"));
  EXPECT_THAT(line_of_rank(0, ranks[0]), HasSubstr("; has ended the job"));
}

TEST(Judgement, ASilentRankIsTheCulpritAndRanksThatWaitForItAreNot) {
  auto ranks = four(Awaited::from, limit + 1);
  ranks[1] = rank_on("a", Awaited::nothing, 0);
  ranks[1].silent = limit - 0.1;
  EXPECT_FALSE(judge(ranks, limit)) << "the others have waited for the limit, but it is not yet silent for the limit";
  ranks[1].silent = limit;
  const auto judgement = judge(ranks, limit);
  ASSERT_TRUE(judgement);
  EXPECT_THAT(judgement->culprits, ElementsAre(1));
  EXPECT_THAT(judgement->reason, HasSubstr("rank 1 on a (process 100): no heartbeat for 10.0 s"));
  EXPECT_THAT(judgement->reason, HasSubstr("network"));
  ranks[1].stopped = true;
  EXPECT_THAT(judge(ranks, limit)->reason, HasSubstr("stopped by a signal or a debugger"));
}

TEST(Judgement, SilenceIsReportedOutsideWatchedSections) {
  auto ranks = four();
  ranks[0].progress.watched = false;
  ranks[0].silent = limit;
  EXPECT_THAT(judge(ranks, limit)->culprits, ElementsAre(0));
}

TEST(Judgement, AllRanksOfADisconnectedHostAreReported) {
  auto ranks = four(Awaited::from, limit);
  ranks[2].silent = limit + 0.5;
  ranks[3].silent = limit - 0.5;
  EXPECT_THAT(judge(ranks, limit)->culprits, ElementsAre(2, 3));
}

TEST(Judgement, ARankThatHangsWithoutWaitingForAnotherIsTheCulprit) {
  auto ranks = four(Awaited::column, limit);
  ranks[2] = rank_on("b", Awaited::nothing, limit + 2);
  const auto judgement = judge(ranks, limit);
  ASSERT_TRUE(judgement);
  EXPECT_THAT(judgement->culprits, ElementsAre(2));
  EXPECT_THAT(judgement->reason, HasSubstr("rank 2 on b (process 100) has made no progress for 12.0 s"));
  EXPECT_THAT(judgement->reason, HasSubstr("pass 3, reduce"));
}

TEST(Judgement, NoRankIsReportedBetweenRuns) {
  auto ranks = four(Awaited::all, 100 * limit);
  ranks[0] = rank_on("a", Awaited::nothing, 100 * limit);
  ranks[0].progress.watched = false;  // it writes the report
  EXPECT_FALSE(judge(ranks, limit));
}

TEST(Judgement, RanksThatAllWaitForEachOtherAreADeadlock) {
  auto ranks = four(Awaited::from, limit);
  const auto judgement = judge(ranks, limit);
  ASSERT_TRUE(judgement);
  EXPECT_TRUE(judgement->culprits.empty());
  EXPECT_THAT(judgement->reason, StartsWith("no rank has made progress for 10.0 s"));
}

TEST(WatchdogText, HasALineForEveryRankWithPassPhaseAndAwaitedRank) {
  auto ranks = four(Awaited::from, limit);
  ranks[0].progress.awaited = Awaited::to;
  ranks[1].progress.pass = -1;
  ranks[2].progress.awaited = Awaited::row;
  ranks[2].silent = 7;
  ranks[3].progress.phase = Phase::wait;
  ranks[3].progress.awaited = Awaited::nothing;
  const std::string text = watchdog_text({{2}, "why"}, ranks);
  EXPECT_EQ(text,
            "glinpack: watchdog: why\n"
            "  rank 0 on a (process 100): pass 3, reduce: waits for rank 1 to take a message; no progress for 10.0 s\n"
            "  rank 1 on a (process 100): outside the passes, reduce: waits for a message from rank 1; no progress for "
            "10.0 s\n"
            "  rank 2 on b (process 100): pass 3, reduce: waits for its process row (as it said 7.0 s ago); no "
            "progress for 17.0 s\n"
            "  rank 3 on b (process 100): pass 3, wait: waits for the device; no progress for 10.0 s\n");
}

TEST(Watchers, AreTheFirstRankAndTheFirstRankOfAnotherNode) {
  const auto second = [](std::vector<int> nodes) { return choose_watchers(nodes).second; };
  EXPECT_EQ(second({0}), -1);
  EXPECT_EQ(second({0, 0}), 1);
  EXPECT_EQ(second({0, 0, 0, 0}), 1);
  EXPECT_EQ(second({0, 0, 2, 2}), 2);
  EXPECT_EQ(second({0, 1, 0, 1}), 1);
}

}  // namespace
}  // namespace glinpack
