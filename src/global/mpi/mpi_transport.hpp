// The messages of a pass by MPI.
#pragma once

#include <memory>

#include "mpi/broadcast.hpp"
#include "mpi/peer_windows.hpp"
#include "mpi/process_grid.hpp"
#include "transport/transport.hpp"

namespace glinpack {

class CandidateReduction;

/// Memory that the ranks of a node share, where there is any.
struct Windows {
  NodeWindows* node = nullptr;  // for rows, and for the broadcasts that fit
  PeerLines* peers = nullptr;   // for messages on devices
};

/// Records every message as an interval on the timeline. The receiver counts bytes and messages; an all-reduce is one
/// message per rank.
template <class Real>
class MpiTransport : public Transport<Real> {
 public:
  /// `broadcast`: for panels and U12. Grid, timeline and windows must outlive it. Not collective.
  MpiTransport(const ProcessGrid& grid, BroadcastKind broadcast, Timeline& timeline, Windows windows = {},
               Completion completion = Completion::overlapped);
  ~MpiTransport() override;

  std::unique_ptr<Transfer> start_broadcast(MessageKind kind, const PassPlan& pass, std::span<Real> message,
                                            Index column, MessagePlace on_device) override;
  std::unique_ptr<Transfer> start_exchange(MessageKind kind, const PassPlan& pass, const RowExchangePlan& plan,
                                           Index columns, Real* buffer, MessagePlace on_device) override;
  std::unique_ptr<HostBuffer<Real>> allocate_buffer(Line line, DeviceMemory<Real>& memory,
                                                    Index elements) const override;
  bool column_shares_memory() const override;
  void reduce_candidates(const PassPlan& pass, Index column, CandidateMessage<Real>& candidates) override;
  void send(const PassPlan& pass, Index column, int to, std::span<const Real> rows) override;
  void receive(const PassPlan& pass, Index column, int from, std::span<Real> rows) override;

 private:
  /// Null if the message is in host memory.
  PeerLine* peers_on(Line line, const MessagePlace& on_device) const;

  const ProcessGrid& grid_;
  BroadcastKind broadcast_;
  Timeline& timeline_;
  Windows windows_;
  Completion completion_;
  std::unique_ptr<CandidateReduction> reduction_;  // once a candidate has been reduced
};

}  // namespace glinpack
