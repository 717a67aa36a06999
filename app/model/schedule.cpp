#include "app/model/schedule.hpp"

#include "base/threads.hpp"
#include "transport/node_route.hpp"

namespace glinpack::app::model {

namespace {

// The messages of MPI_Ibcast, as a binomial tree. Runs of 4x4 processes in network namespaces take the time of a tree,
// not that of scatter and roll (docs/planning.md).
std::vector<BroadcastStep> binomial_steps(int size, int place, Index count) {
  std::vector<BroadcastStep> steps;
  int mask = 1;
  while (mask < size && (place & mask) == 0) mask *= 2;
  if (place > 0) steps.push_back({place - mask, 0, count, true, 0});
  for (mask /= 2; mask > 0; mask /= 2) {
    if (place + mask < size) steps.push_back({place + mask, 0, count, false, place > 0 ? 1 : 0});
  }
  return steps;
}

class Recorder {
 public:
  Recorder(const MachineModel& machine, const Problem& problem, PassRange passes)
      : machine_(machine), problem_(problem), passes_(passes) {}

  RankSchedule record(GridPosition at, RowPlanCache& row_plans) const {
    const RecordedRank recorded{problem_.grid, at, problem_.column_shares_memory(at.column), &row_plans};
    const RankOperations list =
        record_operations(problem_.parameters, recorded, passes_, problem_.precision, problem_.device());
    RankSchedule rank;
    rank.at = at;
    rank.node = problem_.node_of(at);
    rank.operations.reserve(list.operations.size());
    const bool computes = problem_.parameters.parts != RunParts::messages;
    for (const Operation& operation : list.operations) {
      const bool takes_time = computes && operation.kind == Operation::Kind::compute;
      rank.operations.push_back({.seconds = takes_time ? machine_.seconds(operation.work, operation.amounts) : 0,
                                 .target = static_cast<std::uint32_t>(operation.target),
                                 .pass = static_cast<std::int32_t>(operation.pass),
                                 .kind = operation.kind,
                                 .work = operation.work,
                                 .queue = operation.queue});
    }
    BroadcastRoutes routes;
    routes.kind = problem_.parameters.broadcast;
    routes.largest = {static_cast<std::size_t>(-1), static_cast<std::size_t>(-1)};
    if (uses_node_windows(problem_.parameters)) {
      routes.nodes_of_row = first_on_nodes(problem_.grid.columns, [&](int column) {
        return problem_.node_of({at.row, column});
      });
      routes.nodes_of_column = first_on_nodes(problem_.grid.rows, [&](int row) {
        return problem_.node_of({row, at.column});
      });
    }
    rank.messages.reserve(list.messages.size());
    for (const MessageRecord& record : list.messages) add(rank, record, routes);
    rank.steps.shrink_to_fit();
    return rank;
  }

 private:
  void add(RankSchedule& rank, const MessageRecord& record, const BroadcastRoutes& routes) const {
    ScheduledMessage message{.first = static_cast<std::uint32_t>(rank.steps.size()), .kind = record.kind};
    for (const WireMessage& wire : steps_of(rank.at, record, routes)) {
      rank.steps.push_back({.bytes = static_cast<double>(wire.bytes),
                            .peer = wire.peer < 0 ? Step::whole_column : number_of(rank.at, wire),
                            .after_receives = static_cast<std::int32_t>(wire.after_receives),
                            .receives = wire.receives,
                            .after_earlier = wire.after_earlier});
      if (wire.receives) ++message.receives;
      ++message.count;
    }
    rank.messages.push_back(message);
  }

  // The rank at a step's other end.
  std::int32_t number_of(GridPosition at, const WireMessage& step) const {
    const int row = step.line == Line::row ? at.row : step.peer;
    const int column = step.line == Line::row ? step.peer : at.column;
    return row * problem_.grid.columns + column;
  }

  std::vector<WireMessage> steps_of(GridPosition at, const MessageRecord& record, const BroadcastRoutes& routes) const {
    const bool is_broadcast = record.kind == MessageKind::panel || record.kind == MessageKind::u11 ||
                              record.kind == MessageKind::u12 || record.kind == MessageKind::winners;
    if (is_broadcast && is_mpi_collective(broadcast_for(record.kind, routes.kind))) return ibcast(at, record);
    return wire_messages(record, problem_.grid, at, routes, problem_.element_bytes());
  }

  std::vector<WireMessage> ibcast(GridPosition at, const MessageRecord& record) const {
    const Line line = line_of(record.kind);
    const int size = line == Line::row ? problem_.grid.columns : problem_.grid.rows;
    const int place = ((line == Line::row ? at.column : at.row) - record.peer + size) % size;
    const Index count = record.bytes / problem_.element_bytes();
    std::vector<WireMessage> messages;
    for (const BroadcastStep& step : binomial_steps(size, place, count)) {
      messages.push_back({line, (step.peer + record.peer) % size, step.receive, step.count * problem_.element_bytes(),
                          step.after_receives});
    }
    return messages;
  }

  const MachineModel& machine_;
  const Problem& problem_;
  PassRange passes_;
};

}  // namespace

Schedule record_schedule(const MachineModel& machine, const Problem& problem, PassRange passes, int threads) {
  Schedule schedule(static_cast<std::size_t>(problem.grid.size()));
  const Recorder recorder(machine, problem, passes);
  parallel_for(threads, problem.grid.size(), 1, [&](Index begin, Index end) {
    RowPlanCache row_plans;
    for (auto rank = static_cast<int>(begin); rank < end; ++rank) {
      const GridPosition at{rank / problem.grid.columns, rank % problem.grid.columns};
      schedule[static_cast<std::size_t>(rank)] = recorder.record(at, row_plans);
    }
  });
  return schedule;
}

}  // namespace glinpack::app::model
