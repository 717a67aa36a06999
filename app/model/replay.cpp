#include "app/model/replay.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

#include "app/model/network.hpp"

namespace glinpack::app::model {

namespace {

// The progress of one message of a rank.
struct Progress {
  std::uint32_t posted = 0;  // steps
  std::uint32_t done = 0;
  std::uint32_t received = 0;
};

struct Rank {
  std::size_t next = 0;          // index of the next operation
  std::array<double, 4> free{};  // by queue: the time at which it becomes idle
  std::vector<double> ended;     // time at which each operation ended
  std::vector<Progress> messages;

  std::optional<double> measured_start, measured_end;

  double time() const { return *std::ranges::max_element(free); }
  double& host() { return free[static_cast<std::size_t>(Queue::host)]; }
  double& queue(Queue queue) { return free[static_cast<std::size_t>(queue)]; }
};

// A step of a rank's message, counted in the rank's steps.
struct Place {
  std::int32_t rank = -1;
  std::uint32_t message = 0;
  std::uint32_t step = 0;
};

// A message between two nodes.
struct Flight {
  Place send;
  Place receive;
  int from = 0, to = 0;  // nodes
  double seconds = 0;    // at the full rate of the link

  // True if both are pieces of one message between the same ranks.
  bool is_of_same_message(const Flight& other) const {
    return send.rank == other.send.rank && send.message == other.send.message && receive.rank == other.receive.rank;
  }
};

// The flows of a node, and pieces of messages whose earlier piece is one of them: a message's pieces are sent in
// sequence.
struct Sender {
  std::vector<int> flows;
  std::vector<Flight> waiting;
};

class Simulation {
 public:
  /// `measured`: the passes whose time is measured. `slow`: see replay().
  Simulation(const Schedule& schedule, const MachineModel& machine, const Problem& problem, PassRange measured,
             std::span<const double> slow)
      : schedule_(schedule),
        machine_(machine),
        problem_(problem),
        measured_(measured),
        slow_(slow),
        computes_(problem.parameters.parts != RunParts::messages),
        sends_(problem.parameters.parts != RunParts::compute),
        network_(nodes_of(problem)) {
    senders_.resize(static_cast<std::size_t>(nodes_of(problem)));
    for (const RankSchedule& list : schedule) {
      Rank& rank = ranks_.emplace_back();
      rank.ended.resize(list.operations.size());
      rank.messages.resize(list.messages.size());
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
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      Rank& rank = ranks_[i];
      if (rank.next < schedule_[i].operations.size()) throw std::logic_error("the model's messages have no end");
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
    result.messages = messages_;
    return result;
  }

 private:
  struct Event {
    enum class Kind : std::uint8_t { posted, arrived, flow };
    double time = 0;
    std::uint64_t order = 0;
    Place place;  // of a flow: its number as rank
    Kind kind = Kind::posted;
    friend bool operator<(const Event& a, const Event& b) {
      return std::tie(b.time, b.order) < std::tie(a.time, a.order);
    }
  };

  // Ends of messages of one kind between two ranks that wait for their other end.
  struct Waiting {
    std::vector<Place> sends, receives;  // in order, seldom more than one
  };

  static int nodes_of(const Problem& problem) {
    return problem.node_of({problem.grid.rows - 1, problem.grid.columns - 1}) + 1;
  }

  Rank& rank_of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const RankSchedule& list_of(int rank) const { return schedule_[static_cast<std::size_t>(rank)]; }
  const ScheduledMessage& message_of(const Place& place) const { return list_of(place.rank).messages[place.message]; }
  const Step& step_of(const Place& place) const { return list_of(place.rank).steps[place.step]; }
  void add_event(Event event) {
    event.order = events_made_++;
    events_.push(event);
  }

  // Executes the host's operations until one waits for a message.
  void advance_host(int number) {
    Rank& rank = rank_of(number);
    const RankSchedule& list = list_of(number);
    for (; rank.next < list.operations.size(); ++rank.next) {
      const TimedOperation& operation = list.operations[rank.next];
      switch (operation.kind) {
        case Operation::Kind::compute:
          compute(rank, list, operation);
          break;
        case Operation::Kind::wait_for_work:
          rank.host() = std::max(rank.host(), rank.ended[operation.target]);
          break;
        case Operation::Kind::start_message:
          if (sends_) post(number, operation.target, rank.host());
          break;
        case Operation::Kind::wait_for_data:
        case Operation::Kind::wait_for_end:
          if (sends_ && !may_continue(rank, list, operation)) return;
          break;
      }
    }
  }

  static bool may_continue(const Rank& rank, const RankSchedule& list, const TimedOperation& wait) {
    const Progress& progress = rank.messages[wait.target];
    const ScheduledMessage& message = list.messages[wait.target];
    return wait.kind == Operation::Kind::wait_for_data ? progress.received == message.receives
                                                       : progress.done == message.count;
  }

  void compute(Rank& rank, const RankSchedule& list, const TimedOperation& operation) {
    needed_[operation.work] = needed_[operation.work] || computes_;
    if (operation.work == Work::reduce) {
      const bool under_way = measured_.first >= 0;
      if (under_way && operation.pass >= measured_.first && !rank.measured_start) rank.measured_start = rank.time();
      if (operation.pass >= measured_.end && !rank.measured_end) rank.measured_end = rank.time();
    }
    const double slow = slow_.empty() ? 1 : slow_[static_cast<std::size_t>(list.node)];
    const double seconds = slow * operation.seconds;
    if (operation.pass >= measured_.first && operation.pass < measured_.end) busy_[operation.work] += seconds;
    double& free = rank.queue(operation.queue);
    double start = std::max(free, rank.host());
    // a copy to the host depends on earlier kernels; kernels depend on earlier copies to the device
    if (operation.queue == Queue::download) start = std::max(start, rank.queue(Queue::device));
    if (operation.queue == Queue::device) start = std::max(start, rank.queue(Queue::upload));
    free = rank.ended[rank.next] = start + seconds;
  }

  double message_seconds(bool same_node, double bytes) const {
    return machine_.seconds(same_node ? Work::memory : Work::network, {0, bytes, 1});
  }

  // Posts steps in order, up to the first one whose receives or predecessors are not done.
  void post(int number, std::uint32_t message, double time) {
    Progress& progress = rank_of(number).messages[message];
    const RankSchedule& list = list_of(number);
    const ScheduledMessage& scheduled = list.messages[message];
    while (progress.posted < scheduled.count) {
      const std::uint32_t number_of_step = scheduled.first + progress.posted;
      const Step& step = list.steps[number_of_step];
      if (step.after_receives > static_cast<std::int32_t>(progress.received)) break;
      if (step.after_earlier && progress.done < progress.posted) break;
      ++progress.posted;
      add_event({.time = time, .place = {number, message, number_of_step}, .kind = Event::Kind::posted});
    }
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case Event::Kind::posted:
        match(event.place);
        break;
      case Event::Kind::arrived:
        finish(event.place);
        break;
      case Event::Kind::flow:
        if (network_.ends({event.time, event.place.rank})) end_flow(event.place.rank);
        queue_flow_ends();
        break;
    }
  }

