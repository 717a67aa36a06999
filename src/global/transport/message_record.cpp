#include "transport/message_record.hpp"

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

}  // namespace glinpack
