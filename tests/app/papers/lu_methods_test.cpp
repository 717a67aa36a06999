#include "app/papers/lu_methods.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using solvers::lu_step;
using solvers::lu_table1;
using solvers::LuCounts;
using solvers::LuMethod;
using solvers::LuSettings;
using solvers::LuStrategy;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LuMethodsOptions, DefaultsAreEverythingOnSmallSizes) {
  const LuMethodsOptions o = parse_lu_methods_options({});
  EXPECT_THAT(o.n, ElementsAre(64, 128, 256));
  EXPECT_THAT(o.methods, ElementsAre("M1", "M2", "M3", "M4", "compute"));
  EXPECT_THAT(o.strategy, ElementsAre(LuStrategy::copying, LuStrategy::switching));
  EXPECT_TRUE(o.blocked());
  EXPECT_EQ(o.drawn().size(), 8U);
}

TEST(LuMethodsOptions, StrategiesMultiplyOnlyThePapersMethods) {
  const LuMethodsOptions o =
      parse_lu_methods_options({"--methods", "compute,M3", "--strategy", "switch", "--n", "4,5"});
  ASSERT_EQ(o.drawn().size(), 1U);
  EXPECT_EQ(o.drawn()[0].method, LuMethod::m3);
  EXPECT_EQ(o.drawn()[0].strategy, LuStrategy::switching);
  const nlohmann::json json = to_json(o, lu_methods_table);
  EXPECT_EQ(json["methods"], (std::vector<std::string>{"compute", "M3"}));
  EXPECT_EQ(json["strategy"], std::vector<std::string>{"switch"});
  EXPECT_EQ(json["n"], (std::vector<int>{4, 5}));
  EXPECT_FALSE(parse_lu_methods_options({"--methods", "M1"}).blocked());
}

TEST(LuMethodsOptions, RejectUnknownNames) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { parse_lu_methods_options(arguments); }, parts);
  };
  refused({"--methods", "M5"}, {"--methods", "'M5'", "M1"});
  refused({"--strategy", "swich"}, {"--strategy", "'swich'", "did you mean switch"});
  refused({"--input", "a.npy", "--n", "5"}, {"--n", "--input a.npy", "leave one"});
}

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

TEST(LuMethodsTables, HaveCountsNextToThePapersAndTheTimes) {
  LuFigures figures{
      .settings = {LuMethod::m2, LuStrategy::copying}, .n = 8, .counts = {}, .breakdown = {}, .access = {}};
  figures.counts = {.passes = 8, .copies = 8, .copied_bytes = 2688, .passes_with_texels = 7, .drawn_texels = 168};
  figures.breakdown = {.whole = 0.010, .device = 0.005, .host = 0.003, .copying = 0.002};
  figures.access = {.seconds = 0.002, .bytes = 4e6, .bytes_per_second = 2e9, .share = 0.5};
  const std::string text = lu_tables({figures}, LuClock::differences, 4e9);
  EXPECT_THAT(text, ::testing::ContainsRegex("M2 copy +8 +8 +8 +7 +1.000 +1 +8 +8 +2688 +2688\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("M2 copy +8 +10.00 +5.00 +3.00 +2.00\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("M2 copy +8 +0.0040 +2.00 +2.00 +50%\n"));
  EXPECT_THAT(text, HasSubstr("by differences"));
  EXPECT_THAT(lu_tables({figures}, LuClock::timer_queries, 4e9), HasSubstr("timestamps of the device"));
  EXPECT_EQ(lu_tables({}, LuClock::differences, 4e9), "");
  const nlohmann::json json = to_json(figures, LuClock::timer_queries);
  EXPECT_EQ(json["breakdown"]["source"], "timer queries");
  EXPECT_EQ(json["copied_bytes"], json["copied_bytes_of_table_1"]);
  EXPECT_EQ(json["access"]["share"], 0.5);
}

}  // namespace
}  // namespace glinpack::app
