#include "app/model/replay.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "lu/panel/tournament.hpp"
#include "mpi/node_broadcast.hpp"

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

// All passes: the whole time is measured, from the clock's zero.
constexpr PassRange whole_run{std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max()};

// The progress of one message of a rank.
struct Progress {
  const MessageRecord* record = nullptr;
  std::vector<WireMessage> steps;
  std::vector<int> peers;  // of each step: a replayed rank, or -1
  std::size_t ready = 0;   // number of posted steps
  std::size_t done = 0;    // number of finished steps
  Index received = 0;      // steps
  Index to_receive = 0;    // steps

  bool has_data() const { return received == to_receive; }
  bool has_ended() const { return done == steps.size(); }
};

struct Rank {
  GridPosition at;
  int node = 0;
  RankOperations list;
  std::size_t next = 0;          // index of the next operation
  std::array<double, 4> free{};  // by queue: the time at which it becomes idle
  std::vector<double> ended;     // time at which each operation ended
  std::vector<Progress> messages;

  std::optional<double> measured_start, measured_end;

  double time() const { return *std::max_element(free.begin(), free.end()); }
  double& host() { return free[static_cast<std::size_t>(Queue::host)]; }
  double& queue(Queue queue) { return free[static_cast<std::size_t>(queue)]; }
};

// A step of a rank's message.
struct Step {
  int rank = -1;
  std::size_t message = 0;
  std::size_t step = 0;
};

// A message between two nodes, on the sender's link.
struct Flow {
  Step send;  // rank -1: the sender is not replayed
  Step receive;
  double seconds_left = 0;  // at the full rate of the link
  double latency = 0;
  bool is_active = false;

  // True if both are pieces of one message between the same ranks.
  bool is_of_same_message(const Flow& other) const {
    return send.rank >= 0 && receive.rank >= 0 && send.rank == other.send.rank && send.message == other.send.message &&
           receive.rank == other.receive.rank;
  }
};

// A link. The active flows share it equally: the first piece of each message, since a message's pieces are sent in
// sequence.
struct Link {
  std::vector<Flow> flows;  // in start order
  int active = 0;
  double updated = 0;
  int version = 0;  // of the event for its next end; invalidates older events

  void add(Flow flow) {
    flow.is_active = std::none_of(flows.begin(), flows.end(),
                                  [&flow](const Flow& earlier) { return earlier.is_of_same_message(flow); });
    if (flow.is_active) ++active;
    flows.push_back(flow);
  }

  // Advances the active flows to `time`.
  void update(double time) {
    const double share = (time - updated) / std::max(1, active);
    for (Flow& flow : flows) {
      if (flow.is_active) flow.seconds_left = std::max(0.0, flow.seconds_left - share);
    }
    updated = time;
  }

  // The active flow that ends first. There must be a flow.
  std::vector<Flow>::iterator first_to_end() {
    auto first = flows.begin();  // the oldest flow is active
    for (auto flow = std::next(first); flow != flows.end(); ++flow) {
      if (flow->is_active && flow->seconds_left < first->seconds_left) first = flow;
    }
    return first;
  }

  // Removes an active flow. The next piece of its message becomes active.
  Flow remove(std::vector<Flow>::iterator ended) {
    const Flow flow = *ended;
    const auto later = flows.erase(ended);
    const auto next =
        std::find_if(later, flows.end(), [&flow](const Flow& other) { return other.is_of_same_message(flow); });
    if (next == flows.end()) {
      --active;
    } else {
      next->is_active = true;
    }
    return flow;
  }
};

