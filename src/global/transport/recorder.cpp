#include "transport/recorder.hpp"

namespace glinpack {

namespace {

std::vector<WireMessage> messages_of_broadcast(const MessageRecord& record, const GridShape& grid,
                                               GridPosition position, const BroadcastRoutes& routes,
                                               Index element_bytes) {
  std::vector<WireMessage> messages;
  const bool along_row = line_of(record.kind) == Line::row;
  const NodeLine line{.size = along_row ? grid.columns : grid.rows,
                      .rank = along_row ? position.column : position.row,
                      .nodes = along_row ? routes.nodes_of_row : routes.nodes_of_column,
                      .shared_bytes = along_row ? routes.largest.row : routes.largest.column};
  const NodeRoute route = node_route(broadcast_for(record.kind, routes.kind), line,
                                     {record.peer, record.bytes / element_bytes, element_bytes});
  const auto add = [&](int peer, bool receives, Index bytes, Index after_receives, bool in_memory) {
    messages.push_back({.line = line_of(record.kind),
                        .peer = peer,
                        .receives = receives,
                        .bytes = bytes,
                        .after_receives = after_receives,
                        .in_memory = in_memory});
  };
  for (const BroadcastStep& step : route.steps) {
    add(route.is_collective ? -1 : step.peer, step.receive, step.count * element_bytes, step.after_receives, false);
  }
  if (route.copies_from >= 0) add(route.copies_from, true, record.bytes, 0, true);
  for (const int other : route.copied_by) add(other, false, record.bytes, route.receives, true);
  return messages;
}

}  // namespace

std::vector<WireMessage> wire_messages(const MessageRecord& record, const GridShape& grid, GridPosition position,
                                       const BroadcastRoutes& routes, Index element_bytes) {
  std::vector<WireMessage> messages;
  switch (record.kind) {
    case MessageKind::rows: {
      const auto node_of = [&](int row) { return routes.nodes_of_column[static_cast<std::size_t>(row)]; };
      const bool have_rings = routes.largest.row_ring > 0 && !routes.nodes_of_column.empty();
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
      return messages_of_broadcast(record, grid, position, routes, element_bytes);
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
                                                                    std::span<Real> message, Index column,
                                                                    MessagePlace) {
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
                                                                       Real* buffer, MessagePlace) {
  placeholders_.start_row_exchange(pass, plan, columns, buffer);
  if (plan.rounds.empty() || columns == 0) return nullptr;
  return start({.kind = MessageKind::rows,
                .pass = pass.pass,
                .rounds = plan.rounds,
                .row_bytes = columns * static_cast<Index>(sizeof(Real))});
}

template <class Real>
std::unique_ptr<Transfer> RecordingTransport<Real>::start_panel_exchange(const PassPlan& pass,
                                                                         const RowExchangePlan& plan, Real* buffer,
                                                                         MessagePlace) {
  placeholders_.start_panel_exchange(pass, plan, buffer);
  return start({.kind = MessageKind::rows,
                .pass = pass.pass,
                .rounds = plan.rounds,
                .row_bytes = static_cast<Index>(sizeof(Real))});
}

template <class Real>
void RecordingTransport<Real>::reduce_candidates(const PassPlan& pass, Index column,
                                                 CandidateMessage<Real>& candidates) {
  placeholders_.reduce_candidates(pass, column, candidates);
  if (grid_.rows == 1) return;
  make({.kind = MessageKind::candidate,
        .pass = pass.pass,
        .column = column,
        .receives = true,
        .bytes = static_cast<Index>(candidates.bytes().size())});
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
