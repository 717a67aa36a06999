#include "lu/recording.hpp"

#include <algorithm>

#include "lu/factorize.hpp"
#include "lu/no_transport.hpp"
#include "none/none_backend.hpp"

namespace glinpack {

namespace {

class NoObserver final : public PassObserver {
 public:
  bool before(const PassPlan&) override { return true; }
  void after(const PassPlan&) override {}
};

template <class Real>
std::vector<MessageRecord> record(const RunParameters& parameters, GridShape grid, GridPosition position,
                                  PassRange passes) {
  const Distribution distribution = distribution_of(parameters, grid);
  Timeline timeline;
  const auto backend = make_none_backend<Real>(timeline, HostPages::lazy);
  const auto a = backend->allocate(distribution.local_rows(position), distribution.local_columns(position));
  NoTransport<Real> placeholders(distribution, position, parameters.pivoting, 0);
  RecordingTransport<Real> recorder(placeholders, grid, position);
  NoObserver observer;
  make_lu<Real>({parameters, distribution, position, *backend, recorder, timeline, *a})->run(observer, passes);
  return recorder.records();
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
  // Of one rank.
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

std::vector<MessageRecord> record_messages(const RunParameters& parameters, GridShape grid, GridPosition position,
                                           PassRange passes, Precision precision) {
  RunParameters messages_alone = parameters;
  messages_alone.parts = RunParts::messages;
  messages_alone.panel = PanelPlace::host;
  return precision == Precision::double_ ? record<double>(messages_alone, grid, position, passes)
                                         : record<float>(messages_alone, grid, position, passes);
}

std::vector<Message> messages_in_pass(const RunParameters& parameters, GridShape grid, Index pass,
                                      Precision precision) {
  Messages messages;
  for (int p = 0; p < grid.rows; ++p) {
    for (int q = 0; q < grid.columns; ++q) {
      const GridPosition at{p, q};
      messages.begin();
      for (const MessageRecord& record : record_messages(parameters, grid, at, {pass, pass + 1}, precision)) {
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
