// Times of flows that share links, by hand; a node's link has the rate 1.
#include "app/model/network.hpp"

#include <gtest/gtest.h>

#include <queue>

#include "app/model/replay.hpp"

namespace glinpack::app::model {
namespace {

struct FlowOf {
  int from = 0, to = 0;
  double seconds = 1;
};

// The ends of flows that all start at 0.
std::vector<double> ends_of(const Topology& topology, int nodes, const std::vector<FlowOf>& flows) {
  FlowNetwork network(topology, nodes);
  const auto later = [](const FlowNetwork::End& a, const FlowNetwork::End& b) { return a.time > b.time; };
  std::priority_queue<FlowNetwork::End, std::vector<FlowNetwork::End>, decltype(later)> queue(later);
  const auto take = [&] {
    for (const FlowNetwork::End& end : network.new_ends()) queue.push(end);
    network.clear_new_ends();
  };
  for (const FlowOf& flow : flows) network.start(0, flow.from, flow.to, flow.seconds);
  take();
  std::vector<double> ends(flows.size());
  while (!queue.empty()) {
    const FlowNetwork::End end = queue.top();
    queue.pop();
    if (network.ends(end)) ends[static_cast<std::size_t>(end.flow)] = end.time;
    take();
  }
  return ends;
}

using Times = std::vector<double>;
constexpr Topology crossbar{};

TEST(FlowNetwork, FlowsShareTheLinksOfSendersAndReceivers) {
  EXPECT_EQ(ends_of(crossbar, 4, {{0, 1}, {2, 3}}), (Times{1, 1}));
  EXPECT_EQ(ends_of(crossbar, 4, {{0, 1}, {0, 2}}), (Times{2, 2})) << "the sender's link";
  EXPECT_EQ(ends_of(crossbar, 4, {{0, 2}, {1, 2}}), (Times{2, 2})) << "the receiver's link";
  EXPECT_EQ(ends_of(crossbar, 2, {{0, 1}, {1, 0}}), (Times{1, 1})) << "both directions at once";
  EXPECT_EQ(ends_of(crossbar, 4, {{0, 1, 1}, {0, 2, 3}}), (Times{2, 4})) << "alone after the first one";
  EXPECT_EQ(ends_of(crossbar, 2, {{0, -1, 2}}), (Times{2})) << "a receiver that is not simulated";
}

TEST(FlowNetwork, UplinksOfATreeAreShared) {
  const Topology tree{Topology::Kind::fat_tree, 4, 4};  // one link's rate up, for four nodes
  EXPECT_EQ(ends_of(tree, 8, {{0, 1}, {2, 3}}), (Times{1, 1})) << "within a leaf";
  EXPECT_EQ(ends_of(tree, 8, {{0, 4}, {1, 5}}), (Times{2, 2}));
  EXPECT_EQ(ends_of({Topology::Kind::fat_tree, 4, 2}, 8, {{0, 4}, {1, 5}}), (Times{1, 1}));
  EXPECT_EQ(ends_of(tree, 8, {{0, 4}, {5, 1}}), (Times{1, 1})) << "the other direction";
  EXPECT_EQ(ends_of(tree, 12, {{0, 4}, {1, 8}}), (Times{2, 2})) << "one uplink for all other leaves";
}

TEST(FlowNetwork, LinksBetweenTwoGroupsOfADragonflyAreShared) {
  const Topology groups{Topology::Kind::dragonfly, 4, 2};  // two groups besides the own one: a link to each
  EXPECT_EQ(ends_of(groups, 12, {{0, 4}, {1, 8}}), (Times{1, 1}));
  EXPECT_EQ(ends_of(groups, 12, {{0, 4}, {1, 5}}), (Times{2, 2}));
}

Problem run_of(Index n, Index nb, GridShape grid, int processes_per_node) {
  Problem problem;
  problem.parameters.n = n;
  problem.parameters.nb = nb;
  problem.grid = grid;
  problem.arrangement.processes_per_node = processes_per_node;
  return problem;
}

MachineModel simple_machine() {
  MachineModel machine;
  machine.figures[Work::panel_host].cost.per_flop = 1e-10;
  machine.figures[Work::normalize].cost.per_flop = 2e-11;
  machine.figures[Work::reduce].cost.per_flop = 1e-11;
  machine.figures[Work::network].cost = {.per_flop = 0, .per_byte = 1e-9, .per_step = 1e-5};
  machine.figures[Work::memory].cost = {.per_flop = 0, .per_byte = 1e-10, .per_step = 1e-6};
  return machine;
}

TEST(Schedule, DoesNotDependOnTheThreads) {
  const Problem run = run_of(64 * 20, 64, {3, 4}, 2);
  const Schedule one = record_schedule(simple_machine(), run, {2, 9}, ReplayedRanks::all, 1);
  const Schedule three = record_schedule(simple_machine(), run, {2, 9}, ReplayedRanks::all, 3);
  ASSERT_EQ(one.ranks.size(), 12U);
  const Replay a = replay(one, simple_machine(), run), b = replay(three, simple_machine(), run);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.messages, b.messages);
}

// The schedule of a rank is that which the recorder lists alone, without plans of other ranks.
TEST(Schedule, IsThatOfEachRankRecordedAlone) {
  for (const RowSwapKind swap : all_row_swaps) {
    Problem run = run_of(64 * 20, 64, {3, 4}, 2);
    run.parameters.row_swap.kind = swap;
    run.parameters.row_swap.threshold = 300;
    const Schedule schedule = record_schedule(simple_machine(), run, {2, 9}, ReplayedRanks::all);
    for (const RankSchedule& rank : schedule.ranks) {
      double bytes = 0, expected = 0;
      for (const Step& step : rank.steps) bytes += step.bytes;
      BroadcastRoutes routes;
      for (const MessageRecord& message : record_messages(run.parameters, {run.grid, rank.at}, {2, 9}, run.precision)) {
        for (const WireMessage& wire : wire_messages(message, run.grid, rank.at, routes, run.element_bytes())) {
          if (message.kind != MessageKind::panel) expected += static_cast<double>(wire.bytes);
        }
      }
      for (const ScheduledMessage& message : rank.messages) {
        if (message.kind != MessageKind::panel) continue;  // through the nodes' memory
        for (std::uint32_t i = 0; i < message.count; ++i) bytes -= rank.steps[message.first + i].bytes;
      }
      EXPECT_EQ(bytes, expected) << name_of(swap) << " " << rank.at.row << "," << rank.at.column;
    }
  }
}

// The driver's own cost: operations and messages of a rank, on grids of up to 16,384 ranks with equal local matrices.
TEST(Schedule, OfARankGrowsAtMostWithRowsPlusColumns) {
  for (const RowSwapKind swap : all_row_swaps) {
    for (const Pivoting pivoting : {Pivoting::partial, Pivoting::tournament, Pivoting::local}) {
      const auto size_on = [&](int side) {
        Problem run = run_of(32 * 4 * side, 32, {side, side}, 4);
        run.parameters.row_swap.kind = swap;
        run.parameters.pivoting = pivoting;
        const auto list =
            record_operations(run.parameters, {run.grid, {side / 2, side / 2}}, {0, side}, run.precision, run.device());
        std::size_t size = list.operations.size();
        for (const MessageRecord& message : list.messages) {
          size += wire_messages(message, run.grid, {side / 2, side / 2}, {}, run.element_bytes()).size();
        }
        return static_cast<double>(size) / side;  // in a pass
      };
      const double smallest = size_on(8);
      for (const int side : {32, 128}) {
        EXPECT_LE(size_on(side), smallest * side / 8) << name_of(swap) << " " << name_of(pivoting) << " " << side;
      }
    }
  }
}

TEST(Replay, WindowsOfTheMiddleAddUpToTheWholeRun) {
  const Problem run = run_of(64 * 120, 64, {4, 8}, 4);
  const double whole = replay(simple_machine(), run, {0, 120}).seconds;
  double sum = 0;
  for (Index first = 0; first < 120; first += 20) {
    sum += replay_window(simple_machine(), run, {first, first + 20}, ReplayedRanks::all).seconds;
  }
  EXPECT_NEAR(sum / whole, 1, 0.03);
}

TEST(Replay, SlowNodesAndTaperedTreesAndOverheadCostTime) {
  const Problem run = run_of(64 * 40, 64, {4, 4}, 1);
  const Schedule schedule = record_schedule(simple_machine(), run, {0, 40}, ReplayedRanks::all);
  const double plain = replay(schedule, simple_machine(), run).seconds;
  std::vector<double> slow(16, 1.0);
  EXPECT_EQ(replay(schedule, simple_machine(), run, whole_run, slow).seconds, plain);
  slow[5] = 50;
  EXPECT_GT(replay(schedule, simple_machine(), run, whole_run, slow).seconds, 2 * plain);
  MachineModel changed = simple_machine();
  changed.topology = {Topology::Kind::fat_tree, 4, 4};
  EXPECT_GT(replay(schedule, changed, run).seconds, 1.1 * plain);
  changed = simple_machine();
  changed.overhead = 1e-4;
  EXPECT_GT(replay(schedule, changed, run).seconds, plain);
}

}  // namespace
}  // namespace glinpack::app::model
