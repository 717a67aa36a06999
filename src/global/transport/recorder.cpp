#include "transport/recorder.hpp"

#include <algorithm>

namespace glinpack {

namespace {

void add_broadcast(std::vector<WireMessage>& messages, const MessageRecord& record, const GridShape& grid,
                   GridPosition position, const BroadcastRoutes& routes, Index element_bytes) {
  const Line line = line_of(record.kind);
  const int size = line == Line::row ? grid.columns : grid.rows;
  const int rank = line == Line::row ? position.column : position.row;
  const BroadcastKind kind = broadcast_for(record.kind, routes.kind);
  if (is_mpi_collective(kind)) {
    messages.push_back({.line = line, .peer = -1, .receives = record.receives, .bytes = record.bytes});
    return;
  }
  const auto copied = [&](int peer, bool receives) {
    return WireMessage{.line = line, .peer = peer, .receives = receives, .bytes = record.bytes, .in_memory = true};
  };
  std::vector<int> members;
  std::vector<WireMessage> copies;  // from this rank to others of its node
  const std::vector<int>& nodes = line == Line::row ? routes.nodes_of_row : routes.nodes_of_column;
  const std::size_t capacity = line == Line::row ? routes.largest.row : routes.largest.column;
  if (any_node_shared(nodes) && static_cast<std::size_t>(record.bytes) <= capacity) {
    const NodePlaces places = node_places(nodes, record.peer, rank);
    if (!places.leads) {
      messages.push_back(copied(places.leader, true));
      return;
    }
    members = places.leaders;
    for (int other = 0; other < size; ++other) {
      const bool same_node = nodes[static_cast<std::size_t>(other)] == nodes[static_cast<std::size_t>(rank)];
      if (same_node && other != rank) copies.push_back(copied(other, false));
    }
  } else {
    for (int place = 0; place < size; ++place) members.push_back((record.peer + place) % size);
  }
  const auto place = static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
  for (const BroadcastStep& step : broadcast_steps(kind, static_cast<int>(members.size()), place,
                                                   record.bytes / element_bytes, pieces_of_message(record.bytes))) {
    messages.push_back({line, members[static_cast<std::size_t>(step.peer)], step.receive, step.count * element_bytes,
                        step.after_receives});
  }
  const auto received = std::count_if(messages.begin(), messages.end(), [](const auto& m) { return m.receives; });
  for (WireMessage& copy : copies) {
    copy.after_receives = received;
    messages.push_back(copy);
  }
}

}  // namespace

std::vector<WireMessage> wire_messages(const MessageRecord& record, const GridShape& grid, GridPosition position,
                                       const BroadcastRoutes& routes, Index element_bytes) {
  std::vector<WireMessage> messages;
  switch (record.kind) {
    case MessageKind::rows: {
      const auto node_of = [&](int row) { return routes.nodes_of_column[static_cast<std::size_t>(row)]; };
      const bool have_rings = routes.largest.row_ring > 0 && any_node_shared(routes.nodes_of_column);
      for (const TransferRound& round : record.rounds) {
        bool first = true;
        for (const RowTransfer& transfer : round) {
          messages.push_back({.line = Line::column,
                              .peer = transfer.process,
                              .receives = transfer.receives,
                              .bytes = transfer.rows() * record.row_bytes,
                              .after_earlier = first && !messages.empty(),
                              .in_memory = have_rings && node_of(transfer.process) == node_of(position.row)});
          first = false;
        }
      }
      break;
    }
    case MessageKind::candidate:
      messages.push_back({.line = Line::column, .peer = -1, .receives = true, .bytes = record.bytes});
      break;
    case MessageKind::tournament:
      messages.push_back(
          {.line = Line::column, .peer = record.peer, .receives = record.receives, .bytes = record.bytes});
      break;
    default:
      add_broadcast(messages, record, grid, position, routes, element_bytes);
  }
  return messages;
}

// Nothing is in flight: the waits alone are of interest.
template <class Real>
class RecordingTransport<Real>::ListedTransfer final : public Transfer {
 public:
  ListedTransfer(OperationList& operations, std::size_t message) : operations_(operations), message_(message) {}
  bool test() override { return true; }
  void wait_until_arrived() override { operations_.message(Operation::Kind::wait_for_data, message_); }
  void wait() override { operations_.message(Operation::Kind::wait_for_end, message_); }

