// A job of several ranks in one process: their watchdog threads.
#include <gmock/gmock.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/timeline.hpp"
#include "tests/captured_log.hpp"
#include "watch/watchdog.hpp"

namespace glinpack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

constexpr std::uint64_t token = 4711;
constexpr double wait_limit = 0.5;
constexpr double timeout = 60;

class Job {
 public:
  explicit Job(int ranks) : progress_(static_cast<std::size_t>(ranks)), plans_(static_cast<std::size_t>(ranks)) {
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      sockets_.push_back(std::make_unique<HeartbeatSocket>(true));
      progress_[rank].watch(true);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      WatchPlan& plan = plans_[static_cast<std::size_t>(rank)];
      plan.limit = wait_limit;
      plan.token = token;
      plan.rank = rank;
      plan.watchers = {.first = 0, .second = 1};
      plan.ranks.resize(plans_.size());
      for (WatchedRank& watched : plan.ranks) watched.host = "here";
      for (int peer = 0; peer < ranks; ++peer) {
        if (peer == rank || (rank > 1 && peer > 1)) continue;
        plan.peers.push_back({.rank = peer, .addresses = {address_of(peer)}});
      }
    }
  }
  ~Job() { threads_.clear(); }

  ProgressRecord& progress(int rank) { return progress_[static_cast<std::size_t>(rank)]; }

  void start() {
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      WatchPlan& plan = plans_[rank];
      threads_.push_back(sockets_[rank] == nullptr ? nullptr
                                                   : std::make_unique<WatchThread>(
                                                         std::move(plan), std::move(sockets_[rank]), progress_[rank],
                                                         [this, rank](const std::string& text) { end(rank, text); }));
    }
    for (const auto& thread : threads_) {
      if (thread) thread->meet_peers();
    }
  }
  /// Makes `rank` fail to end the job after it has announced the end.
  void fail_to_end(std::size_t rank) { broken_ = rank; }
  void leave(int rank) { threads_[static_cast<std::size_t>(rank)].reset(); }
  /// `rank` meets its peers, and closes its port without a farewell.
  void crash(int rank) {
    const auto index = static_cast<std::size_t>(rank);
    for (const Peer& peer : plans_[index].peers) {
      sockets_[index]->send({.token = token, .rank = rank, .progress = {}}, peer.addresses.front());
    }
    sockets_[index].reset();
  }

  /// The first verdict; empty if there is none within `seconds`.
  std::string verdict(double seconds) {
    const auto all = verdicts(1, seconds);
    return all.empty() ? "" : all.front();
  }
  /// Waits for `count` verdicts, at most `seconds`.
  std::vector<std::string> verdicts(std::size_t count, double seconds) {
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return texts_.size() >= count; });
    return texts_;
  }

 private:
  WatchAddress address_of(int rank) const {
    return {loopback_address(), sockets_[static_cast<std::size_t>(rank)]->port()};
  }

  void end(std::size_t rank, const std::string& text) {
    if (rank == broken_) throw std::runtime_error("cannot end the job");
    const std::lock_guard lock(mutex_);
    texts_.push_back(text);
    ended_.notify_all();
  }

  std::vector<ProgressRecord> progress_;
  std::vector<WatchPlan> plans_;
  std::vector<std::unique_ptr<HeartbeatSocket>> sockets_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<std::string> texts_;
  std::optional<std::size_t> broken_;
  std::vector<std::unique_ptr<WatchThread>> threads_;
};

