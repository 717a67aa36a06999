#include "watch/stop_request.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

namespace glinpack {
namespace {

TEST(StopSignals, TheFirstSignalIsStoredAndNamed) {
  EXPECT_EQ(stop_signal(), 0);
  const StopSignals signals(false);
  raise(SIGUSR1);
  raise(SIGTERM);  // the launcher may forward the same request twice
  EXPECT_EQ(stop_signal(), SIGUSR1);
  EXPECT_EQ(name_of_signal(stop_signal()), "SIGUSR1");
}

TEST(StopSignalsDeathTest, ASecondSignalAfterASecondEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int number : {SIGTERM, SIGUSR1, SIGINT}) {
    EXPECT_EXIT(
        {
          const StopSignals signals(false);
          raise(number);
          std::this_thread::sleep_for(std::chrono::milliseconds(1100));
          raise(number);
        },
        ::testing::KilledBySignal(number), "");
  }
}

TEST(StopSignalsDeathTest, TheFirstSignalIsAcknowledged) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const StopSignals signals(true);
        raise(SIGTERM);
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "glinpack: SIGTERM: ends at the next pass");
}

}  // namespace
}  // namespace glinpack
