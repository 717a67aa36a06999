#include "mpi/mpi_transport.hpp"

#include <optional>
#include <stdexcept>

#include "mpi/communication.hpp"

namespace glinpack {

namespace {

int broadcast_tag(MessageKind kind) {
  switch (kind) {
    case MessageKind::panel:
      return tags::panel_row;
    case MessageKind::u11:
      return tags::u11_column;
    case MessageKind::winners:
      return tags::winners;
    case MessageKind::u12:
      return tags::u12_column;
    case MessageKind::candidate:
    case MessageKind::tournament:
    case MessageKind::rows:
      break;
  }
  throw std::logic_error("this message is not broadcast");
}

// Its interval on the timeline ends when the data has arrived; on the root, when all data is sent. Waiting for
// forwarded sends is a separate interval.
class BroadcastTransfer final : public Transfer {
 public:
  /// start() makes the Broadcast.
  template <class Start>
  BroadcastTransfer(Timeline& timeline, Phase phase, bool receives, std::size_t bytes, Start start)
      : timeline_(timeline),
        phase_(phase),
        receives_(receives),
        scope_(new Timeline::Scope(
            timeline.scope(Lane::net, phase, receives ? static_cast<std::int64_t>(bytes) : 0, 0, receives ? 1 : 0))),
        broadcast_(start()) {
    BroadcastTransfer::test();  // may be done already
  }

  bool test() override {
    if (!done_) done_ = broadcast_.test();
    if (done_ || (receives_ && broadcast_.arrived())) scope_.reset();
    return done_;
  }
  void wait_until_arrived() override {
    timeline_.resume(phase_);
    broadcast_.wait_until_arrived();
    if (receives_) scope_.reset();
  }
  void wait() override {
    wait_until_arrived();
    if (!test()) {
      if (!scope_) scope_.reset(new Timeline::Scope(timeline_.scope(Lane::net, phase_)));
      broadcast_.wait();
      done_ = true;
    }
    scope_.reset();
  }

 private:
  Timeline& timeline_;
  Phase phase_;
  bool receives_;
  bool done_ = false;
  std::unique_ptr<Timeline::Scope> scope_;
  Broadcast broadcast_;
};

// An MPI datatype for ranges of a buffer. MPI keeps the data it needs until the message completes.
class RangesType {
 public:
  RangesType(const std::vector<RowRange>& ranges, Index columns, MPI_Datatype type, Index type_bytes) {
    std::vector<int> counts;
    std::vector<MPI_Aint> places;
    for (const RowRange& range : ranges) {
      counts.push_back(message_count(range.count * columns));
      places.push_back(static_cast<MPI_Aint>(range.first * columns * type_bytes));
    }
    GLINPACK_MPI(
        MPI_Type_create_hindexed(static_cast<int>(counts.size()), counts.data(), places.data(), type, &ranges_));
    GLINPACK_MPI(MPI_Type_commit(&ranges_));
  }
  RangesType(const RangesType&) = delete;
  RangesType& operator=(const RangesType&) = delete;
  ~RangesType() { MPI_Type_free(&ranges_); }
  MPI_Datatype type() const { return ranges_; }

 private:
  MPI_Datatype ranges_ = MPI_DATATYPE_NULL;
};

// How rows are exchanged.
struct RowChannel {
  Phase phase;
  MPI_Comm communicator;
  MPI_Datatype type;
  int tag;
  NodeRings* rings = nullptr;  // null: there are none
  PeerLine* peers = nullptr;   // if the data is in device memory
  MessagePlace on_device = {};
};

// The messages of a row exchange, round by round: the constructor starts the first round, test() and wait() start the
// next ones. Messages within a node use rings or windows of GPUs, if there are any. Its interval on the timeline ends
// when all rounds are done. All ranks start their exchanges on one communicator and tag in the same order.
class RowTransferRounds final : public Transfer {
 public:
  /// `buffer`: contiguous rows of `columns` elements; it must outlive the exchange.
  RowTransferRounds(Timeline& timeline, const RowChannel& channel, const RowExchangePlan& plan, Index columns,
                    void* buffer)
      : timeline_(timeline),
        channel_(channel),
        rounds_(plan.rounds),
        columns_(columns),
        buffer_(static_cast<char*>(buffer)),
        type_bytes_(element_bytes(channel.type)),
        receives_(plan.messages_received() > 0) {
    if (rounds_.empty()) return;
    scope_.reset(
        new Timeline::Scope(timeline.scope(Lane::net, channel.phase, plan.rows_received() * columns * type_bytes_, 0,
                                           static_cast<std::int32_t>(plan.messages_received()))));
    start_round();
  }

