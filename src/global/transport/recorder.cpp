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
  if (kind == BroadcastKind::ibcast) {
    messages.push_back({line, -1, record.receives, record.bytes});
    return;
  }
  std::vector<int> members;
  const std::vector<int>& nodes = line == Line::row ? routes.nodes_of_row : routes.nodes_of_column;
  const std::size_t room = line == Line::row ? routes.largest.row : routes.largest.column;
  if (any_node_shared(nodes) && static_cast<std::size_t>(record.bytes) <= room) {
    const NodePlaces places = node_places(nodes, record.peer, rank);
    if (!places.leads) return;
    members = places.leaders;
  } else {
    for (int place = 0; place < size; ++place) members.push_back((record.peer + place) % size);
  }
  const auto place = static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
  for (const BroadcastStep& step : broadcast_steps(kind, static_cast<int>(members.size()), place,
                                                   record.bytes / element_bytes, pieces_of_message(record.bytes))) {
    messages.push_back({line, members[static_cast<std::size_t>(step.peer)], step.receive, step.count * element_bytes});
  }
}

}  // namespace

std::vector<WireMessage> wire_messages(const MessageRecord& record, const GridShape& grid, GridPosition position,
                                       const BroadcastRoutes& routes, Index element_bytes) {
  std::vector<WireMessage> messages;
  switch (record.kind) {
    case MessageKind::rows:
      for (const TransferRound& round : record.rounds) {
        for (const RowTransfer& transfer : round) {
          messages.push_back({Line::column, transfer.process, transfer.receives, transfer.rows() * record.row_bytes});
        }
      }
      break;
    case MessageKind::candidate:
      messages.push_back({Line::column, -1, true, record.bytes});
      break;
    case MessageKind::tournament:
      messages.push_back({Line::column, record.peer, record.receives, record.bytes});
      break;
    default:
      add_broadcast(messages, record, grid, position, routes, element_bytes);
  }
  return messages;
}

template <class Real>
std::unique_ptr<Transfer> RecordingTransport<Real>::start_broadcast(MessageKind kind, const PassPlan& pass,
                                                                    std::span<Real> message, Index column) {
  const bool along_row = line_of(kind) == Line::row;
  if ((along_row ? grid_.columns : grid_.rows) > 1) {
    MessageRecord record{.kind = kind, .pass = pass.pass, .column = column};
    record.peer = along_row ? pass.pivot.column : pass.pivot.row;
    record.receives = record.peer != (along_row ? position_.column : position_.row);
    record.bytes = static_cast<Index>(message.size_bytes());
    records_.push_back(std::move(record));
  }
  return placeholders_.start_broadcast(kind, pass, message, column);
}

template <class Real>
std::unique_ptr<Transfer> RecordingTransport<Real>::start_row_exchange(const PassPlan& pass,
                                                                       const RowExchangePlan& plan, Index columns,
                                                                       Real* buffer) {
  if (!plan.rounds.empty() && columns > 0) {
    MessageRecord record{.kind = MessageKind::rows, .pass = pass.pass};
    record.rounds = plan.rounds;
    record.row_bytes = columns * static_cast<Index>(sizeof(Real));
    records_.push_back(std::move(record));
  }
  return placeholders_.start_row_exchange(pass, plan, columns, buffer);
}

template <class Real>
void RecordingTransport<Real>::reduce_candidates(const PassPlan& pass, Index column,
                                                 CandidateReduction<Real>& candidates) {
  if (grid_.rows > 1) {
    MessageRecord record{.kind = MessageKind::candidate, .pass = pass.pass, .column = column, .receives = true};
    record.bytes = candidates.message_bytes();
    records_.push_back(std::move(record));
  }
  placeholders_.reduce_candidates(pass, column, candidates);
}

template <class Real>
void RecordingTransport<Real>::send(const PassPlan& pass, Index column, int to, std::span<const Real> rows) {
  MessageRecord record{.kind = MessageKind::tournament, .pass = pass.pass, .column = column, .peer = to};
  record.bytes = static_cast<Index>(rows.size_bytes());
  records_.push_back(std::move(record));
  placeholders_.send(pass, column, to, rows);
}

template <class Real>
void RecordingTransport<Real>::receive(const PassPlan& pass, Index column, int from, std::span<Real> rows) {
  MessageRecord record{
      .kind = MessageKind::tournament, .pass = pass.pass, .column = column, .peer = from, .receives = true};
  record.bytes = static_cast<Index>(rows.size_bytes());
  records_.push_back(std::move(record));
  placeholders_.receive(pass, column, from, rows);
}

template class RecordingTransport<float>;
template class RecordingTransport<double>;

}  // namespace glinpack
