#include "base/progress_record.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "base/timeline.hpp"

namespace glinpack {
namespace {

TEST(ProgressRecord, HoldsTheLastStateOfATimeline) {
  ProgressRecord record;
  Timeline timeline;
  { const auto untold = timeline.scope(Lane::cpu, Phase::panel); }
  EXPECT_EQ(record.snapshot().steps, 0U);
  timeline.report_progress_to(record);
  timeline.enter_pass(5, Role::pivot);
  std::uint64_t begun = 0;
  {
    const auto scope = timeline.scope(Lane::gpu, Phase::reduce);
    begun = record.snapshot().steps;
    EXPECT_GT(begun, 0U);
    EXPECT_EQ(record.snapshot().phase, Phase::reduce);
    EXPECT_EQ(record.snapshot().pass, 5);
  }
  EXPECT_GT(record.snapshot().steps, begun);
  timeline.leave_passes();
  EXPECT_EQ(record.snapshot().pass, -1);
}

TEST(ProgressRecord, CanBeReadWhileItIsWritten) {
  ProgressRecord record;
  std::thread writer([&] {
    for (int pass = 0; pass < 1000; ++pass) {
      const WatchedSection watched(record);
      record.enter_pass(pass);
      record.enter(Phase::panel);
      record.await(Awaited::from, pass);
      record.await(Awaited::nothing, -1);
    }
  });
  std::thread helper([&] {
    for (int i = 0; i < 1000; ++i) record.step();
  });
  std::uint64_t steps = 0;
  while (steps < 6000) {
    const ProgressSnapshot now = record.snapshot();
    EXPECT_GE(now.steps, steps);
    EXPECT_LT(now.pass, 1000);
    steps = now.steps;
  }
  writer.join();
  helper.join();
  EXPECT_EQ(record.snapshot().steps, 1000U * 5 + 1000);
  EXPECT_FALSE(record.snapshot().watched);
}

}  // namespace
}  // namespace glinpack