class Simulation {
 public:
  /// `measured`: the passes whose time is measured.
  Simulation(const MachineModel& machine, const Problem& problem, PassRange passes, PassRange measured,
             ReplayedRanks ranks)
      : machine_(machine),
        problem_(problem),
        distribution_(problem.distribution()),
        measured_(measured),
        first_row_(ranks == ReplayedRanks::all ? 0 : static_cast<int>(passes.end % problem.grid.rows)),
        rows_replayed_(ranks == ReplayedRanks::all ? problem.grid.rows : 1),
        computes_(problem.parameters.parts != RunParts::messages),
        sends_(problem.parameters.parts != RunParts::compute) {
    const int nodes = problem.node_of({problem.grid.rows - 1, problem.grid.columns - 1}) + 1;
    links_.resize(static_cast<std::size_t>(nodes));
    if (rows_replayed_ < problem.grid.rows) link_share_ = rows_on_node();
    routes_.kind = problem.parameters.broadcast;
    routes_.largest = {largest_message, largest_message};
    for (int p = first_row_; p < first_row_ + rows_replayed_; ++p) {
      for (int q = 0; q < problem.grid.columns; ++q) {
        Rank rank;
        rank.at = {p, q};
        rank.node = problem.node_of(rank.at);
        rank.list = record_operations(problem.parameters, problem.grid, rank.at, passes, problem.precision,
                                      problem.device(), problem.column_shares_memory(q));
        rank.ended.resize(rank.list.operations.size());
        rank.messages.resize(rank.list.messages.size());
        ranks_.push_back(std::move(rank));
      }
    }
  }

