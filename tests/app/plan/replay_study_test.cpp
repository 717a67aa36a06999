#include "app/plan/replay_study.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/model/replay.hpp"

namespace glinpack::app {
namespace {

TEST(ReplayWindows, AreAllPassesIfTheyAreFewAndFitIntoMemory) {
  for (const auto& [passes, ranks] : {std::pair<Index, Index>{94, 8}, {820, 64}, {39, 10'000}}) {
    const std::vector<ReplayWindow> all = windows_of_run(passes, ranks);
    ASSERT_EQ(all.size(), 1U) << passes;
    EXPECT_EQ(all[0].passes.end, passes);
    EXPECT_EQ(all[0].measured.first, model::whole_run.first);
  }
}

TEST(ReplayWindows, StandForAllPassesAndOfManyRanksAreShort) {
  for (const auto& [passes, ranks] : {std::pair<Index, Index>{821, 8}, {24'000, 1000}, {781, 10'000}, {100, 10'000}}) {
    double sum = 0;
    Index end = 0;
    for (const ReplayWindow& window : windows_of_run(passes, ranks)) {
      sum += window.weight * static_cast<double>(window.measured.end - window.measured.first);
      EXPECT_LE(window.passes.first, window.measured.first);
      EXPECT_GE(window.measured.first, end) << passes;
      EXPECT_LE(window.passes.end, passes);
      EXPECT_LE((window.passes.end - window.passes.first) * ranks, 29 * std::max<Index>(ranks, 8)) << passes;
      end = window.measured.end;
    }
    EXPECT_NEAR(sum, static_cast<double>(passes), 1e-9 * static_cast<double>(passes));
  }
}

}  // namespace
}  // namespace glinpack::app
