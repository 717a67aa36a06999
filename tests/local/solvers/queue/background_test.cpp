#include "solvers/queue/background.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>

namespace glinpack {
namespace {

using testing::Each;
using testing::SizeIs;

TEST(LoadBalance, FixedGivesTheDeviceItsShareAtOnce) {
  const auto share = [](double ratio, Index count) {
    LoadBalance balance = LoadBalance::fixed(ratio, count);
    Index device = 0;
    while (balance.next_to_device(device, count - device)) {
      balance.count_device_system();
      ++device;
    }
    return device;
  };
  EXPECT_EQ(share(2, 30), 10);  // the paper's ratio: the host solves two while the device solves one
  EXPECT_EQ(share(1, 30), 15);
  EXPECT_EQ(share(0.5, 30), 20);
  EXPECT_EQ(share(0, 30), 30);
  EXPECT_EQ(share(1000, 30), 0);
  EXPECT_EQ(share(2, 1), 0);
  EXPECT_EQ(share(0, 0), 0);
}

TEST(LoadBalance, FixedIsNotAdjusted) {
  LoadBalance balance = LoadBalance::fixed(2, 30);
  for (const bool both : {false, true}) {
    balance.note_host(1, both);
    balance.note_device(100, both);
  }
  EXPECT_EQ(balance.ratio(), 2);
  EXPECT_THAT(balance.history(), SizeIs(1));
  EXPECT_TRUE(balance.next_to_host());
}

TEST(LoadBalance, NegativeRatiosAreRejected) {
  EXPECT_THROW(LoadBalance::fixed(-1, 3), std::invalid_argument);
  EXPECT_THROW(LoadBalance::fixed(std::nan(""), 3), std::invalid_argument);
}

TEST(LoadBalance, AutomaticFollowsMeasurementsWhileBothWork) {
  LoadBalance balance = LoadBalance::automatic(1, 1);
  EXPECT_EQ(balance.ratio(), 1);
  for (int i = 0; i < 60; ++i) balance.note_device(6, true);
  EXPECT_NEAR(balance.ratio(), 6, 1e-9);
  for (int i = 0; i < 60; ++i) balance.note_host(2, true);
  EXPECT_NEAR(balance.ratio(), 3, 1e-9);
  EXPECT_THAT(balance.history(), SizeIs(121));
  balance.note_host(50, false);
  EXPECT_NEAR(balance.ratio(), 3, 1e-9);
}

TEST(LoadBalance, AutomaticGivesTheDeviceJustEnoughToStayBusy) {
  const LoadBalance slow_device = LoadBalance::automatic(1, 4);
  EXPECT_TRUE(slow_device.next_to_device(0, 30));
  EXPECT_TRUE(slow_device.next_to_device(1, 30));
  EXPECT_FALSE(slow_device.next_to_device(2, 30)) << "the device has one in progress and one pending";
  const LoadBalance fast_device = LoadBalance::automatic(1, 0.25);
  EXPECT_TRUE(fast_device.next_to_device(4, 30));
  EXPECT_FALSE(fast_device.next_to_device(5, 30)) << "the device has more than it can solve while the host solves one";
}

TEST(LoadBalance, AutomaticKeepsProblemsThatTheHostFinishesEarlier) {
  const LoadBalance balance = LoadBalance::automatic(1, 4);
  EXPECT_TRUE(balance.next_to_device(0, 4));
  EXPECT_FALSE(balance.next_to_device(0, 3));
  EXPECT_FALSE(balance.next_to_device(1, 7));
  EXPECT_FALSE(balance.next_to_device(0, 0));
  EXPECT_TRUE(LoadBalance::automatic(1, 0.1).next_to_device(3, 1)) << "the device finishes this one earlier";
}

TEST(LoadBalance, AutomaticUsesOneSideIfBothSlowEachOtherDown) {
  LoadBalance host = LoadBalance::automatic(1, 4);
  for (int i = 0; i < 60; ++i) host.note_host(3, true);  // 1 / 3 + 1 / 4 a second, less than 1
  EXPECT_FALSE(host.next_to_device(0, 30));
  EXPECT_TRUE(host.next_to_host());
  LoadBalance device = LoadBalance::automatic(4, 1);
  for (int i = 0; i < 60; ++i) device.note_device(3, true);
  EXPECT_TRUE(device.next_to_device(0, 30));
  EXPECT_TRUE(device.next_to_device(1, 1));
  EXPECT_FALSE(device.next_to_device(2, 30));
  EXPECT_FALSE(device.next_to_host());
  for (int i = 0; i < 60; ++i) device.note_device(100, false);  // after that changes
  EXPECT_TRUE(device.next_to_host());
}

struct DummyDevice {};
using Queue = OperationQueue<DummyDevice>;

class Background : public testing::Test {
 protected:
  auto squaring(Index fails = -1) {
    return [this, fails](Index i) {
      return queue_.enqueue([i, fails](DummyDevice&) -> TimedAnswer<Index> {
        if (i == fails) throw std::range_error("problem " + std::to_string(i));
        return {i * i, 1e-3};
      });
    };
  }
  BackgroundTimes run(LoadBalance& balance, Index count) {
    answers_.assign(static_cast<std::size_t>(count), -1);
    given_.assign(answers_.size(), 0);
    return solve_with_background<Index>(
        queue_, count, balance, [](Index i) { return i * i; }, squaring(),
        [&](Index i, Index answer, bool on_device) {
          answers_[static_cast<std::size_t>(i)] = answer;
          ++given_[static_cast<std::size_t>(i)];
          devices_ += on_device ? 1 : 0;
        });
  }
  void expect_all_solved_once() const {
    EXPECT_THAT(given_, Each(1));
    for (std::size_t i = 0; i < answers_.size(); ++i) EXPECT_EQ(answers_[i], static_cast<Index>(i * i));
  }