  void match(const Place& place) {
    const Step& step = step_of(place);
    if (step.peer == Step::whole_column) return all_reduce(place);
    const MessageKind kind = message_of(place).kind;
    const auto from = static_cast<std::uint64_t>(step.receives ? step.peer : place.rank);
    const auto to = static_cast<std::uint64_t>(step.receives ? place.rank : step.peer);
    Waiting& waiting = waiting_[(from << 36) | (to << 8) | static_cast<std::uint64_t>(kind)];
    std::vector<Place>& others = step.receives ? waiting.sends : waiting.receives;
    if (others.empty()) {
      (step.receives ? waiting.receives : waiting.sends).push_back(place);
      return;
    }
    const Place other = others.front();
    others.erase(others.begin());
    const Place send = step.receives ? other : place, receive = step.receives ? place : other;
    ++messages_;
    begin(send, receive, step.bytes);
  }

  void begin(const Place& send, const Place& receive, double bytes) {
    const int from_node = list_of(send.rank).node, to_node = list_of(receive.rank).node;
    const bool same_node = from_node == to_node;
    const Work work = same_node ? Work::memory : Work::network;
    needed_[work] = true;
    const Cost& cost = machine_.figures[work].cost;
    if (same_node) {
      const double end = now_ + cost.per_step + cost.per_byte * bytes;
      add_event({.time = end, .place = send, .kind = Event::Kind::arrived});
      add_event({.time = end, .place = receive, .kind = Event::Kind::arrived});
      return;
    }
    const Flight flight{send, receive, from_node, to_node, cost.per_byte * bytes};
    Sender& sender = senders_[static_cast<std::size_t>(from_node)];
    const bool follows = std::ranges::any_of(
        sender.flows, [&](int flow) { return flights_[static_cast<std::size_t>(flow)].is_of_same_message(flight); });
    if (follows) {
      sender.waiting.push_back(flight);
    } else {
      start_flow(flight);
      queue_flow_ends();
    }
  }

