#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "app/papers/studies.hpp"

namespace glinpack::app {
namespace {

using solvers::lu_step;
using solvers::lu_table1;
using solvers::LuCounts;
using solvers::LuMethod;
using solvers::LuSettings;
using solvers::LuStrategy;
using ::testing::HasSubstr;

/// The summed counts of the steps.
LuCounts sum_of_steps(const LuSettings& settings, Index n) {
  LuCounts counts;
  for (Index i = 0; i < n; ++i) {
    for (const solvers::LuPhase& phase : lu_step(settings, n, i).phases) {
      counts.passes += static_cast<Index>(phase.passes.size());
      if (!phase.copied) continue;
      ++counts.copies;
      counts.copied_bytes += solvers::lu_texel_bytes * phase.copied->texels();
    }
  }
  return counts;
}

TEST(LuMethodsSteps, SumUpToThePapersTable1) {
  for (const LuMethod method : solvers::all_lu_methods) {
    for (const LuStrategy strategy : solvers::all_lu_strategies) {
      for (const Index n : {4, 12, 256, 2048}) {
        const LuSettings settings{method, strategy};
        const LuCounts counts = sum_of_steps(settings, n);
        const std::optional<LuCounts> paper = lu_table1(settings, n);
        ASSERT_TRUE(paper);
        EXPECT_EQ(counts.passes, paper->passes);
        EXPECT_EQ(counts.copies, paper->copies);
        EXPECT_EQ(counts.copied_bytes, paper->copied_bytes);
      }
    }
  }
  EXPECT_FALSE(solvers::lu_table1({LuMethod::m3, LuStrategy::copying}, 10));
}

TEST(LuMethodsSteps, Table1OfThePaperMatchesHandComputation) {
  // N = 4: 32 * 4 * 15 / 3, half of it, and 2 * 4 * (64 + 12 - 4) / 3
  const auto bytes = [](LuMethod method) { return lu_table1({method, LuStrategy::copying}, 4)->copied_bytes; };
  EXPECT_EQ(bytes(LuMethod::m1), 640);
  EXPECT_EQ(bytes(LuMethod::m2), 320);
  EXPECT_EQ(bytes(LuMethod::m3), 192);
  EXPECT_EQ(bytes(LuMethod::m4), 192);
  EXPECT_EQ(lu_table1({LuMethod::m3, LuStrategy::switching}, 4)->passes, 32);
  EXPECT_EQ(lu_table1({LuMethod::m3, LuStrategy::switching}, 4)->copied_bytes, 0);
}

/// A step renders every element below and right of the pivot once, and no element of the pivot's row or above.
TEST(LuMethodsSteps, PassesRenderEveryElementOfTheStepOnce) {
  for (const LuMethod method : solvers::all_lu_methods) {
    for (const Index n : {4, 5, 7, 8, 11}) {
      for (Index i = 0; i < n; ++i) {
        const Index rows_a_texel = vectorised(method) ? 4 : 1;
        std::vector<int> rendered(static_cast<std::size_t>(round_up(n, 4) * n));
        for (const solvers::LuPhase& phase : lu_step({method, LuStrategy::switching}, n, i).phases) {
          for (const solvers::LuPass& pass : phase.passes) {
            for (Index t = 0; t < pass.drawn.texels(); ++t) {
              const Index x = pass.drawn.x + t % pass.drawn.width, y = pass.drawn.y + t / pass.drawn.width;
              for (Index c = static_cast<Index>(pass.channels); c < rows_a_texel; ++c) {
                ++rendered[static_cast<std::size_t>((y * rows_a_texel + c) * n + x)];
              }
            }
          }
        }
        for (Index row = 0; row < n; ++row) {
          for (Index column = 0; column < n; ++column) {
            EXPECT_EQ(rendered[static_cast<std::size_t>(row * n + column)], row > i && column >= i ? 1 : 0)
                << name_of(method) << ", n " << n << ", step " << i << ": " << row << ", " << column;
          }
        }
      }
    }
  }
}

/// Section 3.1: right-looking reads and draws n^3 / 3 elements in 2 n passes; left-looking needs n^2 / 2 passes, and
/// crout passes over areas of n^2 / 2 elements.
TEST(LuOrders, CountsExplainThePapersChoice) {
  using solvers::LuOrder;
  constexpr Index n = 64;
  const auto right = counts_of(LuOrder::right_looking, n), left = counts_of(LuOrder::left_looking, n),
             crout = counts_of(LuOrder::crout, n);
  EXPECT_EQ(right.passes, 2 * (n - 1));
  EXPECT_EQ(left.passes, n * (n - 1) / 2 + n - 1);
  EXPECT_EQ(crout.passes, 2 * (n - 1));
  EXPECT_EQ(right.drawn, n * (n * n - 1) / 3);
  EXPECT_EQ(left.drawn, n * (n - 1));
  EXPECT_EQ(crout.drawn, n * (n - 1) / 2 + n * (n + 1) / 2 - n);
  // two elements a term, n (n - 1) (2 n - 1) / 6 terms each; the own element a draw, and the pivot of L
  const Index terms = n * (n - 1) * (2 * n - 1) / 6, pivots = n * (n - 1) / 2;
  EXPECT_EQ(right.reads, right.drawn + 2 * terms + pivots);
  EXPECT_EQ(left.reads, left.drawn + 2 * terms + pivots);
  EXPECT_EQ(crout.reads, left.reads);
  // the largest pass of right-looking reads nearly all of A, its fragments their own element, one of L and one of U
  EXPECT_EQ(right.largest_area, n * n - 1);
  EXPECT_EQ(left.largest_area, n * n / 4 + n / 2);
  EXPECT_EQ(crout.largest_area, n * n / 4 + n);
  EXPECT_EQ(right.largest_fragment, 3);
  EXPECT_EQ(left.largest_fragment, 2 * n - 1);
  EXPECT_EQ(crout.largest_fragment, 2 * n - 1);
}

TEST(LuTradeOff, IsWhereTheFitsCross) {
  const auto fit = [](const char* series, double constant, double cubic) {
    return SeriesFit{.series = series, .settings = "", .is_rival = false, .fit = {{constant, 0, 0, cubic}, 0, 0}};
  };
  const std::vector<SeriesFit> fits{fit("M1 copy", 2, 1e-6), fit("M2 copy", 1, 2e-6), fit("M3 copy", 1, 1e-6),
                                    fit("M4 copy", 2, 2e-6)};
  EXPECT_NEAR(*crossing(fits[0].fit, fits[1].fit, 10, 1000), 100, 1e-6);
  EXPECT_EQ(crossing(fits[2].fit, fits[3].fit, 10, 1000), std::nullopt);
  const std::string text = trade_offs_text(fits, 10, 1000);
  EXPECT_THAT(text, HasSubstr("M1 and M2 copy: above N = 100, M1 is faster\n"));
  EXPECT_THAT(text, HasSubstr("M3 and M4 copy: at all sizes, M3 is faster\n"));
  EXPECT_EQ(trade_offs_text({}, 10, 1000), "");
}

TEST(LuMethodsTables, HaveCountsNextToThePapersAndTheTimes) {
  ModeRecord record{.variant = "M2", .settings = "copy", .size = "8", .n = 8};
  record.parameters = nlohmann::json::parse(R"({
    "passes": 8, "passes_of_table_1": 8, "passes_with_texels": 7, "weight": 1.0, "weight_of_table_1": 1.0,
    "copies": 8, "copies_of_table_1": null, "copied_bytes": 2688, "copied_bytes_of_table_1": 2688,
    "share_of_peak": 0.125, "breakdown": {"source": "waiting", "whole_seconds": 0.010, "device_seconds": 0.005, "host_seconds": 0.003,
                  "copy_seconds": null},
    "access": {"bytes": 4e6, "seconds": 0.002, "bytes_per_second": 2e9, "share": 0.5}})");
  const auto tables = [&] { return lu_tables(std::vector<ModeRecord>{record}, {.fetch_rate = 4e9, .flops = 8e9}); };
  EXPECT_THAT(tables(), ::testing::ContainsRegex("M2 copy +8 +8 +8 +7 +1.000 +1 +8 +- +2688 +2688\n"));
  EXPECT_THAT(tables(), ::testing::ContainsRegex("M2 copy +8 +10.00 +5.00 +3.00 +- +12.50%\n"));
  EXPECT_THAT(tables(), ::testing::ContainsRegex("M2 copy +8 +0.0040 +2.00 +2.00 +50%\n"));
  EXPECT_THAT(tables(), HasSubstr("waits after passes and copies"));
  record.parameters["breakdown"]["source"] = "timer queries";
  EXPECT_THAT(tables(), HasSubstr("timestamps of the device"));
  record.failure = "step 2 of 8";
  EXPECT_EQ(tables(), "");
}

}  // namespace
}  // namespace glinpack::app
