#include "app/record/breakdown.hpp"

#include <chrono>
#include <random>

#include "app/record/timeline.hpp"
#include "tests/app/report_records.hpp"

namespace glinpack::app::example {
namespace {

TEST(Intervals, union_sorts_merges_and_drops_empty_intervals) {
  EXPECT_THAT(united({{5, 6}, {1, 2}, {2, 3}, {1.5, 1.75}, {4, 4}, {9, 8}}),
              ElementsAre(TimeSpan{1, 3}, TimeSpan{5, 6}));
  EXPECT_THAT(united({}), IsEmpty());
}

TEST(Intervals, difference_cuts_heads_tails_and_holes) {
  const TimeSet a{{0, 10}, {20, 30}, {40, 50}};
  EXPECT_THAT(subtracted(a, {{-1, 1}, {3, 4}, {9, 21}, {29, 45}}),
              ElementsAre(TimeSpan{1, 3}, TimeSpan{4, 9}, TimeSpan{21, 29}, TimeSpan{45, 50}));
  EXPECT_EQ(subtracted(a, {}), a);
  EXPECT_THAT(subtracted(a, {{0, 50}}), IsEmpty());
  EXPECT_THAT(subtracted({}, a), IsEmpty());
}

TEST(Intervals, difference_agrees_with_a_bitmap_of_moments) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> moment(0, 63);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<TimeSpan> spans[2];
    bool covered[2][64] = {};
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < 6; ++i) {
        const int from = moment(random), to = moment(random);
        spans[side].push_back({static_cast<double>(from), static_cast<double>(to)});
        for (int t = from; t < to; ++t) covered[side][t] = true;
      }
    }
    double expected = 0;
    for (int t = 0; t < 64; ++t) expected += covered[0][t] && !covered[1][t] ? 1 : 0;
    EXPECT_EQ(length(subtracted(united(spans[0]), united(spans[1]))), expected) << "trial " << trial;
  }
}

TEST(Intervals, intersection_equals_subtracting_the_outside) {
  const TimeSet a{{0, 10}, {20, 30}, {40, 50}};
  const TimeSet b{{-1, 1}, {3, 4}, {9, 21}, {29, 45}, {60, 70}};
  EXPECT_THAT(common(a, b), ElementsAre(TimeSpan{0, 1}, TimeSpan{3, 4}, TimeSpan{9, 10}, TimeSpan{20, 21},
                                        TimeSpan{29, 30}, TimeSpan{40, 45}));
  EXPECT_EQ(common(a, b), common(b, a));
  EXPECT_EQ(common(a, b), subtracted(a, subtracted(a, b)));
  EXPECT_THAT(common(a, {}), IsEmpty());
}

TEST(Breakdown, overlapped_network_time_is_hidden_and_the_rest_exposed) {
  const Breakdown breakdown = break_down(passed_run().result);
  ASSERT_EQ(breakdown.by_rank.size(), 2u);
  const RankTime& first = breakdown.by_rank[0];
  EXPECT_DOUBLE_EQ(first.network, 1.0);
  EXPECT_DOUBLE_EQ(first.network_exposed, 0.5);
  EXPECT_DOUBLE_EQ(first.network_hidden, 0.5);
  EXPECT_DOUBLE_EQ(first.computing, 3.5);
  EXPECT_DOUBLE_EQ(first.idle, 0.0) << "the device computes while the host waits";
  const RankTime& second = breakdown.by_rank[1];
  EXPECT_DOUBLE_EQ(second.network_exposed, 1.0) << "for one of two seconds the sender had not begun";
  EXPECT_DOUBLE_EQ(second.waiting, 1.0);
  EXPECT_DOUBLE_EQ(second.transfer, 0.5);
  EXPECT_DOUBLE_EQ(second.idle, 2.0);
  EXPECT_DOUBLE_EQ(breakdown.network_exposed.min, 0.5);
  EXPECT_DOUBLE_EQ(breakdown.network_exposed.mean, 0.75);
  EXPECT_DOUBLE_EQ(breakdown.network_exposed.max, 1.0);
  EXPECT_DOUBLE_EQ(breakdown.network_bytes, 1e9);
  EXPECT_DOUBLE_EQ(breakdown.transfer_bytes, 1e9);
  EXPECT_DOUBLE_EQ(breakdown.flops, 11e9);
}

