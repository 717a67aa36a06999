// Separation of waiting from communication, and time by role, on hand-made timelines.

#include "app/record/breakdown.hpp"
#include "app/record/timeline.hpp"
#include "tests/app/report_records.hpp"

namespace glinpack::app::example {
namespace {

/// An interval of one pass.
Interval in_pass(int pass, Role role, double start, double end, Lane lane, Phase phase) {
  Interval made = interval(start, end, role, lane, phase);
  made.pass = pass;
  return made;
}

Interval broadcast_l(Role role, double start, double end) {
  return interval(start, end, role, Lane::net, Phase::broadcast_l);
}
Interval broadcast_u(Role role, double start, double end) {
  return interval(start, end, role, Lane::net, Phase::broadcast_u);
}

using Starts = std::vector<std::vector<double>>;

TEST(MessageStarts, a_message_does_not_arrive_before_its_sender_begins) {
  const std::vector<RankRecord> ranks{rank_record(0, 0, 0, {broadcast_l(Role::pivot, 5, 7)}),
                                      rank_record(1, 0, 1, {broadcast_l(Role::normalize, 1, 8)}),
                                      rank_record(2, 0, 2, {broadcast_l(Role::normalize, 6, 9)}),
                                      rank_record(3, 0, 3, {broadcast_l(Role::normalize, 2, 4)})};
  EXPECT_EQ(message_starts(ranks), (Starts{{5}, {5}, {6}, {4}})) << "the last one starts within its interval";
}

TEST(MessageStarts, sender_waits_for_the_first_receiver_unless_its_message_was_buffered) {
  std::vector<RankRecord> ranks{rank_record(0, 0, 0, {broadcast_u(Role::normalize, 1, 6)}),
                                rank_record(1, 1, 0, {broadcast_u(Role::reduce, 4, 6)}),
                                rank_record(2, 2, 0, {broadcast_u(Role::reduce, 3, 7)})};
  EXPECT_EQ(message_starts(ranks), (Starts{{3}, {4}, {3}}));
  ranks[0].intervals[0].end = 2;
  EXPECT_EQ(message_starts(ranks), (Starts{{1}, {4}, {3}}));
}

TEST(MessageStarts, rows_columns_passes_and_the_order_within_a_pass_are_distinguished) {
  const auto next = [](Interval interval) {
    interval.pass = 1;
    return interval;
  };
  // U11 and U12 are both broadcast in the pivot's process column
  const std::vector<RankRecord> ranks{
      rank_record(0, 0, 0,
                  {broadcast_u(Role::pivot, 2, 3), broadcast_l(Role::pivot, 4, 5), broadcast_u(Role::pivot, 8, 9),
                   next(broadcast_l(Role::reduce, 10, 15))}),
      rank_record(1, 0, 1,
                  {broadcast_l(Role::normalize, 0, 5), broadcast_u(Role::normalize, 7, 9),
                   next(broadcast_l(Role::eliminate, 14, 15))}),
      rank_record(2, 1, 0,
                  {broadcast_u(Role::eliminate, 1, 3), broadcast_l(Role::eliminate, 4.5, 5),
                   broadcast_u(Role::eliminate, 6, 9), next(broadcast_l(Role::normalize, 10, 16))}),
      rank_record(
          3, 1, 1,
          {broadcast_l(Role::reduce, 0, 5), broadcast_u(Role::reduce, 6, 9), next(broadcast_l(Role::pivot, 12, 16))})};
  EXPECT_EQ(message_starts(ranks), (Starts{{2, 4, 8, 14}, {4, 7, 14}, {2, 4.5, 8, 12}, {4.5, 7, 12}}));
}

TEST(MessageStarts, an_all_reduce_begins_with_the_last_rank) {
  const auto panel = [](Role role, double start, double end) {
    return interval(start, end, role, Lane::net, Phase::panel);
  };
  const std::vector<RankRecord> ranks{
      rank_record(0, 0, 0, {panel(Role::pivot, 1, 4), panel(Role::pivot, 5, 8)}),
      rank_record(1, 1, 0, {panel(Role::eliminate, 3, 4), panel(Role::eliminate, 4, 8)}),
      rank_record(2, 2, 0, {panel(Role::eliminate, 2, 4), panel(Role::eliminate, 7, 8)})};
  EXPECT_EQ(message_starts(ranks), (Starts{{3, 7}, {3, 7}, {3, 7}}));
}

TEST(MessageStarts, rows_are_exchanged_between_the_pivots_process_row_and_ranks_that_have_some) {
  const auto swap = [](Role role, double start, double end) {
    return interval(start, end, role, Lane::net, Phase::swap);
  };
  const std::vector<RankRecord> ranks{rank_record(0, 0, 0, {swap(Role::reduce, 1, 5)}),
                                      rank_record(1, 1, 0, {swap(Role::normalize, 3, 9)}), rank_record(2, 2, 0, {}),
                                      rank_record(3, 3, 0, {swap(Role::reduce, 4, 9)})};
  EXPECT_EQ(message_starts(ranks), (Starts{{3}, {3}, {}, {4}}));
}

TEST(MessageStarts, row_swaps_that_deliver_u_begin_with_the_last_rank) {
  const auto swap = [](Role role, double start, double end, std::int32_t messages) {
    Interval one = interval(start, end, role, Lane::net, Phase::swap);
    one.messages = messages;
    return one;
  };
  const std::vector<RankRecord> ranks{rank_record(0, 0, 0, {swap(Role::reduce, 1, 5, 2)}),
                                      rank_record(1, 1, 0, {swap(Role::normalize, 3, 9, 1)}),
                                      rank_record(2, 2, 0, {swap(Role::reduce, 4, 9, 1)})};
  EXPECT_EQ(message_starts(ranks, true), (Starts{{4}, {4}, {4}}));
  // one of them does not wait
  const std::vector<RankRecord> others{rank_record(0, 0, 0, {swap(Role::reduce, 2, 5, 1)}),
                                       rank_record(1, 1, 0, {swap(Role::normalize, 1, 9, 0)})};
  EXPECT_EQ(message_starts(others, true), (Starts{{2}, {1}}));
}

TEST(MessageStarts, unmatched_messages_begin_with_their_interval) {
  const Interval work = interval(0, 1, Role::pivot, Lane::cpu, Phase::panel);
  const Interval substitution = interval(7, 9, Role::none, Lane::net, Phase::substitution);
  // only one end; two ends and one; no root; no message
  const std::vector<RankRecord> ranks{
      rank_record(0, 0, 0, {work, broadcast_l(Role::pivot, 1, 4), broadcast_u(Role::pivot, 4, 6), substitution}),
      rank_record(1, 1, 0, {broadcast_u(Role::eliminate, 0, 2), broadcast_u(Role::eliminate, 2, 6)}),
      rank_record(2, 2, 1, {broadcast_u(Role::reduce, 0, 2)}), rank_record(3, 3, 1, {broadcast_u(Role::reduce, 1, 2)}),
      rank_record(4, 4, 2, {})};
  EXPECT_EQ(message_starts(ranks), (Starts{{0, 1, 4, 7}, {0, 2}, {0}, {1}, {}}));
}

/// Two passes on a 1 x 2 grid and the substitution after them. Rank 1 waits in pass 0 until rank 0 sends.
RunResult two_passes() {
  RunResult result;
  result.seconds = 20;
  result.ranks.push_back(rank_record(0, 0, 0,
                                     {in_pass(0, Role::pivot, 0, 4, Lane::cpu, Phase::panel),
                                      in_pass(0, Role::pivot, 4, 6, Lane::net, Phase::broadcast_l),
                                      in_pass(0, Role::pivot, 6, 7, Lane::cpu, Phase::transfer),
                                      // the device still reduces when the next pass has begun
                                      in_pass(0, Role::pivot, 7, 11, Lane::gpu, Phase::reduce),
                                      in_pass(1, Role::normalize, 9, 13, Lane::net, Phase::broadcast_l),
                                      in_pass(-1, Role::none, 17, 20, Lane::cpu, Phase::substitution)}));
  result.ranks.push_back(rank_record(1, 0, 1,
                                     {in_pass(0, Role::normalize, 1, 6, Lane::net, Phase::broadcast_l),
                                      in_pass(0, Role::normalize, 6, 8, Lane::cpu, Phase::reduce),
                                      in_pass(1, Role::pivot, 8, 12, Lane::cpu, Phase::panel),
                                      in_pass(1, Role::pivot, 12, 13, Lane::net, Phase::broadcast_l),
                                      in_pass(-1, Role::none, 13, 20, Lane::cpu, Phase::wait)}));
  return result;
}

void expect_time(const RoleTime& time, double computing, double transfer, double network, double idle, double waiting) {
  EXPECT_DOUBLE_EQ(time.computing, computing);
  EXPECT_DOUBLE_EQ(time.transfer, transfer);
  EXPECT_DOUBLE_EQ(time.network, network);
  EXPECT_DOUBLE_EQ(time.idle, idle);
  EXPECT_DOUBLE_EQ(time.waiting, waiting);
  EXPECT_DOUBLE_EQ(time.seconds, computing + transfer + network + idle);
}

TEST(RoleTimes, passes_are_consecutive_and_their_parts_sum_to_the_total) {
  const Breakdown breakdown = break_down(two_passes());
  const auto role = [&](std::size_t rank, Role role) {
    return breakdown.by_rank[rank].roles[static_cast<std::size_t>(role)];
  };
  {
    SCOPED_TRACE("rank 0");
    expect_time(role(0, Role::pivot), 4 + 2, 1, 2, 0, 0);      // 0 ... 9
    expect_time(role(0, Role::normalize), 2, 0, 1, 1 + 4, 1);  // 9 ... 17: waits 11 ... 12, a gap 13 ... 17
    expect_time(role(0, Role::none), 3, 0, 0, 0, 0);           // 17 ... 20
    expect_time(role(0, Role::eliminate), 0, 0, 0, 0, 0);
  }
  {
    SCOPED_TRACE("rank 1");
    expect_time(role(1, Role::normalize), 2, 0, 2, 1 + 3, 3);  // 0 ... 8: a gap 0 ... 1, waits 1 ... 4
    expect_time(role(1, Role::pivot), 4, 0, 1, 0, 0);          // 8 ... 13
    expect_time(role(1, Role::none), 0, 0, 0, 7, 0);           // a wait for the device, which does nothing
  }
  EXPECT_DOUBLE_EQ(breakdown.by_rank[0].waiting, 1);
  EXPECT_DOUBLE_EQ(breakdown.by_rank[1].waiting, 3);
}

TEST(RoleTimes, are_spread_over_the_ranks_with_the_role_and_end_with_time_outside_passes) {
  const Breakdown breakdown = break_down(two_passes());
  std::vector<Role> roles;
  for (const RoleTotal& total : breakdown.roles) roles.push_back(total.role);
  EXPECT_THAT(roles, ElementsAre(Role::pivot, Role::normalize, Role::none));
  const RoleTotal& normalize = breakdown.roles[1];
  EXPECT_EQ(normalize.ranks, 2);
  EXPECT_DOUBLE_EQ(normalize.seconds.min, 8);
  EXPECT_DOUBLE_EQ(normalize.idle.min, 4);
  EXPECT_DOUBLE_EQ(normalize.idle.mean, 4.5);
  EXPECT_DOUBLE_EQ(normalize.idle.max, 5);
  EXPECT_DOUBLE_EQ(normalize.waiting.mean, 2);
}

TEST(RoleTimes, a_rank_without_intervals_is_idle_outside_the_passes) {
  RunResult result;
  result.seconds = 2;
  result.ranks.push_back(rank_record(0, 0, 0));
  const Breakdown breakdown = break_down(result);
  ASSERT_EQ(breakdown.roles.size(), 1u);
  EXPECT_EQ(breakdown.roles[0].role, Role::none);
  EXPECT_DOUBLE_EQ(breakdown.roles[0].idle.mean, 2);
}

}  // namespace
}  // namespace glinpack::app::example
