// The messages of a pass, as one rank sends and receives them. All steps send through this class: it alone knows which
// communicator, broadcast and tag a message takes, it records every message on the timeline, and it can leave them all
// out.
#pragma once

#include <memory>

#include "global/candidate_reduction.hpp"
#include "global/communication.hpp"
#include "global/node_broadcast.hpp"
#include "global/node_windows.hpp"
#include "global/process_grid.hpp"
#include "global/schedule.hpp"
#include "global/tags.hpp"
#include "global/tournament_tree.hpp"
#include "global/transfers_under_way.hpp"

namespace glinpack {

/// Along a process row, where L travels, or down a process column.
enum class Line { row, column };

/// A broadcast that goes on while its ranks compute. On the timeline from its start until it is seen to have arrived,
/// on its root until all is sent; waiting for what is sent on is an interval of its own.
class BroadcastUnderWay {
 public:
  /// `bytes` that this rank receives by it in `messages` messages; the rest as NodeBroadcast takes it.
  BroadcastUnderWay(Timeline& timeline, Phase phase, Index bytes, std::int32_t messages, MPI_Comm communicator,
                    BroadcastKind kind, int root, void* data, Index count, MPI_Datatype type, int tag,
                    NodeWindow* window)
      : timeline_(timeline),
        phase_(phase),
        receives_(messages > 0),
        scope_(new Timeline::Scope(timeline.scope(Lane::net, phase, bytes, 0, messages))),
        broadcast_(communicator, kind, root, data, count, type, tag, window) {
    test();  // may be all done
  }

  /// True once all is done.
  bool test() {
    if (!done_) done_ = broadcast_.test();
    if (done_ || (receives_ && broadcast_.arrived())) scope_.reset();
    return done_;
  }
  /// Until the data may be read here; they must not change before wait().
  void wait_until_arrived() {
    timeline_.resume(phase_);
    broadcast_.wait_until_arrived();
    if (receives_) scope_.reset();
  }
  void wait() {
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
  NodeBroadcast broadcast_;
};

/// Every call is collective over the line that it names. Bytes and messages are counted where they are received; an
/// all-reduce is one message for each rank. A line of one rank has no messages.
class PassMessages {
 public:
  /// `left_out`: nothing is sent and nothing recorded; buffers stay as they are, and who would have received goes on
  /// with stand-ins (stand_ins.hpp). `windows`: for the broadcasts that they are large enough for; may be null. Grid
  /// and windows must outlive it. Not collective.
  PassMessages(const ProcessGrid& grid, BroadcastKind kind, Timeline& timeline, bool left_out,
               NodeWindows* windows = nullptr)
      : grid_(grid), kind_(kind), timeline_(timeline), left_out_(left_out), windows_(windows) {}

  bool left_out() const { return left_out_; }

