#include "app/record/throttling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/report_records.hpp"

namespace glinpack::app {
namespace {

using sensors::Sample;
using ::testing::IsEmpty;

/// One pass per second from time 0, each with `seconds` of kernels for 100 operations.
std::vector<PassKernels> passes(const std::vector<double>& seconds, const std::vector<double>& flops = {}) {
  std::vector<PassKernels> list;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    list.push_back({.pass = static_cast<std::int32_t>(i),
                    .begin = static_cast<double>(i),
                    .end = static_cast<double>(i) + 0.9,
                    .seconds = seconds[i],
                    .flops = flops.empty() ? 100 : flops[i]});
  }
  return list;
}

/// A sample in the middle of every pass.
std::vector<Sample> samples(const std::vector<std::uint32_t>& throttle) {
  std::vector<Sample> list;
  for (std::size_t i = 0; i < throttle.size(); ++i) {
    list.push_back({static_cast<double>(i) + 0.5, {.throttle = throttle[i]}});
  }
  return list;
}

constexpr std::uint32_t heat = sensors::throttle_hardware_thermal;

TEST(Throttling, explains_passes_that_took_longer_than_their_neighbours) {
  const auto slow = slow_throttled_passes(passes({1, 1, 1, 2, 2, 1, 1}), samples({0, 0, 0, heat, heat, 0, 0}));
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].first, 3);
  EXPECT_EQ(slow[0].last, 4);
  EXPECT_DOUBLE_EQ(slow[0].factor, 2);
  EXPECT_EQ(slow[0].throttle, heat);
}

TEST(Throttling, is_reported_only_if_passes_were_both_slow_and_throttled) {
  EXPECT_THAT(slow_throttled_passes(passes({1, 1, 1, 1.05, 1}), samples({0, 0, 0, heat, 0})), IsEmpty());
  EXPECT_THAT(slow_throttled_passes(passes({1, 1, 1, 5, 1}), samples({0, 0, 0, 0, 0})), IsEmpty());
  EXPECT_THAT(slow_throttled_passes(passes({1, 1, 5, 1}),
                                    samples({0, 0, sensors::throttle_idle | sensors::throttle_clock_setting, 0})),
              IsEmpty());
  EXPECT_THAT(slow_throttled_passes(passes({1, 5, 1}), samples({0, sensors::unknown_throttle, 0})), IsEmpty());
}

TEST(Throttling, of_all_passes_is_not_reported) {
  EXPECT_THAT(slow_throttled_passes(passes({1, 2, 3}), samples({heat, heat, heat})), IsEmpty());
  EXPECT_THAT(slow_throttled_passes({}, samples({heat})), IsEmpty());
  EXPECT_THAT(slow_throttled_passes(passes({1, 2, 3}), {}), IsEmpty());
}

TEST(Throttling, is_compared_per_operation) {
  // half of the operations in half of the time, as in smaller passes
  EXPECT_THAT(slow_throttled_passes(passes({4, 3, 2, 1}, {400, 300, 200, 100}), samples({0, 0, heat, 0})), IsEmpty());
  const auto slow = slow_throttled_passes(passes({4, 3, 4, 1}, {400, 300, 200, 100}), samples({0, 0, heat, 0}));
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_DOUBLE_EQ(slow[0].factor, 2);
}

TEST(Throttling, of_small_passes_at_the_end_is_not_reported) {
  const auto slow = slow_throttled_passes(passes({4, 4, 4, 6, 5, 5}, {400, 400, 400, 400, 50, 20}),
                                          samples({0, 0, 0, heat, heat, heat}));
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].first, 3);
  EXPECT_EQ(slow[0].last, 3);
  EXPECT_DOUBLE_EQ(slow[0].factor, 1.5);
}

TEST(Throttling, a_pass_without_a_sample_has_the_state_of_the_nearest_sample) {
  const std::vector<Sample> sparse{{0.5, {.throttle = 0}}, {3.5, {.throttle = heat}}, {8.5, {.throttle = 0}}};
  const auto slow = slow_throttled_passes(passes({1, 1, 2, 2, 2, 2, 1, 1, 1}), sparse);
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].first, 2);
  EXPECT_EQ(slow[0].last, 5);
}

TEST(Throttling, is_considered_for_arithmetic_on_the_device_only) {
  const auto interval = [](double start, double end, Lane lane, double flops, std::int32_t pass) {
    Interval made = example::interval(start, end, Role::pivot, lane, Phase::reduce, 0, flops);
    made.pass = pass;
    return made;
  };
  const auto kernels = kernels_by_pass(std::vector{interval(0, 1, Lane::gpu, 10, 0), interval(5, 6, Lane::gpu, 10, 1),
                                                   interval(1, 3, Lane::gpu, 30, 0), interval(0, 9, Lane::cpu, 99, 0),
                                                   interval(3, 4, Lane::gpu, 0, 0), interval(7, 8, Lane::gpu, 10, -1)});
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_DOUBLE_EQ(kernels[0].begin, 0);
  EXPECT_DOUBLE_EQ(kernels[0].end, 3);
  EXPECT_DOUBLE_EQ(kernels[0].seconds, 3);
  EXPECT_DOUBLE_EQ(kernels[0].flops, 40);
  EXPECT_EQ(kernels[1].pass, 1);
}

TEST(Throttling, reasons_are_named) {
  EXPECT_EQ(reasons_text(sensors::throttle_power_cap | heat), "power cap, hardware thermal slowdown");
}

}  // namespace
}  // namespace glinpack::app