  void start_flow(const Flight& flight) {
    const int flow = network_.start(now_, flight.from, flight.to, flight.seconds);
    if (flights_.size() <= static_cast<std::size_t>(flow)) flights_.resize(static_cast<std::size_t>(flow) + 1);
    flights_[static_cast<std::size_t>(flow)] = flight;
    senders_[static_cast<std::size_t>(flight.from)].flows.push_back(flow);
  }

  void queue_flow_ends() {
    for (const FlowNetwork::End& end : network_.new_ends()) {
      add_event({.time = end.time, .place = {end.flow, 0, 0}, .kind = Event::Kind::flow});
    }
    network_.clear_new_ends();
  }

  void end_flow(int number) {
    const Flight flight = flights_[static_cast<std::size_t>(number)];
    Sender& sender = senders_[static_cast<std::size_t>(flight.from)];
    std::erase(sender.flows, number);
    const auto next =
        std::ranges::find_if(sender.waiting, [&](const Flight& other) { return other.is_of_same_message(flight); });
    if (next != sender.waiting.end()) {
      const Flight following = *next;
      sender.waiting.erase(next);
      start_flow(following);
    }
    add_event({.time = now_, .place = flight.send, .kind = Event::Kind::arrived});
    const double latency = machine_.figures[Work::network].cost.per_step;
    add_event({.time = now_ + latency, .place = flight.receive, .kind = Event::Kind::arrived});
  }

  // MPI_Allreduce of a pivot candidate: all ranks of the column, recursive doubling. Every round takes the time of its
  // slowest pair, at the rates that the other messages leave at the beginning.
  void all_reduce(const Place& place) {
    const GridPosition at = list_of(place.rank).at;
    std::vector<Place>& arrived = reductions_[at.column];
    arrived.push_back(place);
    if (static_cast<int>(arrived.size()) < problem_.grid.rows) return;
    double seconds = 0;
    const double bytes = step_of(place).bytes;
    for (int distance = 1; distance < problem_.grid.rows; distance *= 2) {
      seconds += round_seconds(at.column, distance, bytes);
    }
    for (const Place& one : arrived) {
      add_event({.time = now_ + seconds, .place = one, .kind = Event::Kind::arrived});
    }
    arrived.clear();
  }

  double round_seconds(int column, int distance, double bytes) {
    double slowest = 0;
    for (int row = 0; row < problem_.grid.rows; ++row) {
      const int partner = row ^ distance;
      if (partner >= problem_.grid.rows) continue;
      const int from = problem_.node_of({row, column}), to = problem_.node_of({partner, column});
      needed_[from == to ? Work::memory : Work::network] = true;
      const double rate = from == to ? 1 : network_.rate_of_another(from, to);
      slowest = std::max(slowest, message_seconds(from == to, bytes / rate));
    }
    return slowest;
  }

  // Finishes a step: starts the next ones, and resumes the rank if it waited for the step.
  void finish(const Place& place) {
    Rank& rank = rank_of(place.rank);
    Progress& progress = rank.messages[place.message];
    ++progress.done;
    if (step_of(place).receives) ++progress.received;
    post(place.rank, place.message, now_);
    const RankSchedule& list = list_of(place.rank);
    if (rank.next == list.operations.size()) return;
    const TimedOperation& operation = list.operations[rank.next];
    const bool is_wait =
        operation.kind == Operation::Kind::wait_for_data || operation.kind == Operation::Kind::wait_for_end;
    if (!is_wait || operation.target != place.message || !may_continue(rank, list, operation)) return;
    rank.host() = std::max(rank.host(), now_);
    advance_host(place.rank);
  }

  const Schedule& schedule_;
  const MachineModel& machine_;
  const Problem& problem_;
  PassRange measured_;
  std::span<const double> slow_;
  bool computes_;
  bool sends_;
  std::vector<Rank> ranks_;
  FlowNetwork network_;
  std::vector<Flight> flights_;  // by flow
  std::vector<Sender> senders_;  // by node
  std::priority_queue<Event> events_;
  std::uint64_t events_made_ = 0;
  double now_ = 0;
  std::unordered_map<std::uint64_t, Waiting> waiting_;  // by sender, receiver and kind
  std::map<int, std::vector<Place>> reductions_;        // by process column
  ByWork<double> busy_;
  ByWork<bool> needed_{};
  Index messages_ = 0;
};

}  // namespace

Replay replay(const Schedule& schedule, const MachineModel& machine, const Problem& problem, PassRange measured,
              std::span<const double> slow) {
  return Simulation(schedule, machine, problem, measured, slow).run();
}

}  // namespace glinpack::app::model
