// The messages of a pass by MPI.
#pragma once

#include <memory>

#include "mpi/broadcast.hpp"
#include "mpi/node_broadcast.hpp"
#include "mpi/process_grid.hpp"
#include "transport/transport.hpp"

namespace glinpack {

class CandidateReduction;

/// Records every message as an interval on the timeline. The receiver counts bytes and messages; an all-reduce is one
/// message per rank.
template <class Real>
class MpiTransport : public Transport<Real> {
 public:
  /// `broadcast`: for panels and U12. `windows`: shared memory for rows and for the broadcasts that fit; may be null.
  /// Grid, timeline and windows must outlive it. Not collective.
  MpiTransport(const ProcessGrid& grid, BroadcastKind broadcast, Timeline& timeline, NodeWindows* windows = nullptr,
               Completion completion = Completion::overlapped);
  ~MpiTransport() override;

  std::unique_ptr<Transfer> start_broadcast(MessageKind kind, const PassPlan& pass, std::span<Real> message,
                                            Index column) override;
  std::unique_ptr<Transfer> start_row_exchange(const PassPlan& pass, const RowExchangePlan& plan, Index columns,
                                               Real* buffer) override;
  std::unique_ptr<Transfer> start_panel_exchange(const PassPlan& pass, const RowExchangePlan& plan,
                                                 Real* buffer) override;
  bool column_shares_memory() const override;
  void reduce_candidates(const PassPlan& pass, Index column, CandidateMessage<Real>& candidates) override;
  void send(const PassPlan& pass, Index column, int to, std::span<const Real> rows) override;
  void receive(const PassPlan& pass, Index column, int from, std::span<Real> rows) override;

 private:
  std::unique_ptr<Transfer> start_rounds(Phase phase, const RowExchangePlan& plan, Index columns, Real* buffer, int tag,
                                         NodeRings* rings);

  const ProcessGrid& grid_;
  BroadcastKind broadcast_;
  Timeline& timeline_;
  NodeWindows* windows_;
  Completion completion_;
  std::unique_ptr<CandidateReduction> reduction_;  // once a candidate has been reduced
};

}  // namespace glinpack