  /// P, L11, L21 from the pivot's process column along every process row.
  template <class Real>
  void panel_row(const PassPlan& plan, Real* message, Index elements) const {
    along_row(Phase::broadcast_l, plan.pivot.column, message, elements, tags::panel_row);
  }
  /// The same, started only; null where nothing is sent.
  template <class Real>
  std::unique_ptr<BroadcastUnderWay> start_panel_row(const PassPlan& plan, Real* message, Index elements) const {
    return start(Line::row, kind_, Phase::broadcast_l, plan.pivot.column, message, elements, tags::panel_row);
  }
  /// U11 from the pivot down its process column (local pivoting).
  template <class Real>
  void u11_column(const PassPlan& plan, Real* u11, Index elements) const {
    broadcast(Line::column, BroadcastKind::ring, Phase::broadcast_u, plan.pivot.row, u11, elements, tags::u11_column);
  }
  /// U12 from the pivot's process row down every process column.
  template <class Real>
  void u12_column(const PassPlan& plan, Real* u12, Index elements) const {
    down_column(Phase::broadcast_u, plan.pivot.row, u12, elements, tags::u12_column);
  }
  /// The pivot of one column of the panel, over the pivot's process column (partial pivoting).
  template <class Real>
  void candidates(CandidateReduction<Real>& reduction) const {
    if (left_out_ || size(Line::column) == 1) return;
    const auto scope = timeline_.scope(Lane::net, Phase::panel, reduction.message_bytes(), 0, 1);
    reduction.run(grid_.column());
  }
  /// Candidates from one rank of the pivot's process column to another, which has `elements` of them to receive
  /// (tournament pivoting). Collective over these two.
  template <class Real>
  void tournament_match(const TournamentMatch& match, Real* candidates, Index elements) const {
    if (left_out_) return;
    const bool receives = place(Line::column) == match.to;
    const Index bytes = receives ? elements * Index{sizeof(Real)} : 0;
    const auto scope = timeline_.scope(Lane::net, Phase::panel, bytes, 0, receives ? 1 : 0);
    MPI_Request request = MPI_REQUEST_NULL;
    if (receives) {
      GLINPACK_MPI(MPI_Irecv(candidates, message_count(elements), mpi_type<Real>(), match.from, tags::tournament,
                             grid_.column(), &request));
    } else {
      GLINPACK_MPI(MPI_Isend(candidates, message_count(elements), mpi_type<Real>(), match.to, tags::tournament,
                             grid_.column(), &request));
    }
    wait(request, receives ? Pending::from(grid_.column(), match.from) : Pending::to(grid_.column(), match.to));
  }
  /// The outcome from the pivot down its process column (tournament pivoting): as small as U11, and waited for at once.
  template <class Real>
  void winners_column(const PassPlan& plan, Real* outcome, Index elements) const {
    broadcast(Line::column, BroadcastKind::ibcast, Phase::broadcast_u, plan.pivot.row, outcome, elements,
              tags::winners);
  }
  /// Rows of `columns` elements between the ranks of a process column, as the plan says, started only; null where
  /// nothing is sent. `buffer` is the plan's.
  template <class Real>
  std::unique_ptr<TransfersUnderWay> start_rows(const RowExchangePlan& plan, Index columns, Real* buffer) const {
    if (left_out_ || plan.rounds.empty() || columns == 0) return nullptr;
    return std::make_unique<TransfersUnderWay>(timeline_, plan, columns, buffer, mpi_type<Real>(), grid_.column(),
                                               tags::row_exchange);
  }

  /// For steps with broadcasts of other extents: from the rank in process column (or row) `root`, by the run's kind of
  /// broadcast. Tags: those of tags.hpp.
  template <class Real>
  void along_row(Phase phase, int root, Real* data, Index elements, int tag) const {
    broadcast(Line::row, kind_, phase, root, data, elements, tag);
  }
  template <class Real>
  void down_column(Phase phase, int root, Real* data, Index elements, int tag) const {
    broadcast(Line::column, kind_, phase, root, data, elements, tag);
  }

 private:
  int size(Line line) const { return line == Line::row ? grid_.shape().columns : grid_.shape().rows; }
  int place(Line line) const { return line == Line::row ? grid_.position().column : grid_.position().row; }

  template <class Real>
  std::unique_ptr<BroadcastUnderWay> start(Line line, BroadcastKind kind, Phase phase, int root, Real* data,
                                           Index elements, int tag) const {
    if (left_out_ || size(line) == 1) return nullptr;
    const bool receives = place(line) != root;
    const Index bytes = receives ? elements * Index{sizeof(Real)} : 0;
    MPI_Comm communicator = line == Line::row ? grid_.row() : grid_.column();
    return std::make_unique<BroadcastUnderWay>(timeline_, phase, bytes, receives ? 1 : 0, communicator, kind, root,
                                               data, elements, mpi_type<Real>(), tag,
                                               window_for(line, kind, elements * Index{sizeof(Real)}));
  }
  template <class Real>
  void broadcast(Line line, BroadcastKind kind, Phase phase, int root, Real* data, Index elements, int tag) const {
    if (const auto under_way = start(line, kind, phase, root, data, elements, tag)) under_way->wait();
  }

  // None for MPI's own broadcast, which is collective over all ranks of the line and not over the nodes' leaders alone.
  NodeWindow* window_for(Line line, BroadcastKind kind, Index bytes) const {
    if (windows_ == nullptr || kind == BroadcastKind::ibcast) return nullptr;
    NodeWindow* const window = line == Line::row ? windows_->row() : windows_->column();
    return window != nullptr && static_cast<std::size_t>(bytes) <= window->largest() ? window : nullptr;
  }

  const ProcessGrid& grid_;
  BroadcastKind kind_;
  Timeline& timeline_;
  bool left_out_;
  NodeWindows* windows_;
};

}  // namespace glinpack
