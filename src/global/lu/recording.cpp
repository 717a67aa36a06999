#include "lu/recording.hpp"

#include <algorithm>

#include "lu/factorize.hpp"
#include "lu/no_transport.hpp"

namespace glinpack {

namespace {

template <class Real>
RankOperations record(const RunParameters& parameters, const RecordedRank& rank, PassRange passes,
                      const ModelledDevice& device) {
  const auto& [grid, position, column_shares_memory, row_plans] = rank;
  RunParameters computes_nothing = parameters;
  computes_nothing.parts = RunParts::messages;
  const Distribution distribution = distribution_of(parameters, grid);
  Timeline timeline;
  OperationList operations(timeline);
  const auto backend = make_none_backend<Real>(timeline, HostPages::lazy, device, &operations);
  const auto a = backend->allocate(distribution.local_rows(position), distribution.local_columns(position));
  NoTransport<Real> placeholders(distribution, position, parameters.pivoting, 0, column_shares_memory);
  RecordingTransport<Real> recorder(placeholders, grid, position, completion_of(parameters.parts), operations);
  AllPasses observer(timeline);
  const LoneGrid lone(grid, position);
  const RankContext<Real> context{computes_nothing, distribution, lone, *backend, recorder};
  make_lu<Real>(context, *a, nullptr, row_plans)->run(observer, passes);
  return {operations.take(), recorder.records()};
}

// The receivers of a broadcast, or of a candidate, which all others of the process column get.
std::vector<GridPosition> others_in_line(Line line, GridShape grid, GridPosition at) {
  std::vector<GridPosition> others;
  for (int i = 0; i < (line == Line::row ? grid.columns : grid.rows); ++i) {
    const GridPosition other = line == Line::row ? GridPosition{at.row, i} : GridPosition{i, at.column};
    if (other != at) others.push_back(other);
  }
  return others;
}

class Messages {
 public:
  // Begins the messages of another rank.
  void begin() { first_ = messages_.size(); }
  void add(MessageKind kind, GridPosition from, std::vector<GridPosition> to, Index bytes) {
    const auto same = std::find_if(messages_.begin() + static_cast<std::ptrdiff_t>(first_), messages_.end(),
                                   [&](const Message& message) { return message.kind == kind && message.to == to; });
    if (same == messages_.end()) {
      messages_.push_back({kind, from, std::move(to), bytes, 1});
    } else {
      same->bytes += bytes;
      ++same->parts;
    }
  }
  std::vector<Message> take() { return std::move(messages_); }

 private:
  std::vector<Message> messages_;
  std::size_t first_ = 0;
};

}  // namespace

RankOperations record_operations(const RunParameters& parameters, const RecordedRank& rank, PassRange passes,
                                 Precision precision, const ModelledDevice& device) {
  return precision == Precision::double_ ? record<double>(parameters, rank, passes, device)
                                         : record<float>(parameters, rank, passes, device);
}

RankOperations record_on_host(const RunParameters& parameters, const RecordedRank& rank, PassRange passes,
                              Precision precision, LuAlgorithm algorithm) {
  RunParameters on_host = parameters;
  on_host.panel = PanelPlace::host;
  on_host.row_swap.pieces = std::max<Index>(1, parameters.row_swap.pieces);  // not chosen yet
  const ModelledDevice device{.row_by_row = algorithm == LuAlgorithm::row_by_row};
  return record_operations(on_host, rank, passes, precision, device);
}

std::vector<Message> messages_in_pass(const RunParameters& parameters, GridShape grid, Index pass, Precision precision,
                                      LuAlgorithm algorithm) {
  Messages messages;
  for (int p = 0; p < grid.rows; ++p) {
    for (int q = 0; q < grid.columns; ++q) {
      const GridPosition at{p, q};
      messages.begin();
      for (const MessageRecord& record :
           record_on_host(parameters, {grid, at}, {pass, pass + 1}, precision, algorithm).messages) {
        switch (record.kind) {
          case MessageKind::rows:
            for (const TransferRound& round : record.rounds) {
              for (const RowTransfer& transfer : round) {
                if (transfer.receives) continue;
                messages.add(record.kind, at, {{transfer.process, q}}, transfer.rows() * record.row_bytes);
              }
            }
            break;
          case MessageKind::candidate:
            messages.add(record.kind, at, others_in_line(Line::column, grid, at), record.bytes);
            break;
          case MessageKind::tournament:
            if (!record.receives) messages.add(record.kind, at, {{record.peer, q}}, record.bytes);
            break;
          default:
            if (record.receives) break;
            messages.add(record.kind, at, others_in_line(line_of(record.kind), grid, at), record.bytes);
        }
      }
    }
  }
  return messages.take();
}

}  // namespace glinpack
