// Measurements of single links.
#include <signal.h>

#include "mpi/communication.hpp"
#include "network/links.hpp"
#include "tests/global/world.hpp"
#include "watch/stop_request.hpp"

namespace glinpack {
namespace {

using test::world_rank;
using test::world_size;

TEST(PingPong, TimesMessagesOfEverySizeOnTheFirstOfTwoRanks) {
  if (world_size() < 2) return;
  const int last = world_size() - 1;
  for (const Index bytes : {1, 8, 1000, 1 << 20}) {
    const PingPongTime time = ping_pong(MPI_COMM_WORLD, last, 0, bytes, {.round_trips = 5, .seconds = 1});
    if (world_rank() != last) {
      EXPECT_EQ(time.round_trips, 0);
      continue;
    }
    EXPECT_EQ(time.bytes, bytes);
    EXPECT_GE(time.round_trips, 1);
    EXPECT_LE(time.round_trips, 5);
    EXPECT_GT(time.min, 0);
    EXPECT_GE(time.mean, time.min);
    EXPECT_GT(time.bytes_per_second(), 0);
  }
}

TEST(PingPong, MeasuresOneRoundTripWithATimeLimitOfZero) {
  if (world_size() < 2) return;
  const PingPongTime time = ping_pong(MPI_COMM_WORLD, 0, 1, 8, {.round_trips = 100, .seconds = 0});
  EXPECT_EQ(time.round_trips, world_rank() == 0 ? 1 : 0);
}

TEST(Screening, MeasuresEveryPairOnceSequentiallyAndConcurrently) {
  for (const bool concurrent : {false, true}) {
    const Screening screening = screen_links(MPI_COMM_WORLD, {.seconds = 100, .concurrent_pairs = concurrent});
    EXPECT_EQ(screening.pairs, world_size() * (world_size() - 1) / 2);
    if (world_rank() != 0) {
      EXPECT_TRUE(screening.links.empty());
      continue;
    }
    std::size_t next = 0;
    for (int first = 0; first < world_size(); ++first) {
      for (int second = first + 1; second < world_size(); ++second, ++next) {
        ASSERT_LT(next, screening.links.size());
        EXPECT_EQ(screening.links[next].first, first);
        EXPECT_EQ(screening.links[next].second, second);
        EXPECT_GT(screening.links[next].latency, 0);
        EXPECT_GT(screening.links[next].bandwidth, 0);
      }
    }
    EXPECT_EQ(next, screening.links.size());
    EXPECT_EQ(screening.within_hosts.links, screening.pairs);
  }
}

TEST(Screening, StopsAtItsTimeLimit) {
  const Screening screening = screen_links(MPI_COMM_WORLD, {.seconds = 0, .concurrent_pairs = false});
  EXPECT_TRUE(screening.links.empty());
  EXPECT_TRUE(screening.slow.empty());
  EXPECT_FALSE(screening.interrupted);
}

TEST(Screening, StopsOnAllRanksAfterASignalToOneRank) {
  if (world_size() < 2) return;
  {
    const StopSignals signals(false);
    if (world_rank() == world_size() - 1) raise(SIGUSR1);
    const Screening screening = screen_links(MPI_COMM_WORLD, {.seconds = 100, .concurrent_pairs = false});
    EXPECT_TRUE(screening.interrupted);
    EXPECT_TRUE(screening.links.empty());
  }
  const StopSignals none_yet(false);
  EXPECT_FALSE(screen_links(MPI_COMM_WORLD, {.seconds = 100, .concurrent_pairs = false}).interrupted);
}

}  // namespace
}  // namespace glinpack