  Replay run() {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) advance_host(rank);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      handle(event);
    }
    Replay result;
    double slowest = 0, in_window = 0;
    int measured_ranks = 0;
    for (Rank& rank : ranks_) {
      if (rank.next < rank.list.operations.size()) throw std::logic_error("the model's messages have no end");
      slowest = std::max(slowest, rank.time());
      if (!rank.measured_start || !rank.measured_end) continue;
      in_window += *rank.measured_end - *rank.measured_start;
      ++measured_ranks;
    }
    result.seconds = measured_ranks > 0 ? in_window / measured_ranks : slowest;
    for (const Work work : all_work) {
      result.busy[work] = busy_[work] / static_cast<double>(ranks_.size());
      result.needed[work] = needed_[work];
    }
    return result;
  }

 private:
  static constexpr std::size_t largest_message = static_cast<std::size_t>(-1);

  struct Event {
    enum class Kind : std::uint8_t { posted, arrived, link };
    double time = 0;
    std::uint64_t order = 0;
    Kind kind = Kind::posted;
    Step step;
    int link = 0;
    int version = 0;
    friend bool operator<(const Event& a, const Event& b) {
      return std::tie(b.time, b.order) < std::tie(a.time, a.order);
    }
  };

  // The number of process rows that share a node's link.
  int rows_on_node() const {
    int rows = 0;
    while (rows < problem_.grid.rows && problem_.node_of({rows, 0}) == problem_.node_of({0, 0})) ++rows;
    return rows;
  }

  Rank& rank_of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  Progress& progress_of(const Step& step) { return rank_of(step.rank).messages[step.message]; }
  void add_event(Event event) {
    event.order = events_made_++;
    events_.push(event);
  }

  // Executes the host's operations until one waits for a message.
  void advance_host(int number) {
    Rank& rank = rank_of(number);
    for (; rank.next < rank.list.operations.size(); ++rank.next) {
      const Operation& operation = rank.list.operations[rank.next];
      switch (operation.kind) {
        case Operation::Kind::compute:
          compute(rank, operation);
          break;
        case Operation::Kind::wait_for_work:
          rank.host() = std::max(rank.host(), rank.ended[operation.target]);
          break;
        case Operation::Kind::start_message:
          if (sends_) start(number, operation.target);
          break;
        case Operation::Kind::wait_for_data:
          if (sends_ && !rank.messages[operation.target].has_data()) return;
          break;
        case Operation::Kind::wait_for_end:
          if (sends_ && !rank.messages[operation.target].has_ended()) return;
          break;
      }
    }
  }

  void compute(Rank& rank, const Operation& operation) {
    needed_[operation.work] = needed_[operation.work] || computes_;
    if (operation.work == Work::reduce) {
      const bool under_way = measured_.first >= 0;
      if (under_way && operation.pass >= measured_.first && !rank.measured_start) rank.measured_start = rank.time();
      if (operation.pass >= measured_.end && !rank.measured_end) rank.measured_end = rank.time();
    }
    const double seconds = computes_ ? machine_.seconds(operation.work, operation.amounts) : 0;
    if (operation.pass >= measured_.first && operation.pass < measured_.end) busy_[operation.work] += seconds;
    double& free = rank.queue(operation.queue);
    double start = std::max(free, rank.host());
    // a copy to the host depends on earlier kernels; kernels depend on earlier copies to the device
    if (operation.queue == Queue::download) start = std::max(start, rank.queue(Queue::device));
    if (operation.queue == Queue::device) start = std::max(start, rank.queue(Queue::upload));
    free = rank.ended[rank.next] = start + seconds;
  }

  void start(int number, std::size_t message) {
    Rank& rank = rank_of(number);
    Progress& progress = rank.messages[message];
    progress.record = &rank.list.messages[message];
    progress.steps = steps_of(rank, *progress.record);
    for (const WireMessage& step : progress.steps) {
      progress.peers.push_back(step.peer < 0 ? -1 : replayed(rank.at, step));
      if (step.receives) ++progress.to_receive;
    }
    post(number, message, rank.host());
  }

  // The number of the rank at a step's other end, or -1 if it is not replayed.
  int replayed(GridPosition at, const WireMessage& step) const {
    const int row = step.line == Line::row ? at.row : step.peer;
    const int column = step.line == Line::row ? step.peer : at.column;
    const int place = row - first_row_;
    return place >= 0 && place < rows_replayed_ ? place * problem_.grid.columns + column : -1;
  }

  std::vector<WireMessage> steps_of(const Rank& rank, const MessageRecord& record) {
    BroadcastRoutes routes = routes_;
    const bool is_broadcast = record.kind == MessageKind::panel || record.kind == MessageKind::u11 ||
                              record.kind == MessageKind::u12 || record.kind == MessageKind::winners;
    if (is_broadcast && is_mpi_collective(broadcast_for(record.kind, routes.kind))) return ibcast(rank, record);
    if (is_broadcast && uses_node_windows(problem_.parameters)) {
      const bool row = line_of(record.kind) == Line::row;
      (row ? routes.nodes_of_row : routes.nodes_of_column) = nodes_of(line_of(record.kind), rank.at);
    }
    return wire_messages(record, problem_.grid, rank.at, routes, problem_.element_bytes());
  }

  // For every rank of the line, the first rank on its node.
  std::vector<int> nodes_of(Line line, GridPosition at) const {
    std::vector<int> first;
    std::map<int, int> first_of_node;
    const int size = line == Line::row ? problem_.grid.columns : problem_.grid.rows;
    for (int i = 0; i < size; ++i) {
      const int node = problem_.node_of(line == Line::row ? GridPosition{at.row, i} : GridPosition{i, at.column});
      first.push_back(first_of_node.emplace(node, i).first->second);
    }
    return first;
  }

  std::vector<WireMessage> ibcast(const Rank& rank, const MessageRecord& record) {
    const Line line = line_of(record.kind);
    const int size = line == Line::row ? problem_.grid.columns : problem_.grid.rows;
    const int place = ((line == Line::row ? rank.at.column : rank.at.row) - record.peer + size) % size;
    const Index count = record.bytes / problem_.element_bytes();
    std::vector<WireMessage> messages;
    for (const BroadcastStep& step : binomial_steps(size, place, count)) {
      messages.push_back({line, (step.peer + record.peer) % size, step.receive, step.count * problem_.element_bytes(),
                          step.after_receives});
    }
    return messages;
  }

  double message_seconds(bool same_node, double bytes) const {
    return machine_.seconds(same_node ? Work::memory : Work::network, {0, bytes, 1});
  }

  // Posts steps in order, up to the first one whose receives or predecessors are not done.
  void post(int number, std::size_t message, double time) {
    Progress& progress = rank_of(number).messages[message];
    while (progress.ready < progress.steps.size()) {
      const WireMessage& step = progress.steps[progress.ready];
      if (step.after_receives > progress.received || (step.after_earlier && progress.done < progress.ready)) break;
      add_event({.time = time, .kind = Event::Kind::posted, .step = {number, message, progress.ready}});
      ++progress.ready;
    }
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case Event::Kind::posted:
        match(event.step);
        break;
      case Event::Kind::arrived:
        finish(event.step);
        break;
      case Event::Kind::link:
        if (links_[static_cast<std::size_t>(event.link)].version == event.version) end_flow(event.link);
        break;
    }
  }

  void match(const Step& step) {
    const Progress& progress = progress_of(step);
    const WireMessage& wire = progress.steps[step.step];
    if (wire.peer < 0) return all_reduce(step);
    const int peer = progress.peers[step.step];
    if (peer < 0) return begin_with_unreplayed_peer(step);
    const MessageKind kind = progress.record->kind;
    const int from = wire.receives ? peer : step.rank, to = wire.receives ? step.rank : peer;
    auto& others = waiting_[{from, to, kind, !wire.receives}];
    if (others.empty()) {
      waiting_[{from, to, kind, wire.receives}].push_back(step);
      return;
    }
    const Step other = others.front();
    others.pop_front();
    const Step send = wire.receives ? other : step, receive = wire.receives ? step : other;
    begin(send, receive, rank_of(from).node, rank_of(to).node, static_cast<double>(wire.bytes));
  }

  void begin(const Step& send, const Step& receive, int from_node, int to_node, double bytes) {
    const bool same_node = from_node == to_node;
    const Work work = same_node ? Work::memory : Work::network;
    needed_[work] = true;
    const Cost& cost = machine_.figures[work].cost;
    if (same_node) {
      const double end = now_ + cost.per_step + cost.per_byte * bytes;
      if (send.rank >= 0) add_event({.time = end, .kind = Event::Kind::arrived, .step = send});
      if (receive.rank >= 0) add_event({.time = end, .kind = Event::Kind::arrived, .step = receive});
      return;
    }
    Link& link = links_[static_cast<std::size_t>(from_node)];
    link.update(now_);
    link.add({send, receive, link_share_ * cost.per_byte * bytes, cost.per_step});
    expect_end(from_node);
  }

  // Starts a step whose other end is in a process row that is not replayed.
  void begin_with_unreplayed_peer(const Step& step) {
    const Progress& progress = progress_of(step);
    const WireMessage& wire = progress.steps[step.step];
    const Rank& rank = rank_of(step.rank);
    const int other_node = problem_.node_of({wire.peer, rank.at.column});
    const auto bytes = static_cast<double>(wire.bytes);
    if (!wire.receives) return begin(step, {}, rank.node, other_node, bytes);
    // the other row is assumed to be in step: its link is as busy as this rank's
    const bool same_node = other_node == rank.node;
    needed_[same_node ? Work::memory : Work::network] = true;
    const double share = same_node ? 1 : link_share_;
    const double end =
        now_ + earlier_seconds(rank, *progress.record, same_node) + message_seconds(same_node, share * bytes);
    add_event({.time = end, .kind = Event::Kind::arrived, .step = step});
  }

  // The time of the root's work before a broadcast down the column, and of the messages before this rank's.
  double earlier_seconds(const Rank& rank, const MessageRecord& record, bool same_node) const {
    if (record.kind == MessageKind::rows || record.kind == MessageKind::tournament) return 0;
    const PassPlan pass = plan_pass(distribution_, record.pass, rank.at);
    const double width = static_cast<double>(pass.width), bytes = static_cast<double>(record.bytes);
    double seconds = 0;
    if (record.kind == MessageKind::u12 && computes_) {
      const double columns = bytes / (width * static_cast<double>(problem_.element_bytes()));
      seconds += machine_.seconds(Work::normalize, {width * width * columns, 2 * bytes, 1});
    }
    if (record.kind == MessageKind::u11 && computes_) {
      const double rows = static_cast<double>(pass.panel_rows);
      seconds +=
          machine_.seconds(Work::panel_host,
                           {rows * width * width, rows * width * static_cast<double>(problem_.element_bytes()), width});
    }
    if (record.kind == MessageKind::winners && computes_) {  // the root takes part in every level of the reduction tree
      const double columns = std::min(static_cast<double>(tournament_columns), width);
      const double levels = std::bit_width(static_cast<unsigned>(problem_.grid.rows - 1));
      seconds += machine_.seconds(Work::panel_host, levels * Amounts{2 * columns * columns * columns, 0, columns});
    }
    // the last rank of the column delays the others' next messages
    const int size = problem_.grid.rows;
    int messages = 0;
    switch (const BroadcastKind kind = broadcast_for(record.kind, problem_.parameters.broadcast)) {
      case BroadcastKind::ring:
      case BroadcastKind::ring_modified:
      case BroadcastKind::two_rings:
      case BroadcastKind::two_rings_modified:
        for (int place = size - 1; place > 0; place = forwarding_place(kind, size, place).parent) ++messages;
        break;
      case BroadcastKind::ibcast:
        messages = static_cast<int>(std::bit_width(static_cast<unsigned>(size - 1)));
        break;
      default:
        break;
    }
    return seconds + std::max(0, messages - 1) * message_seconds(same_node, bytes);
  }

  // MPI_Allreduce of a pivot candidate: all ranks of the column, recursive doubling.
  void all_reduce(const Step& step) {
    const GridPosition at = rank_of(step.rank).at;
    std::vector<Step>& arrived = reductions_[at.column];
    arrived.push_back(step);
    if (static_cast<int>(arrived.size()) < rows_replayed_) return;
    double seconds = 0;
    const auto bytes = static_cast<double>(progress_of(step).steps[step.step].bytes);
    for (int distance = 1; distance < problem_.grid.rows; distance *= 2) {
      const bool same_node = problem_.node_of({distance, at.column}) == problem_.node_of({0, at.column});
      needed_[same_node ? Work::memory : Work::network] = true;
      seconds += message_seconds(same_node, bytes);
    }
    for (const Step& one : arrived) add_event({.time = now_ + seconds, .kind = Event::Kind::arrived, .step = one});
    arrived.clear();
  }

  void expect_end(int number) {
    Link& link = links_[static_cast<std::size_t>(number)];
    ++link.version;
    if (link.flows.empty()) return;
    add_event({.time = now_ + link.first_to_end()->seconds_left * link.active,
               .kind = Event::Kind::link,
               .step = {},
               .link = number,
               .version = link.version});
  }

  void end_flow(int number) {
    Link& link = links_[static_cast<std::size_t>(number)];
    link.update(now_);
    const Flow flow = link.remove(link.first_to_end());
    if (flow.send.rank >= 0) add_event({.time = now_, .kind = Event::Kind::arrived, .step = flow.send});
    if (flow.receive.rank >= 0) {
      add_event({.time = now_ + flow.latency, .kind = Event::Kind::arrived, .step = flow.receive});
    }
    expect_end(number);
  }

  // Finishes a step: starts the next ones, and resumes the rank if it waited for the step.
  void finish(const Step& step) {
    Progress& progress = progress_of(step);
    ++progress.done;
    if (progress.steps[step.step].receives) ++progress.received;
    post(step.rank, step.message, now_);
    Rank& rank = rank_of(step.rank);
    if (rank.next == rank.list.operations.size()) return;
    const Operation& operation = rank.list.operations[rank.next];
    const bool waits = operation.target == step.message &&
                       ((operation.kind == Operation::Kind::wait_for_data && progress.has_data()) ||
                        (operation.kind == Operation::Kind::wait_for_end && progress.has_ended()));
    if (!waits) return;
    rank.host() = std::max(rank.host(), now_);
    advance_host(step.rank);
  }

  const MachineModel& machine_;
  const Problem& problem_;
  Distribution distribution_;
  PassRange measured_;
  int first_row_;  // of the replayed ranks
  int rows_replayed_;
  bool computes_;
  bool sends_;
  double link_share_ = 1;  // of the replayed rows; the other process rows use the same link, too
  BroadcastRoutes routes_;
  std::vector<Rank> ranks_;
  std::vector<Link> links_;  // outgoing link of every node
  std::priority_queue<Event> events_;
  std::uint64_t events_made_ = 0;
  double now_ = 0;
  std::map<std::tuple<int, int, MessageKind, bool>, std::deque<Step>> waiting_;  // key: from, to, kind, is_receive
  std::map<int, std::vector<Step>> reductions_;                                  // by process column
  ByWork<double> busy_;
  ByWork<bool> needed_{};
};

}  // namespace

Replay replay(const MachineModel& machine, const Problem& problem, PassRange passes, ReplayedRanks ranks) {
  return Simulation(machine, problem, passes, whole_run, ranks).run();
}

Replay replay_window(const MachineModel& machine, const Problem& problem, PassRange passes, ReplayedRanks ranks) {
  const Index first = std::max<Index>(0, passes.first - (passes.end - passes.first));
  return Simulation(machine, problem, {first, passes.end + 1}, passes, ranks).run();
}

}  // namespace glinpack::app::model
