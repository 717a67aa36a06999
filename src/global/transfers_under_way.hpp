// Rows on their way between the ranks of a process column, round by round, while these compute.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "global/pending.hpp"
#include "global/row_moves.hpp"
#include "local/timeline.hpp"

namespace glinpack {

/// Started by the constructor, driven by test(), ended by wait(). On the timeline from its start until it is done. The
/// buffer must live until then. Collective over the ranks that the rounds name, and in the same order on all of them
/// with every other one on the same communicator and tag.
class TransfersUnderWay {
 public:
  /// Rows of `columns` elements of `type`, one behind the other in `buffer`.
  TransfersUnderWay(Timeline& timeline, const RowExchangePlan& plan, Index columns, void* buffer, MPI_Datatype type,
                    MPI_Comm communicator, int tag);
  TransfersUnderWay(const TransfersUnderWay&) = delete;
  TransfersUnderWay& operator=(const TransfersUnderWay&) = delete;

  /// True once all is done.
  bool test();
  void wait();

 private:
  Pending pending() const;
  void start_round();
  void start(const RowTransfer& transfer);

  Timeline& timeline_;
  std::vector<TransferRound> rounds_;
  Index columns_;
  char* buffer_;
  MPI_Datatype type_;
  Index type_bytes_ = 0;
  MPI_Comm communicator_;
  int tag_;
  std::size_t next_round_ = 0;
  std::vector<MPI_Request> under_way_;
  std::unique_ptr<Timeline::Scope> scope_;
};

}  // namespace glinpack
