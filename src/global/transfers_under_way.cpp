#include "global/transfers_under_way.hpp"

#include "global/communication.hpp"

namespace glinpack {

namespace {

// Some ranges of a buffer as one message. MPI keeps what it needs of the type until the message is done.
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

}  // namespace

TransfersUnderWay::TransfersUnderWay(Timeline& timeline, const RowExchangePlan& plan, Index columns, void* buffer,
                                     MPI_Datatype type, MPI_Comm communicator, int tag)
    : timeline_(timeline),
      rounds_(plan.rounds),
      columns_(columns),
      buffer_(static_cast<char*>(buffer)),
      type_(type),
      communicator_(communicator),
      tag_(tag) {
  int bytes = 0;
  GLINPACK_MPI(MPI_Type_size(type, &bytes));
  type_bytes_ = bytes;
  if (rounds_.empty()) return;
  scope_.reset(new Timeline::Scope(timeline.scope(Lane::net, Phase::swap, plan.rows_received() * columns * type_bytes_,
                                                  0, static_cast<std::int32_t>(plan.messages_received()))));
  start_round();
}

void TransfersUnderWay::start_round() {
  for (const RowTransfer& transfer : rounds_[next_round_]) start(transfer);
  ++next_round_;
}

void TransfersUnderWay::start(const RowTransfer& transfer) {
  char* first = buffer_;
  int count = 1;
  MPI_Datatype type = type_;
  std::unique_ptr<RangesType> ranges;
  if (transfer.ranges.size() == 1) {
    first += transfer.ranges.front().first * columns_ * type_bytes_;
    count = message_count(transfer.ranges.front().count * columns_);
  } else {
    ranges = std::make_unique<RangesType>(transfer.ranges, columns_, type_, type_bytes_);
    type = ranges->type();
  }
  MPI_Request request = MPI_REQUEST_NULL;
  if (transfer.receives) {
    GLINPACK_MPI(MPI_Irecv(first, count, type, transfer.process, tag_, communicator_, &request));
  } else {
    GLINPACK_MPI(MPI_Isend(first, count, type, transfer.process, tag_, communicator_, &request));
  }
  under_way_.push_back(request);
}

bool TransfersUnderWay::test() {
  for (;;) {
    int done = 1;
    if (!under_way_.empty()) {
      GLINPACK_MPI(MPI_Testall(static_cast<int>(under_way_.size()), under_way_.data(), &done, MPI_STATUSES_IGNORE));
    }
    if (done == 0) return false;
    under_way_.clear();
    if (next_round_ == rounds_.size()) break;
    start_round();
  }
  scope_.reset();
  return true;
}

// The first message of the round under way that comes here, else the first that leaves.
Pending TransfersUnderWay::pending() const {
  if (next_round_ == 0) return {};
  const TransferRound& round = rounds_[next_round_ - 1];
  for (const RowTransfer& transfer : round) {
    if (transfer.receives) return Pending::from(communicator_, transfer.process);
  }
  return round.empty() ? Pending{} : Pending::to(communicator_, round.front().process);
}

void TransfersUnderWay::wait() {
  timeline_.resume(Phase::swap);
  do {
    glinpack::wait(under_way_, pending());
  } while (!test());
}

}  // namespace glinpack
