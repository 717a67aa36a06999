// The messages of a rank as a list in place of sending them, and what MPI makes of each.
#pragma once

#include <vector>

#include "transport/node_route.hpp"
#include "transport/transport.hpp"

namespace glinpack {

/// A message as the driver asks for it.
struct MessageRecord {
  MessageKind kind = MessageKind::panel;
  Index pass = 0;
  Index column = 0;                     // of the panel: candidate, tournament, winners
  int peer = -1;                        // broadcasts: the root; tournament: the other end; by process row or column
  bool receives = false;                // tournament, and broadcasts on other ranks than the root
  Index bytes = 0;                      // of the message; 0 for rows
  std::vector<TransferRound> rounds{};  // rows: as in the plan
  Index row_bytes = 0;                  // rows: of one row
};

/// How a run broadcasts, and which ranks of a line share a node.
struct BroadcastRoutes {
  BroadcastKind kind = BroadcastKind::ring;
  /// For every rank of this rank's process row, and of its process column, the first rank of its node (nodes_of());
  /// empty: broadcasts do not use shared memory.
  std::vector<int> nodes_of_row;
  std::vector<int> nodes_of_column;
  /// The capacity of the shared memory; larger messages do not use it.
  BroadcastSizes largest;
};

/// One message between this rank and another one of its line, or a collective operation of MPI's.
struct WireMessage {
  Line line = Line::row;
  int peer = -1;  // process column or row; -1: collective over the line
  bool receives = false;
  Index bytes = 0;
  Index after_receives = 0;    // starts when this many receives of the recorded message are done
  bool after_earlier = false;  // starts when all earlier ones of the recorded message are done
  bool in_memory = false;      // copied through a node's shared memory: not an MPI message
};

/// The messages that MpiTransport sends and receives for a recorded one, in their order for each peer, and the copies
/// through shared memory. Pure.
std::vector<WireMessage> wire_messages(const MessageRecord& record, const GridShape& grid, GridPosition position,
                                       const BroadcastRoutes& routes, Index element_bytes);

}  // namespace glinpack
