// The schedule of a run as lists of operations and messages: the driver runs on a backend that computes nothing, and
// the transport records each rank's messages.
#pragma once

#include <vector>

#include "backend/operations.hpp"
#include "base/precision.hpp"
#include "lu/parameters.hpp"
#include "none/none_backend.hpp"
#include "transport/message_record.hpp"

namespace glinpack {

/// What one rank does: its operations in the driver's order, and the messages to which they refer.
struct RankOperations {
  std::vector<Operation> operations;
  std::vector<MessageRecord> messages;
};

struct RecordedRank {
  GridShape grid;
  GridPosition position;
  bool column_shares_memory = false;  // see Transport
  RowPlanCache* row_plans = nullptr;  // of the same run and passes; null: none
};

/// The operations of a rank in some passes, with synthetic pivots. parameters.parts decides only whether messages
/// overlap (RunParts::messages: none does).
RankOperations record_operations(const RunParameters& parameters, const RecordedRank& rank, PassRange passes,
                                 Precision precision, const ModelledDevice& device);

/// The same on the host, which factorises panels. `algorithm`: row_by_row only if lu_algorithm() allows it.
RankOperations record_on_host(const RunParameters& parameters, const RecordedRank& rank, PassRange passes,
                              Precision precision, LuAlgorithm algorithm = LuAlgorithm::blocked);

/// A message of a pass as its sender knows it: the same kind from one rank to the same ranks, added up.
struct Message {
  MessageKind kind = MessageKind::panel;
  GridPosition from;
  std::vector<GridPosition> to;
  Index bytes = 0;  // per receiver
  Index parts = 1;  // number of messages
};

/// All messages of a pass over the whole grid (white paper, figure 2).
std::vector<Message> messages_in_pass(const RunParameters& parameters, GridShape grid, Index pass, Precision precision,
                                      LuAlgorithm algorithm = LuAlgorithm::blocked);

}  // namespace glinpack