TEST(Breakdown, intervals_outside_the_timed_section_are_not_counted) {
  RunResult result;
  result.seconds = 2;
  result.ranks.push_back(rank_record(0, 0, 0,
                                     {interval(0, 1, Role::none, Lane::cpu, Phase::substitution),
                                      interval(1.5, 9, Role::none, Lane::net, Phase::broadcast_u)}));
  const Breakdown breakdown = break_down(result);
  EXPECT_DOUBLE_EQ(breakdown.network.mean, 0.5);
  EXPECT_DOUBLE_EQ(breakdown.idle.mean, 0.5);
}

TEST(Breakdown, spread_is_over_the_ranks_that_have_the_role) {
  RunResult result;
  result.seconds = 10;
  result.ranks.push_back(rank_record(0, 0, 0, {interval(0, 4, Role::reduce, Lane::gpu, Phase::reduce)}));
  result.ranks.push_back(rank_record(1, 0, 1, {interval(0, 1, Role::reduce, Lane::cpu, Phase::swap)}));
  result.ranks.push_back(rank_record(2, 1, 0, {interval(0, 1, Role::pivot, Lane::cpu, Phase::panel)}));
  const Breakdown breakdown = break_down(result);
  ASSERT_EQ(breakdown.phases.size(), 3u);
  const PhaseTotal& reduce = breakdown.phases[2];
  EXPECT_EQ(reduce.phase, Phase::reduce);
  EXPECT_EQ(reduce.ranks, 2);
  EXPECT_DOUBLE_EQ(reduce.seconds.min, 0);
  EXPECT_DOUBLE_EQ(reduce.seconds.mean, 2);
  EXPECT_DOUBLE_EQ(reduce.seconds.max, 4);
}

double mean_of(const Breakdown& breakdown, HplPhase phase) {
  for (const HplPhaseTotal& total : breakdown.hpl_phases) {
    if (total.phase == phase) return total.seconds.mean;
  }
  return -1;
}

TEST(HplPhases, add_up_with_idle_to_the_time_and_the_update_hides_what_is_beside_it) {
  const auto of_pass = [](double start, double end, Lane lane, Phase phase) {
    return interval(start, end, Role::pivot, lane, phase);
  };
  RunResult result;
  result.seconds = 20;
  result.ranks.push_back(
      rank_record(0, 0, 0,
                  {of_pass(0, 2, Lane::cpu, Phase::eliminate),  // pfact
                   of_pass(2, 3, Lane::net, Phase::panel),      // pfact
                   of_pass(3, 5, Lane::net, Phase::swap),       // of these, 1 second counts as trsm
                   of_pass(4, 6, Lane::gpu, Phase::normalize),  // and 1 second is hidden here
                   of_pass(5, 9, Lane::gpu, Phase::reduce),
                   of_pass(6, 10, Lane::cpu, Phase::panel),         // 3 seconds hidden by the update
                   of_pass(8, 11, Lane::copy, Phase::transfer),     // 2 seconds hidden
                   of_pass(10, 13, Lane::net, Phase::broadcast_l),  // 1 second hidden by the copy
                   of_pass(13, 14, Lane::net, Phase::broadcast_u),  // laswp
                   of_pass(14, 16, Lane::cpu, Phase::wait), of_pass(16, 17, Lane::net, Phase::substitution),
                   of_pass(17, 18.5, Lane::cpu, Phase::refinement)}));
  const Breakdown breakdown = break_down(result);
  EXPECT_DOUBLE_EQ(mean_of(breakdown, HplPhase::pfact), 2 + 1 + 1);
  EXPECT_DOUBLE_EQ(mean_of(breakdown, HplPhase::laswp), 1 + 1);
  EXPECT_DOUBLE_EQ(mean_of(breakdown, HplPhase::trsm), 1);
  EXPECT_DOUBLE_EQ(mean_of(breakdown, HplPhase::update), 4);
  EXPECT_DOUBLE_EQ(mean_of(breakdown, HplPhase::copies), 1);
  EXPECT_DOUBLE_EQ(mean_of(breakdown, HplPhase::bcast), 2);
  EXPECT_DOUBLE_EQ(mean_of(breakdown, HplPhase::ptrsv), 1);
  EXPECT_DOUBLE_EQ(mean_of(breakdown, HplPhase::refine), 1.5);
  EXPECT_DOUBLE_EQ(breakdown.hpl_phases[0].hidden.mean, 3);
  double sum = breakdown.idle.mean;
  for (const HplPhaseTotal& total : breakdown.hpl_phases) sum += total.seconds.mean;
  EXPECT_DOUBLE_EQ(sum, result.seconds);
}