 private:
  OperationList& operations_;
  std::size_t message_;
};

template <class Real>
std::unique_ptr<Transfer> RecordingTransport<Real>::start(MessageRecord record) {
  operations_.message(Operation::Kind::start_message, records_.size());
  records_.push_back(std::move(record));
  return std::make_unique<ListedTransfer>(operations_, records_.size() - 1);
}

template <class Real>
std::unique_ptr<Transfer> RecordingTransport<Real>::start_broadcast(MessageKind kind, const PassPlan& pass,
                                                                    std::span<Real> message, Index column) {
  placeholders_.start_broadcast(kind, pass, message, column);
  const bool along_row = line_of(kind) == Line::row;
  if ((along_row ? grid_.columns : grid_.rows) == 1) return nullptr;
  MessageRecord record{.kind = kind, .pass = pass.pass, .column = column};
  record.peer = along_row ? pass.pivot.column : pass.pivot.row;
  record.receives = record.peer != (along_row ? position_.column : position_.row);
  record.bytes = static_cast<Index>(message.size_bytes());
  auto transfer = start(std::move(record));
  if (completion_ == Completion::in_turn) transfer->wait();
  return transfer;
}

template <class Real>
std::unique_ptr<Transfer> RecordingTransport<Real>::start_row_exchange(const PassPlan& pass,
                                                                       const RowExchangePlan& plan, Index columns,
                                                                       Real* buffer) {
  placeholders_.start_row_exchange(pass, plan, columns, buffer);
  if (plan.rounds.empty() || columns == 0) return nullptr;
  return start({.kind = MessageKind::rows,
                .pass = pass.pass,
                .rounds = plan.rounds,
                .row_bytes = columns * static_cast<Index>(sizeof(Real))});
}

template <class Real>
std::unique_ptr<Transfer> RecordingTransport<Real>::start_panel_exchange(const PassPlan& pass,
                                                                         const RowExchangePlan& plan, Real* buffer) {
  placeholders_.start_panel_exchange(pass, plan, buffer);
  return start({.kind = MessageKind::rows,
                .pass = pass.pass,
                .rounds = plan.rounds,
                .row_bytes = static_cast<Index>(sizeof(Real))});
}

template <class Real>
void RecordingTransport<Real>::reduce_candidates(const PassPlan& pass, Index column,
                                                 CandidateReduction<Real>& candidates) {
  placeholders_.reduce_candidates(pass, column, candidates);
  if (grid_.rows == 1) return;
  make({.kind = MessageKind::candidate,
        .pass = pass.pass,
        .column = column,
        .receives = true,
        .bytes = candidates.message_bytes()});
}

template <class Real>
void RecordingTransport<Real>::send(const PassPlan& pass, Index column, int to, std::span<const Real> rows) {
  placeholders_.send(pass, column, to, rows);
  make({.kind = MessageKind::tournament,
        .pass = pass.pass,
        .column = column,
        .peer = to,
        .bytes = static_cast<Index>(rows.size_bytes())});
}

template <class Real>
void RecordingTransport<Real>::receive(const PassPlan& pass, Index column, int from, std::span<Real> rows) {
  placeholders_.receive(pass, column, from, rows);
  make({.kind = MessageKind::tournament,
        .pass = pass.pass,
        .column = column,
        .peer = from,
        .receives = true,
        .bytes = static_cast<Index>(rows.size_bytes())});
}

template class RecordingTransport<float>;
template class RecordingTransport<double>;

}  // namespace glinpack