  Queue queue_{[] { return std::make_shared<DummyDevice>(); }};
  std::vector<Index> answers_;
  std::vector<int> given_;
  Index devices_ = 0;
};

TEST_F(Background, EveryProblemIsSolvedOnceInTheGivenRatio) {
  for (const double ratio : {0.0, 0.5, 2.0, 1000.0}) {
    devices_ = 0;
    LoadBalance balance = LoadBalance::fixed(ratio, 30);
    const BackgroundTimes times = run(balance, 30);
    expect_all_solved_once();
    EXPECT_EQ(times.on_device, std::llround(30 / (1 + ratio)));
    EXPECT_EQ(times.on_device, devices_);
    EXPECT_LE(times.host + times.waiting, times.total);
  }
}

TEST_F(Background, EveryProblemIsSolvedOnceForAnyMeasurements) {
  for (const double device_seconds : {1e-6, 1e-3, 1.0}) {
    for (const Index count : {0, 1, 2, 100}) {
      LoadBalance balance = LoadBalance::automatic(1e-3, device_seconds);
      run(balance, count);
      expect_all_solved_once();
      run(balance, count);  // with the measured rates
      expect_all_solved_once();
      LoadBalance hindered = LoadBalance::automatic(1e-3, device_seconds);
      for (int i = 0; i < 60; ++i) hindered.note_device(1, true);
      run(hindered, count);
      expect_all_solved_once();
    }
  }
}

TEST_F(Background, ErrorsOfEitherSideAreThrownAndLeaveTheQueueUsable) {
  const auto keep = [](Index, Index, bool) {};
  LoadBalance device = LoadBalance::fixed(0, 5);
  EXPECT_THROW(solve_with_background<Index>(
                   queue_, 5, device, [](Index i) { return i; }, squaring(3), keep),
               std::range_error);
  LoadBalance both = LoadBalance::fixed(1, 6);
  const auto on_host = [](Index) -> Index { throw std::domain_error("the host's"); };
  EXPECT_THROW(solve_with_background<Index>(queue_, 6, both, on_host, squaring(), keep), std::domain_error);
  LoadBalance balance = LoadBalance::fixed(1, 6);
  run(balance, 6);
  expect_all_solved_once();
}

}  // namespace
}  // namespace glinpack