TEST(HplPhases, waiting_for_the_other_end_of_a_message_is_idle) {
  const Breakdown breakdown = passed_run().breakdown;  // rank 1 waits 1 of the 2 seconds of its broadcast
  EXPECT_DOUBLE_EQ(mean_of(breakdown, HplPhase::bcast), (0.5 + 1) / 2);
  EXPECT_EQ(mean_of(breakdown, HplPhase::refine), -1) << "no mixed precision: no line";
}

TEST(PhasesText, shows_times_shares_and_rates) {
  EXPECT_EQ(phases_text(passed_run().breakdown),
            R"(
Where the time went: 4000.00 ms on 2 ranks, in HPL's phases
phase                           mean ms    max ms  % time  hidden ms    GFLOPS     GB/s
---------------------------------------------------------------------------------------
pfact  panel factorisation       500.00   1000.00    12.5       0.00       2.0        -
bcast  panel broadcast           750.00   1000.00    18.8     250.00         -     0.50
laswp  row swaps                   0.00      0.00     0.0       0.00         -        -
trsm   U12 solve                 250.00    500.00     6.2       0.00       2.0        -
update trailing update          1000.00   2000.00    25.0       0.00       4.0        -
ptrsv  backward substitution     250.00    500.00     6.2       0.00         -        -
copies panels and U12            250.00    500.00     6.2       0.00         -     2.00
idle   waits and gaps           1000.00   2000.00    25.0          -         -        -
---------------------------------------------------------------------------------------
total                           4000.00   4000.00   100.0          -         -        -
Mean and max over ranks; hidden: behind another phase. GFLOPS, GB/s: of one rank while at it.
)");
}