  bool test() override {
    for (;;) {
      int done = 1;
      if (!in_flight_.empty()) {
        GLINPACK_MPI(MPI_Testall(static_cast<int>(in_flight_.size()), in_flight_.data(), &done, MPI_STATUSES_IGNORE));
      }
      const bool copied = (!in_node_ || in_node_->advance()) && (!between_devices_ || between_devices_->advance());
      if (done == 0 || !copied) return false;
      in_flight_.clear();
      if (next_round_ == rounds_.size()) break;
      start_round();
    }
    scope_.reset();
    return true;
  }
  void wait_until_arrived() override {
    if (receives_) wait();
  }
  void wait() override {
    timeline_.resume(channel_.phase);
    while (!test()) {
      const std::size_t round = next_round_;
      const auto test_and_help = [&] {
        const bool done = test();
        if (in_node_ && !done) make_progress(channel_.communicator);
        return done || next_round_ != round;
      };
      wait_until(test_and_help, pending());
    }
  }

 private:
  // The first receive of the current round, else its first send.
  Pending pending() const {
    if (next_round_ == 0) return {};
    const TransferRound& round = rounds_[next_round_ - 1];
    for (const RowTransfer& transfer : round) {
      if (transfer.receives) return Pending::from(channel_.communicator, transfer.process);
    }
    return round.empty() ? Pending{} : Pending::to(channel_.communicator, round.front().process);
  }
  void start_round() {
    if (channel_.peers != nullptr) {
      std::vector<PeerMessage> messages;
      for (const RowTransfer& transfer : rounds_[next_round_]) messages.push_back(peer_message(transfer));
      between_devices_.emplace(*channel_.peers, channel_.tag, messages);
      ++next_round_;
      return;
    }
    std::vector<RingMessage> in_node;
    for (const RowTransfer& transfer : rounds_[next_round_]) {
      if (channel_.rings != nullptr && channel_.rings->reach(transfer.process)) {
        in_node.push_back(ring_message(transfer));
      } else {
        start(transfer);
      }
    }
    in_node_.reset();
    if (!in_node.empty()) in_node_.emplace(*channel_.rings, in_node);
    ++next_round_;
  }
  void start(const RowTransfer& transfer) {
    char* first = buffer_;
    int count = 1;
    MPI_Datatype type = channel_.type;
    std::unique_ptr<RangesType> ranges;
    if (transfer.ranges.size() == 1) {
      first += transfer.ranges.front().first * columns_ * type_bytes_;
      count = message_count(transfer.ranges.front().count * columns_);
    } else {
      ranges = std::make_unique<RangesType>(transfer.ranges, columns_, channel_.type, type_bytes_);
      type = ranges->type();
    }
    MPI_Request request = MPI_REQUEST_NULL;
    if (transfer.receives) {
      GLINPACK_MPI(MPI_Irecv(first, count, type, transfer.process, channel_.tag, channel_.communicator, &request));
    } else {
      GLINPACK_MPI(MPI_Isend(first, count, type, transfer.process, channel_.tag, channel_.communicator, &request));
    }
    in_flight_.push_back(request);
  }
  RingMessage ring_message(const RowTransfer& transfer) const {
    RingMessage message{transfer.process, transfer.receives, {}};
    const Index row_bytes = columns_ * type_bytes_;
    for (const RowRange& range : transfer.ranges) {
      message.parts.emplace_back(buffer_ + range.first * row_bytes, static_cast<std::size_t>(range.count * row_bytes));
    }
    return message;
  }
  PeerMessage peer_message(const RowTransfer& transfer) const {
    PeerMessage message{transfer.process, transfer.receives, {}, {}};
    const Index row_bytes = columns_ * type_bytes_;
    auto header = static_cast<std::size_t>(channel_.on_device.header * type_bytes_);
    for (const RowRange& range : transfer.ranges) {
      const auto first = static_cast<std::size_t>(range.first * row_bytes);
      if (header > 0) message.header = {buffer_ + first, header};
      const std::size_t bytes = static_cast<std::size_t>(range.count * row_bytes) - header;
      if (bytes > 0) message.parts.push_back({channel_.on_device.first + first + header, bytes});
      header = 0;
    }
    return message;
  }

