#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/global/world.hpp"
#include "watch/stop_request.hpp"

namespace glinpack {
namespace {

TEST(SharedStopSignal, IsThatOfAnyRank) {
  const StopSignals signals(false);
  EXPECT_EQ(share_stop_signal(MPI_COMM_WORLD), 0);
  if (test::world_rank() == test::world_size() - 1) raise(SIGINT);
  EXPECT_EQ(share_stop_signal(MPI_COMM_WORLD), SIGINT);
  EXPECT_EQ(stop_signal(), SIGINT);
  if (test::world_size() == 2 && test::world_rank() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    raise(SIGINT);  // the first one of this rank: it continues
  }
  const StopSignals none(false);  // must not stop later tests
}

}  // namespace
}  // namespace glinpack