TEST(RolesText, shows_times_shares_and_rates) {
  EXPECT_EQ(roles_text(passed_run().breakdown),
            R"(
Where the time went: 4000.00 ms on 2 ranks; min, mean and max over ranks, per cent of the run
role      phase        lane   min ms  mean ms   max ms  min% mean%  max%    GFLOPS       MB    GB/s
---------------------------------------------------------------------------------------------------
pivot     panel        cpu   1000.00  1000.00  1000.00  25.0  25.0  25.0       2.0        -       -
          broadcast L  net   1000.00  1000.00  1000.00  25.0  25.0  25.0         -  500.000    0.50
          reduce       gpu   2000.00  2000.00  2000.00  50.0  50.0  50.0       4.0        -       -
          wait         cpu   1500.00  1500.00  1500.00  37.5  37.5  37.5         -        -       -
normalize broadcast L  net   2000.00  2000.00  2000.00  50.0  50.0  50.0         -  500.000    0.25
          normalize    gpu    500.00   500.00   500.00  12.5  12.5  12.5       2.0        -       -
          transfer     gpu    500.00   500.00   500.00  12.5  12.5  12.5         - 1000.000    2.00
other     substitution cpu      0.00   250.00   500.00   0.0   6.2  12.5         -        -       -
---------------------------------------------------------------------------------------------------
computing                     500.00  2000.00  3500.00  12.5  50.0  87.5       2.8        -       -
transfers                       0.00   250.00   500.00   0.0   6.2  12.5         - 1000.000    2.00
network                      1000.00  1000.00  1000.00  25.0  25.0  25.0         - 1000.000    0.50
  exposed: nothing computed   500.00   750.00  1000.00  12.5  18.8  25.0         -        -       -
  hidden behind computing       0.00   250.00   500.00   0.0   6.2  12.5         -        -       -
idle: waits and gaps            0.00  1000.00  2000.00   0.0  25.0  50.0         -        -       -
  waiting for other ranks       0.00   500.00  1000.00   0.0  12.5  25.0         -        -       -
GFLOPS, GB/s: of one rank while at it. MB: of all ranks. Lane net: waiting for others included.

Waits by role: time of ranks in their passes; min, mean and max over ranks
                   in passes                   mean, per cent of it              idle
role      ranks   min ms  mean ms   max ms compute transf network   idle   min ms  mean ms   max ms
---------------------------------------------------------------------------------------------------
pivot         1  3500.00  3500.00  3500.00    85.7    0.0    14.3    0.0     0.00     0.00     0.00
normalize     1  4000.00  4000.00  4000.00    12.5   12.5    25.0   50.0  2000.00  2000.00  2000.00
other         1   500.00   500.00   500.00   100.0    0.0     0.0    0.0     0.00     0.00     0.00
)");
}

TEST(RolesText, stays_within_100_columns_for_a_day_long_run) {
  RunRecord record = passed_run();
  const double stretch = 20000;
  record.result.seconds *= stretch;
  for (RankRecord& rank : record.result.ranks) {
    for (Interval& i : rank.intervals) {
      i.start *= stretch;
      i.end *= stretch;
      i.flops *= 1e9;
      i.bytes *= 100000;
    }
  }
  const Breakdown breakdown = break_down(record.result);
  const std::string text = phases_text(breakdown) + roles_text(breakdown);
  for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_THAT(lines_that_look_like_results(text), IsEmpty());
}

TEST(RolesText, reports_a_missing_timeline) {
  RunRecord record = passed_run();
  for (RankRecord& rank : record.result.ranks) rank.intervals.clear();
  EXPECT_EQ(roles_text(break_down(record.result)), "No timeline was recorded: no breakdown.\n");
}

TEST(Breakdown, a_hundred_thousand_intervals_in_any_order_do_not_take_quadratic_time) {
  RunResult result;
  result.seconds = 1000;
  std::vector<Interval> intervals;
  for (int i = 0; i < 50'000; ++i) {
    const double start = i * 0.02;
    intervals.push_back(interval(start, start + 0.01, Role::reduce, Lane::net, Phase::broadcast_l));
    // Device intervals are recorded late, so they are out of order.
    intervals.push_back(interval(1000 - start - 0.015, 1000 - start, Role::reduce, Lane::gpu, Phase::reduce));
  }
  result.ranks.push_back(rank_record(0, 0, 0, std::move(intervals)));
  const auto begun = std::chrono::steady_clock::now();
  const Breakdown breakdown = break_down(result);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
  EXPECT_NEAR(breakdown.network.mean, 500, 1e-6);
  EXPECT_NEAR(breakdown.computing.mean, 750, 1e-6);
  EXPECT_NEAR(breakdown.network_exposed.mean, 250, 1e-6);
  EXPECT_LT(taken.count(), 20.0);  // 0.03 s without sanitizers; a quadratic algorithm takes longer
}

}  // namespace
}  // namespace glinpack::app::example
