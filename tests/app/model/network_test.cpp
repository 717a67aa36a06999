// Times of flows that share links, by hand; a node's link has the rate 1.
#include "app/model/network.hpp"

#include <gtest/gtest.h>

#include <queue>

#include "app/model/forecast.hpp"

namespace glinpack::app::model {
namespace {

struct FlowOf {
  int from = 0, to = 0;
  double seconds = 1;
};

// The ends of flows that all start at 0.
std::vector<double> ends_of(int nodes, const std::vector<FlowOf>& flows) {
  FlowNetwork network(nodes);
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

TEST(FlowNetwork, FlowsShareTheLinksOfSendersAndReceivers) {
  EXPECT_EQ(ends_of(4, {{0, 1}, {2, 3}}), (Times{1, 1}));
  EXPECT_EQ(ends_of(4, {{0, 1}, {0, 2}}), (Times{2, 2})) << "the sender's link";
  EXPECT_EQ(ends_of(4, {{0, 2}, {1, 2}}), (Times{2, 2})) << "the receiver's link";
  EXPECT_EQ(ends_of(2, {{0, 1}, {1, 0}}), (Times{1, 1})) << "both directions at once";
  EXPECT_EQ(ends_of(4, {{0, 1, 1}, {0, 2, 3}}), (Times{2, 4})) << "alone after the first one";
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
  const Schedule one = record_schedule(simple_machine(), run, {2, 9}, 1);
  const Schedule three = record_schedule(simple_machine(), run, {2, 9}, 3);
  ASSERT_EQ(one.size(), 12U);
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
    const Schedule schedule = record_schedule(simple_machine(), run, {2, 9});
    for (const RankSchedule& rank : schedule) {
      double bytes = 0, expected = 0;
      for (const Step& step : rank.steps) bytes += step.bytes;
      BroadcastRoutes routes;
      const RankOperations alone = record_on_host(run.parameters, {run.grid, rank.at}, {2, 9}, run.precision);
      for (const MessageRecord& message : alone.messages) {
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

TEST(Windows, OfTheMiddleAddUpToTheWholeRunAndReportWhatIsDone) {
  const Problem run = run_of(64 * 120, 64, {4, 8}, 4);
  const MachineModel machine = simple_machine();
  const double whole = replay(record_schedule(machine, run, {0, 120}), machine, run).seconds;
  for (const std::vector<Window>& windows : {windows_of(120, 6, 8), windows_of(120, 8, 4)}) {
    const auto replays = replay_windows(machine, run, windows, {{machine}});
    double sum = 0;
    for (std::size_t i = 0; i < windows.size(); ++i) sum += windows[i].weight * replays[i].front().seconds;
    EXPECT_NEAR(sum / whole, 1, 0.03) << windows.size();
  }
  double done = 0;
  replay_windows(machine, run, {{.passes = {0, 4}}}, {{machine}, {machine}}, [&done](double part) {
    EXPECT_EQ(part, done + 0.5);
    done = part;
  });
  EXPECT_EQ(done, 1);
}

TEST(Windows, AreAllPassesIfTheyAreFewAndFitIntoMemory) {
  for (const auto& [passes, ranks] : {std::pair<Index, Index>{94, 8}, {820, 64}, {39, 10'000}}) {
    const std::vector<Window> all = thorough_windows(passes, ranks);
    ASSERT_EQ(all.size(), 1U) << passes;
    EXPECT_EQ(all[0].passes.end, passes);
    EXPECT_EQ(all[0].measured.first, whole_run.first);
  }
}

TEST(Windows, StandForAllPassesAndOfManyRanksAreShort) {
  for (const auto& [passes, ranks] :
       {std::pair<Index, Index>{821, 8}, {24'000, 1000}, {781, 10'000}, {100, 10'000}, {50, 20'000}, {800, 100'000}}) {
    for (const std::vector<Window>& windows : {thorough_windows(passes, ranks), quick_windows(passes, ranks)}) {
      double sum = 0;
      Index end = 0;
      for (const Window& window : windows) {
        sum += window.weight * static_cast<double>(window.measured.end - window.measured.first);
        EXPECT_LE(window.passes.first, window.measured.first);
        EXPECT_GE(window.measured.first, end) << passes;
        EXPECT_LE(window.passes.end, passes);
        EXPECT_LE(window.passes.end - window.passes.first, 29) << passes;
        end = window.measured.end;
      }
      EXPECT_NEAR(sum, static_cast<double>(passes), 1e-9 * static_cast<double>(passes));
    }
  }
}

TEST(Replay, ASlowNodeCostsTime) {
  const Problem run = run_of(64 * 40, 64, {4, 4}, 1);
  const Schedule schedule = record_schedule(simple_machine(), run, {0, 40});
  const double plain = replay(schedule, simple_machine(), run).seconds;
  std::vector<double> slow(16, 1.0);
  EXPECT_EQ(replay(schedule, simple_machine(), run, whole_run, slow).seconds, plain);
  slow[5] = 50;
  EXPECT_GT(replay(schedule, simple_machine(), run, whole_run, slow).seconds, 2 * plain);
}

}  // namespace
}  // namespace glinpack::app::model
