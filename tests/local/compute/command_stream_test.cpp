#include "device/command_stream.hpp"

#include "tests/local/compute_cases.hpp"

namespace glinpack::test {
namespace {

template <class Case, OperationClock::Source time_source>
struct ClockCase {
  static constexpr const BackendRecord& record = Case::record;
  static constexpr OperationClock::Source source = time_source;
  static std::shared_ptr<ComputeDevice> open() { return Case::open({.debug = true}); }
};
using ClockCases = testing::Types<
    ClockCase<GlCase<float>, OperationClock::Source::device>, ClockCase<GlCase<float>, OperationClock::Source::host>,
    ClockCase<VkCase<float>, OperationClock::Source::device>, ClockCase<VkCase<float>, OperationClock::Source::host>>;
struct ClockCaseNames {
  template <class Case>
  static std::string GetName(int) {
    return api_name<Case>() + (Case::source == OperationClock::Source::device ? "device" : "host");
  }
};

template <class Case>
class OperationClockTest : public testing::Test {
 protected:
  std::shared_ptr<ComputeDevice> device_ = Case::open();
  Timeline timeline_;
  Fences fences_{device_};
  OperationClock clock_{device_, timeline_, fences_, Case::source};

  /// Submits work to the device.
  void work() {
    constexpr std::int64_t bytes = 1 << 20;
    const auto buffer = device_->allocate(bytes, Memory::device);
    device_->fill(buffer->id(), bytes, 0);
  }
};
TYPED_TEST_SUITE(OperationClockTest, ClockCases, ClockCaseNames);

TYPED_TEST(OperationClockTest, RecordsEveryOperationOnceInOrderWithoutOverlap) {
  constexpr int operations = 5000;  // more than may be pending
  for (int i = 0; i < operations; ++i) {
    this->timeline_.enter_pass(i, Role::reduce);
    this->clock_.start(Phase::reduce, i, 2 * i);
    if (i % 100 == 0) this->work();
    this->clock_.finish();
  }
  this->timeline_.leave_passes();
  this->fences_.wait_idle();
  this->clock_.collect();
  this->clock_.collect();
  ASSERT_EQ(this->timeline_.intervals().size(), static_cast<std::size_t>(operations));
  double last_end = -1e-3;
  for (int i = 0; i < operations; ++i) {
    const Interval& interval = this->timeline_.intervals()[static_cast<std::size_t>(i)];
    ASSERT_EQ(interval.lane, Lane::gpu);
    ASSERT_EQ(interval.pass, i);
    ASSERT_EQ(interval.role, Role::reduce);
    ASSERT_EQ(interval.flops, i);
    ASSERT_EQ(interval.bytes, 2 * i);
    ASSERT_LE(interval.start, interval.end);
    ASSERT_GE(interval.start, last_end - 1e-3) << "the device's clock is mapped to the host's within a millisecond";
    last_end = interval.end;
  }
  EXPECT_LT(last_end, this->timeline_.now() + 1e-3);
}

TYPED_TEST(OperationClockTest, HasNothingToCollectBeforeTheFirstOperation) {
  this->clock_.collect();
  EXPECT_TRUE(this->timeline_.intervals().empty());
}

TYPED_TEST(OperationClockTest, RecordsTwoOperationsThatOverlap) {
  this->clock_.start_overlapped(Phase::panel, 3);
  this->work();
  this->clock_.finish_other(Phase::reduce, 5);
  this->clock_.start(Phase::transfer, 0, 7);  // before the host sees the end of the panel
  this->clock_.finish();
  this->fences_.note_commands();
  this->fences_.wait_idle();  // an end is seen after the start
  this->clock_.end_overlapped();
  this->clock_.end_overlapped();
  this->clock_.start_overlapped(Phase::panel, 4);
  this->clock_.finish_alone();
  this->clock_.end_overlapped();
  this->fences_.wait_idle();
  this->clock_.collect();
  const std::vector<Interval>& intervals = this->timeline_.intervals();
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

template <class Case>
class FencesTest : public testing::Test {};
TYPED_TEST_SUITE(FencesTest, ApiCases, ComputeCaseNames);

TYPED_TEST(FencesTest, PassInOrderAndOnlyOnce) {
  Fences fences(TypeParam::open({}));
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
}  // namespace glinpack::test