TEST(WatchThread, DoesNotEndAJobThatMakesProgress) {
  Job job(4);
  job.start();
  for (int step = 0; step < 30; ++step) {  // three times the limit
    for (int rank = 0; rank < 3; ++rank) job.progress(rank).step();
    job.progress(3).await(Awaited::from, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(job.verdict(0), "");
}

TEST(WatchThread, NamesTheHangingRankAndReportsTheStateOfAllRanks) {
  Job job(4);
  for (int rank = 0; rank < 4; ++rank) job.progress(rank).enter_pass(7);
  for (const int rank : {0, 1, 2}) job.progress(rank).await(Awaited::from, 3);
  job.progress(3).enter(Phase::reduce);
  job.start();
  const std::string text = job.verdict(timeout);
  EXPECT_THAT(text, HasSubstr("watchdog: rank 3 on here"));
  EXPECT_THAT(text, HasSubstr("  rank 3 on here (process 0): pass 7, reduce; no progress"));
  EXPECT_THAT(text, HasSubstr("  rank 2 on here (process 0): pass 7, panel: waits for a message from rank 3"));
}

TEST(WatchThread, ReportsOneVerdictWhileTheJobEnds) {
  for (const int culprit : {0, 3}) {
    Job job(4);
    for (int rank = 0; rank < 4; ++rank) job.progress(rank).await(Awaited::from, culprit);
    job.progress(culprit).await(Awaited::nothing, -1);
    job.start();
    const std::string first = job.verdict(timeout);
    EXPECT_THAT(first, HasSubstr("watchdog: rank " + std::to_string(culprit) + " on here"));
    EXPECT_THAT(job.verdicts(2, 2 * wait_limit), ElementsAre(first));
  }
}

TEST(WatchThread, TheSecondWatcherReportsIfTheFirstDoesNotEndTheJob) {
  Job job(4);
  for (const int rank : {0, 1, 2}) job.progress(rank).await(Awaited::from, 3);
  job.start();
  const auto verdicts = job.verdicts(2, timeout);
  ASSERT_EQ(verdicts.size(), 2);
  EXPECT_THAT(verdicts[1], HasSubstr("watchdog: rank 3 on here"));
  EXPECT_THAT(verdicts[1], HasSubstr("; has ended the job\n"));
}

TEST(WatchThread, TheSecondWatcherReportsIfTheFirstIsLost) {
  Job job(3);
  job.crash(0);
  job.start();
  EXPECT_THAT(job.verdict(timeout), HasSubstr("watchdog: rank 0 on here (process 0) has ended without a word"));
}

TEST(WatchThread, ARankWithoutWatchersReportsItself) {
  Job job(3);
  job.crash(0);
  job.crash(1);
  for (int rank = 0; rank < 2; ++rank) job.progress(rank).watch(false);
  job.start();
  EXPECT_THAT(job.verdict(timeout), HasSubstr("rank 2 on here"));
}

TEST(WatchThread, RanksMayLeaveAtDifferentTimes) {
  Job job(4);
  for (int rank = 0; rank < 4; ++rank) job.progress(rank).watch(false);
  job.start();
  for (const int rank : {2, 0, 3}) {
    job.leave(rank);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  EXPECT_EQ(job.verdict(wait_limit), "");
}

TEST(WatchThread, AnExceptionOnOneRankIsReportedAndTheOtherRanksContinue) {
  Job job(3);
  job.fail_to_end(0);
  for (const int rank : {0, 1}) job.progress(rank).watch(false);
  const CapturedLog log;
  job.start();  // rank 2 hangs; rank 0 detects it
  EXPECT_THAT(job.verdict(timeout), HasSubstr("rank 2 on here"));
  job.leave(0);
  EXPECT_EQ(log.lines(), "warning: watchdog: rank 0 on here is no longer watched: cannot end the job\n");
}

TEST(WatchThread, HeartbeatsWithAnotherTokenAreIgnoredAndASilentRankIsNamed) {
  auto socket = std::make_unique<HeartbeatSocket>(true), other = std::make_unique<HeartbeatSocket>(true);
  const WatchAddress there{loopback_address(), other->port()};
  other->send({.token = token + 1, .rank = 1, .progress = {}}, {loopback_address(), socket->port()});
  WatchPlan plan;
  plan.limit = wait_limit;
  plan.seconds_to_meet = 0.3;
  plan.token = token;
  plan.watchers.second = 1;
  plan.ranks.resize(2);
  plan.ranks[1].host = "there";
  plan.peers = {{.rank = 1, .addresses = {there}}};
  const ProgressRecord progress;
  WatchThread thread(std::move(plan), std::move(socket), progress, [](const std::string& text) { FAIL() << text; });
  EXPECT_THAT(
      [&] { thread.meet_peers(); },
      ThrowsMessage<std::runtime_error>(HasSubstr("rank 1 on there cannot be reached by UDP at " + text_of(there))));
}

// The port is closed to other hosts if there are none in the job.
TEST(HeartbeatSocket, IsOpenAtTheLoopbackAddressAloneIfAllRanksAreOnOneHost) {
  const HeartbeatSocket socket(true), caller(false);
  for (const std::uint32_t address : own_addresses(8)) {
    const WatchAddress other{address, socket.port()};
    caller.send({}, other);
    const auto answers = caller.receive(timeout);
    ASSERT_EQ(answers.size(), 1) << text_of(other);
    EXPECT_FALSE(answers[0].heartbeat) << text_of(other);
    EXPECT_EQ(answers[0].from, other);
  }
}

}  // namespace
}  // namespace glinpack
