// A job of several ranks in one process: their watchdog threads, connected by sockets.
#include "watch/watch_thread.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

#include "base/timeline.hpp"
#include "tests/captured_log.hpp"

namespace glinpack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t token = 4711;
constexpr double wait_limit = 0.5;
constexpr double timeout = 60;

WatchAddress at(std::uint16_t port) { return {htonl(INADDR_LOOPBACK), port}; }

class Job {
 public:
  explicit Job(int ranks) : progress_(static_cast<std::size_t>(ranks)), plans_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      WatchPlan& plan = plans_[static_cast<std::size_t>(rank)];
      plan.limit = wait_limit;
      plan.token = token;
      plan.rank = rank;
      plan.watchers = {.first = 0, .second = 1};
      plan.ranks.resize(static_cast<std::size_t>(ranks));
      for (WatchedRank& watched : plan.ranks) watched.host = "here";
      progress_[static_cast<std::size_t>(rank)].watch(true);
    }
    for (int rank = 1; rank < ranks; ++rank) join(0, rank);
    for (int rank = 2; rank < ranks; ++rank) join(1, rank);
  }
  ~Job() { threads_.clear(); }

  ProgressRecord& progress(int rank) { return progress_[static_cast<std::size_t>(rank)]; }

  void start() {
    for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
      threads_.push_back(std::make_unique<WatchThread>(std::move(plans_[rank]), progress_[rank],
                                                       [this, rank](const std::string& text) { end(rank, text); }));
    }
  }
  /// Makes `rank` fail to end the job after it has announced the end.
  void fail_to_end(std::size_t rank) { broken_ = rank; }
  void leave(int rank) { threads_[static_cast<std::size_t>(rank)].reset(); }
  /// Closes the connections of `rank` without a message.
  void crash(int rank) { plans_[static_cast<std::size_t>(rank)].links.clear(); }

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
  void join(int watcher, int rank) {
    WatchListener listener(true);
    std::map<int, WatchLink> arrived;
    std::thread other([&] { arrived = listener.accept(token, 1, timeout); });
    const WatchAddress address = at(listener.port());
    plans_[static_cast<std::size_t>(rank)].links.emplace_back(watcher, connect_to({&address, 1}, token, rank, timeout));
    other.join();
    plans_[static_cast<std::size_t>(watcher)].links.emplace_back(rank, std::move(arrived.at(rank)));
  }

  void end(std::size_t rank, const std::string& text) {
    if (rank == broken_) throw std::runtime_error("cannot end the job");
    const std::lock_guard lock(mutex_);
    texts_.push_back(text);
    ended_.notify_all();
  }

  std::vector<ProgressRecord> progress_;
  std::vector<WatchPlan> plans_;
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
  EXPECT_EQ(log.lines(), "warning: watchdog: rank 0 on here is watched no more: cannot end the job\n");
}

TEST(WatchSockets, RejectConnectionsWithAnotherToken) {
  WatchListener listener(true);
  const WatchAddress address = at(listener.port());
  std::map<int, WatchLink> arrived;
  std::thread watcher([&] { arrived = listener.accept(token, 1, 2); });
  EXPECT_THROW(connect_to({&address, 1}, token + 1, 5, 1), std::runtime_error);
  watcher.join();
  EXPECT_TRUE(arrived.empty());
}

TEST(WatchSockets, SilentCallersDelayNoRank) {
  WatchListener listener(true);
  const WatchAddress address = at(listener.port());
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = address.ipv4;
  to.sin_port = address.port;
  std::vector<Socket> silent;
  for (int i = 0; i < 40; ++i) {
    silent.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(silent.back().descriptor(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  std::map<int, WatchLink> arrived;
  std::thread watcher([&] { arrived = listener.accept(token, 2, timeout); });
  for (const int rank : {3, 5}) EXPECT_NO_THROW(connect_to({&address, 1}, token, rank, 10));
  watcher.join();
  EXPECT_EQ(arrived.size(), 2);
  EXPECT_TRUE(arrived.contains(3) && arrived.contains(5));
}

// The port is closed to other hosts if there are none in the job.
TEST(WatchSockets, ListenAtTheLoopbackAddressAloneIfAllRanksAreOnOneHost) {
  const WatchListener listener(true);
  for (const std::uint32_t address : own_addresses(8)) {
    if (address == htonl(INADDR_LOOPBACK)) continue;
    const WatchAddress other{address, listener.port()};
    EXPECT_THROW(connect_to({&other, 1}, token, 0, 1), std::runtime_error) << text_of(other);
  }
}

TEST(WatchSockets, ReportAnAddressWithoutAListener) {
  WatchAddress address;
  {
    const WatchListener listener(true);
    address = at(listener.port());
  }
  try {
    connect_to({&address, 1}, token, 0, 1);
    FAIL() << "connected without a listener";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr(text_of(address)));
  }
}

}  // namespace
}  // namespace glinpack
