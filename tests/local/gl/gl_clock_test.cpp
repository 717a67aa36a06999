#include <gtest/gtest.h>

#include "device/command_stream.hpp"
#include "gl/handle.hpp"

namespace glinpack::gl {
namespace {

class GlOperationClock : public testing::TestWithParam<OperationClock::Source> {
 protected:
  std::shared_ptr<Context> context_ = Context::create(0, true);
  Timeline timeline_;
  Fences fences_{context_};
  OperationClock clock_{context_, timeline_, fences_, GetParam()};

  /// Submits work to the device.
  void work() {
    const BufferHandle buffer(context_);
    glNamedBufferStorage(buffer.id(), 1 << 20, nullptr, 0);
    glClearNamedBufferData(buffer.id(), GL_R32F, GL_RED, GL_FLOAT, nullptr);
  }
};

TEST_P(GlOperationClock, RecordsEveryOperationOnceInOrderWithoutOverlap) {
  constexpr int operations = 5000;  // more than may be pending
  for (int i = 0; i < operations; ++i) {
    timeline_.enter_pass(i, Role::reduce);
    clock_.start(Phase::reduce, i, 2 * i);
    if (i % 100 == 0) work();
    clock_.finish();
  }
  timeline_.leave_passes();
  fences_.wait_idle();
  clock_.collect();
  clock_.collect();
  ASSERT_EQ(timeline_.intervals().size(), static_cast<std::size_t>(operations));
  double last_end = -1e-3;
  for (int i = 0; i < operations; ++i) {
    const Interval& interval = timeline_.intervals()[static_cast<std::size_t>(i)];
    ASSERT_EQ(interval.lane, Lane::gpu);
    ASSERT_EQ(interval.pass, i);
    ASSERT_EQ(interval.role, Role::reduce);
    ASSERT_EQ(interval.flops, i);
    ASSERT_EQ(interval.bytes, 2 * i);
    ASSERT_LE(interval.start, interval.end);
    ASSERT_GE(interval.start, last_end - 1e-3) << "the device's clock is mapped to the host's within a millisecond";
    last_end = interval.end;
  }
  EXPECT_LT(last_end, timeline_.now() + 1e-3);
}

TEST_P(GlOperationClock, HasNothingToCollectBeforeTheFirstOperation) {
  clock_.collect();
  EXPECT_TRUE(timeline_.intervals().empty());
}

TEST_P(GlOperationClock, RecordsTwoOperationsThatOverlap) {
  clock_.start_overlapped(Phase::panel, 3);
  work();
  clock_.finish_other(Phase::reduce, 5);
  clock_.start(Phase::transfer, 0, 7);  // before the host sees the end of the panel
  clock_.finish();
  clock_.end_overlapped();
  clock_.end_overlapped();
  clock_.start_overlapped(Phase::panel, 4);
  clock_.finish_alone();
  clock_.end_overlapped();
  fences_.wait_idle();
  clock_.collect();
  const std::vector<Interval>& intervals = timeline_.intervals();
  ASSERT_EQ(intervals.size(), 4U);
  const auto flops_of = [&](Phase phase) {
    double flops = 0;
    for (const Interval& interval : intervals) flops += interval.phase == phase ? interval.flops : 0;
    return flops;
  };
  EXPECT_EQ(flops_of(Phase::panel), 3 + 4);
  EXPECT_EQ(flops_of(Phase::reduce), 5);
  for (const Interval& interval : intervals) {
    EXPECT_EQ(interval.lane, Lane::gpu);
    EXPECT_LE(interval.start, interval.end + 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(GlSources, GlOperationClock,
                         testing::Values(OperationClock::Source::device, OperationClock::Source::host),
                         [](const auto& test) {
                           return test.param == OperationClock::Source::device ? "device" : "host";
                         });

TEST(GlFences, PassInOrderAndOnlyOnce) {
  Fences fences(Context::create(0));
  EXPECT_TRUE(fences.passed(Fence{0}));
  EXPECT_TRUE(fences.passed(fences.take())) << "no commands were submitted";
  fences.note_commands();
  const Fence first = fences.take();
  EXPECT_EQ(fences.take().id, first.id) << "no commands in between";
  fences.note_commands();
  const Fence second = fences.take();
  EXPECT_LT(first.id, second.id);
  EXPECT_FALSE(fences.passed(first));
  fences.wait(second);
  EXPECT_TRUE(fences.passed(first)) << "a later fence implies the earlier ones";
  fences.wait(first);
  EXPECT_TRUE(fences.passed(second));
}

}  // namespace
}  // namespace glinpack::gl
