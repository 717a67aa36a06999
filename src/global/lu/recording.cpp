#include "lu/recording.hpp"

#include <algorithm>
#include <utility>

#include "lu/factorize.hpp"
#include "lu/no_transport.hpp"

namespace glinpack {

namespace {

// Nothing is in flight: the waits alone are of interest.
class ListedTransfer final : public Transfer {
 public:
  ListedTransfer(OperationList& operations, std::size_t message) : operations_(operations), message_(message) {}
  bool test() override { return true; }
  void wait_until_arrived() override { operations_.message(Operation::Kind::wait_for_data, message_); }
  void wait() override { operations_.message(Operation::Kind::wait_for_end, message_); }

 private:
  OperationList& operations_;
  std::size_t message_;
};

// Records every message, and delivers placeholders. `operations` lists the start of each and the waits for it, in the
// driver's order. A blocking call is listed as a start and a wait for the end.
template <class Real>
class RecordingTransport final : public NoTransport<Real> {
 public:
  // All must outlive it. `completion`: as the MpiTransport of the run.
  RecordingTransport(const Distribution& distribution, const RecordedRank& rank, Pivoting pivoting,
                     Completion completion, OperationList& operations)
      : NoTransport<Real>(distribution, rank.position, pivoting, 0, rank.column_shares_memory),
        grid_(rank.grid),
        position_(rank.position),
        completion_(completion),
        operations_(operations) {}

  const std::vector<MessageRecord>& records() const { return records_; }

  std::unique_ptr<Transfer> start_broadcast(MessageKind kind, const PassPlan& pass, std::span<Real> message,
                                            Index column, MessagePlace place) override {
    NoTransport<Real>::start_broadcast(kind, pass, message, column, place);
    const bool along_row = line_of(kind) == Line::row;
    if ((along_row ? grid_.columns : grid_.rows) == 1) return nullptr;
    const int root = along_row ? pass.pivot.column : pass.pivot.row;
    auto transfer = start({.kind = kind,
                           .pass = pass.pass,
                           .column = column,
                           .peer = root,
                           .receives = root != (along_row ? position_.column : position_.row),
                           .bytes = static_cast<Index>(message.size_bytes())});
    if (completion_ == Completion::in_turn) transfer->wait();
    return transfer;
  }
  std::unique_ptr<Transfer> start_exchange(MessageKind kind, const PassPlan& pass, const RowExchangePlan& plan,
                                           Index columns, Real* buffer, MessagePlace place) override {
    NoTransport<Real>::start_exchange(kind, pass, plan, columns, buffer, place);
    if (plan.rounds.empty() || columns == 0) return nullptr;
    return start({.kind = MessageKind::rows,
                  .pass = pass.pass,
                  .rounds = plan.rounds,
                  .row_bytes = columns * static_cast<Index>(sizeof(Real))});
  }
  void reduce_candidates(const PassPlan& pass, Index column, CandidateMessage<Real>& candidates) override {
    NoTransport<Real>::reduce_candidates(pass, column, candidates);
    if (grid_.rows > 1) make(MessageKind::candidate, pass, column, -1, true, candidates.bytes().size());
  }
  void send(const PassPlan& pass, Index column, int to, std::span<const Real> rows) override {
    make(MessageKind::tournament, pass, column, to, false, rows.size_bytes());
  }
  void receive(const PassPlan& pass, Index column, int from, std::span<Real> rows) override {
    NoTransport<Real>::receive(pass, column, from, rows);
    make(MessageKind::tournament, pass, column, from, true, rows.size_bytes());
  }

 private:
  std::unique_ptr<Transfer> start(MessageRecord record) {
    operations_.message(Operation::Kind::start_message, records_.size());
    records_.push_back(std::move(record));
    return std::make_unique<ListedTransfer>(operations_, records_.size() - 1);
  }
  void make(MessageKind kind, const PassPlan& pass, Index column, int peer, bool receives, std::size_t bytes) {
    start({.kind = kind,
           .pass = pass.pass,
           .column = column,
           .peer = peer,
           .receives = receives,
           .bytes = static_cast<Index>(bytes)})
        ->wait();
  }

  GridShape grid_;
  GridPosition position_;
  Completion completion_;
  OperationList& operations_;
  std::vector<MessageRecord> records_;
};

template <class Real>
RankOperations record(const RunParameters& parameters, const RecordedRank& rank, PassRange passes,
                      const ModelledDevice& device) {
  RunParameters computes_nothing = parameters;
  computes_nothing.parts = RunParts::messages;
  const Distribution distribution = distribution_of(parameters, rank.grid);
  Timeline timeline;
  OperationList operations(timeline);
  const auto backend = make_none_backend<Real>(timeline, HostPages::lazy, device, &operations);
  const auto a = backend->allocate(distribution.local_rows(rank.position), distribution.local_columns(rank.position));
  RecordingTransport<Real> recorder(distribution, rank, parameters.pivoting, completion_of(parameters.parts),
                                    operations);
  AllPasses observer(timeline);
  const LoneGrid lone(rank.grid, rank.position);
  const RankContext<Real> context{computes_nothing, distribution, lone, *backend, recorder};
  make_lu<Real>(context, *a, nullptr, rank.row_plans)->run(observer, passes);
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
  std::vector<Message> messages;
  for (int p = 0; p < grid.rows; ++p) {
    for (int q = 0; q < grid.columns; ++q) {
      const GridPosition at{p, q};
      const auto first_of_rank = static_cast<std::ptrdiff_t>(messages.size());
      const auto add = [&](MessageKind kind, std::vector<GridPosition> to, Index bytes) {
        const auto same = std::find_if(messages.begin() + first_of_rank, messages.end(), [&](const Message& message) {
          return message.kind == kind && message.to == to;
        });
        if (same == messages.end()) {
          messages.push_back({kind, at, std::move(to), bytes, 1});
        } else {
          same->bytes += bytes;
          ++same->parts;
        }
      };
      for (const MessageRecord& record :
           record_on_host(parameters, {grid, at}, {pass, pass + 1}, precision, algorithm).messages) {
        switch (record.kind) {
          case MessageKind::rows:
            for (const TransferRound& round : record.rounds) {
              for (const RowTransfer& transfer : round) {
                if (transfer.receives) continue;
                add(record.kind, {{transfer.process, q}}, transfer.rows() * record.row_bytes);
              }
            }
            break;
          case MessageKind::candidate:
            add(record.kind, others_in_line(Line::column, grid, at), record.bytes);
            break;
          case MessageKind::tournament:
            if (!record.receives) add(record.kind, {{record.peer, q}}, record.bytes);
            break;
          default:
            if (record.receives) break;
            add(record.kind, others_in_line(line_of(record.kind), grid, at), record.bytes);
        }
      }
    }
  }
  return messages;
}

}  // namespace glinpack
