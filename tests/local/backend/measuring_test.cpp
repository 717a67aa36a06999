#include "base/measuring.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "openblas/host_ceilings.hpp"

namespace glinpack {
namespace {

constexpr MeasuringOptions brief{.repeat = 3, .seconds = 3e-3};

TEST(Measuring, MedianIsTheMiddleValueOrTheMeanOfTheTwoMiddleValues) {
  const Measured odd = spread_of({5, 1, 3});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 5);
  EXPECT_EQ(odd.repetitions, 3);
  EXPECT_EQ(spread_of({4, 1, 2, 10}).median, 3);
  EXPECT_EQ(spread_of({7}).median, 7);
}

TEST(Measuring, RepeatsTheRequestedNumberOfTimesAfterAWarmUp) {
  std::vector<std::int64_t> calls;
  const std::vector<double> seconds =
      seconds_of_rounds({.repeat = 4, .seconds = 0}, [&](std::int64_t rounds) { calls.push_back(rounds); });
  EXPECT_EQ(seconds.size(), 4u);
  ASSERT_GE(calls.size(), 5u);
  EXPECT_EQ(calls.front(), 1);
  for (std::size_t i = calls.size() - 4; i < calls.size(); ++i) EXPECT_EQ(calls[i], calls.back());
}

TEST(Measuring, SecondsArePerRound) {
  const auto sleep = [](std::int64_t rounds) { std::this_thread::sleep_for(std::chrono::milliseconds(rounds)); };
  EXPECT_GE(measured_seconds({.repeat = 2, .seconds = 0.02}, sleep).min, 1e-3);
}

TEST(Measuring, RateIsTheAmountOverTheSeconds) {
  const Measured rate = measured_rate(brief, 1e6, [](std::int64_t rounds) {
    volatile std::int64_t sum = 0;
    for (std::int64_t i = 0; i < 1000 * rounds; ++i) sum = sum + i;
  });
  EXPECT_GT(rate.min, 0);
  EXPECT_LE(rate.min, rate.median);
  EXPECT_LE(rate.median, rate.max);
}

TEST(HostCeilings, AreMeasuredForProductsAndCopies) {
  const HostCeilings host = measure_host_ceilings(2, brief);
  EXPECT_EQ(host.threads, 2);
  EXPECT_FALSE(host.processor.empty());
  EXPECT_FALSE(host.kernels.empty());
  EXPECT_GE(host.gemm_single_n, 256);
  EXPECT_GE(host.gemm_double_n, 256);
  EXPECT_GT(host.copy_bytes, 0);
  for (const Measured& measured : {host.gemm_single, host.gemm_double, host.copy}) {
    EXPECT_EQ(measured.repetitions, 3);
    EXPECT_GT(measured.min, 0);
    EXPECT_LE(measured.min, measured.median);
    EXPECT_LE(measured.median, measured.max);
  }
}

}  // namespace
}  // namespace glinpack