  Timeline& timeline_;
  RowChannel channel_;
  std::vector<TransferRound> rounds_;
  Index columns_;
  char* buffer_;
  Index type_bytes_;
  std::size_t next_round_ = 0;
  std::vector<MPI_Request> in_flight_;
  std::optional<RingExchange> in_node_;  // of this round
  std::optional<PeerExchange> between_devices_;
  bool receives_;
  std::unique_ptr<Timeline::Scope> scope_;
};

// MPI_User_function.
void combine_in_mpi(void* in, void* in_out, int* count, MPI_Datatype* type) {
  const auto bytes = static_cast<std::size_t>(element_bytes(*type));
  for (int i = 0; i < *count; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * bytes;
    combine_candidates(static_cast<char*>(in) + first, static_cast<char*>(in_out) + first, bytes);
  }
}

}  // namespace

/// MPI's type and operation for candidates of so many bytes.
class CandidateReduction {
 public:
  explicit CandidateReduction(std::size_t bytes) : bytes_(bytes) {
    GLINPACK_MPI(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_));
    GLINPACK_MPI(MPI_Type_commit(&type_));
    GLINPACK_MPI(MPI_Op_create(combine_in_mpi, 1, &operation_));
  }
  CandidateReduction(const CandidateReduction&) = delete;
  CandidateReduction& operator=(const CandidateReduction&) = delete;
  ~CandidateReduction() {
    MPI_Op_free(&operation_);
    MPI_Type_free(&type_);
  }
  std::size_t bytes() const { return bytes_; }
  MPI_Datatype type() const { return type_; }
  MPI_Op operation() const { return operation_; }

 private:
  std::size_t bytes_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

template <class Real>
MpiTransport<Real>::MpiTransport(const ProcessGrid& grid, BroadcastKind broadcast, Timeline& timeline, Windows windows,
                                 Completion completion)
    : grid_(grid), broadcast_(broadcast), timeline_(timeline), windows_(windows), completion_(completion) {}

template <class Real>
MpiTransport<Real>::~MpiTransport() = default;

template <class Real>
std::unique_ptr<Transfer> MpiTransport<Real>::start_broadcast(MessageKind kind, const PassPlan& pass,
                                                              std::span<Real> message, Index, MessagePlace on_device) {
  const Line line = line_of(kind);
  if ((line == Line::row ? grid_.shape().columns : grid_.shape().rows) == 1) return nullptr;
  const int root = line == Line::row ? pass.pivot.column : pass.pivot.row;
  const bool receives = (line == Line::row ? grid_.position().column : grid_.position().row) != root;
  NodeWindow* const window = windows_.node == nullptr ? nullptr
                             : line == Line::row      ? windows_.node->row()
                                                      : windows_.node->column();
  const Phase phase = kind == MessageKind::panel ? Phase::broadcast_l : Phase::broadcast_u;
  PeerLine* const peers = peers_on(line, on_device);
  if (peers != nullptr) {
    const RowRange all{0, static_cast<Index>(message.size())};
    RowExchangePlan plan;
    plan.rounds.emplace_back();
    for (int rank = 0; rank < size_of(peers->communicator()); ++rank) {
      if (receives ? rank == root : rank != root) plan.rounds.front().push_back({rank, receives, {all}});
    }
    const RowChannel channel{phase,    peers->communicator(), mpi_type<Real>(), broadcast_tag(kind), nullptr, peers,
                             on_device};
    return std::make_unique<RowTransferRounds>(timeline_, channel, plan, 1, message.data());
  }
  auto transfer = std::make_unique<BroadcastTransfer>(timeline_, phase, receives, message.size_bytes(), [&] {
    return Broadcast(line == Line::row ? grid_.row() : grid_.column(), broadcast_for(kind, broadcast_), root,
                     mpi_message(message, broadcast_tag(kind)), window);
  });
  if (completion_ == Completion::in_turn) transfer->wait();
  return transfer;
}

template <class Real>
std::unique_ptr<Transfer> MpiTransport<Real>::start_exchange(MessageKind kind, const PassPlan&,
                                                             const RowExchangePlan& plan, Index columns, Real* buffer,
                                                             MessagePlace on_device) {
  if (plan.rounds.empty() || columns == 0) return nullptr;
  const bool of_panel = kind == MessageKind::panel;
  const NodeWindows* const node = windows_.node;
  const RowChannel channel{.phase = of_panel ? Phase::panel : Phase::swap,
                           .communicator = grid_.column(),
                           .type = mpi_type<Real>(),
                           .tag = of_panel ? tags::panel_column : tags::row_exchange,
                           .rings = node == nullptr ? nullptr
                                    : of_panel      ? node->panel_rings()
                                                    : node->row_rings(),
                           .peers = peers_on(Line::column, on_device),
                           .on_device = on_device};
  return std::make_unique<RowTransferRounds>(timeline_, channel, plan, columns, buffer);
}

template <class Real>
PeerLine* MpiTransport<Real>::peers_on(Line line, const MessagePlace& on_device) const {
  if (windows_.peers == nullptr || on_device.first == 0) return nullptr;
  return (line == Line::row ? windows_.peers->row : windows_.peers->column).get();
}

template <class Real>
std::unique_ptr<HostBuffer<Real>> MpiTransport<Real>::allocate_buffer(Line line, DeviceMemory<Real>& memory,
                                                                      Index elements) const {
  const bool has_peers =
      windows_.peers != nullptr && (line == Line::row ? windows_.peers->row : windows_.peers->column) != nullptr;
  return has_peers ? memory.allocate_message(elements) : memory.allocate_host(elements);
}

template <class Real>
bool MpiTransport<Real>::column_shares_memory() const {
  const NodeRings* const rings = windows_.node == nullptr ? nullptr : windows_.node->panel_rings();
  if (rings == nullptr) return false;
  for (int row = 0; row < grid_.shape().rows; ++row) {
    if (row != grid_.position().row && !rings->reach(row)) return false;
  }
  return true;
}

template <class Real>
void MpiTransport<Real>::reduce_candidates(const PassPlan&, Index, CandidateMessage<Real>& candidates) {
  if (grid_.shape().rows == 1) return;
  std::vector<char>& bytes = candidates.bytes();
  if (!reduction_ || reduction_->bytes() != bytes.size())
    reduction_ = std::make_unique<CandidateReduction>(bytes.size());
  const auto scope = timeline_.scope(Lane::net, Phase::panel, static_cast<std::int64_t>(bytes.size()), 0, 1);
  all_reduce(grid_.column(), bytes.data(), 1, reduction_->type(), reduction_->operation());
}

template <class Real>
void MpiTransport<Real>::send(const PassPlan&, Index, int to, std::span<const Real> rows) {
  const auto scope = timeline_.scope(Lane::net, Phase::panel);
  send_message(grid_.column(), mpi_message(rows, tags::tournament), to);
}

template <class Real>
void MpiTransport<Real>::receive(const PassPlan&, Index, int from, std::span<Real> rows) {
  const auto scope = timeline_.scope(Lane::net, Phase::panel, static_cast<Index>(rows.size_bytes()), 0, 1);
  receive_message(grid_.column(), mpi_message(rows, tags::tournament), from);
}

template class MpiTransport<float>;
template class MpiTransport<double>;

}  // namespace glinpack
