// What happens between the passes of a run: timeline, signals, progress, log and checkpoints.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <optional>

#include "lu/factorize.hpp"
#include "run/run.hpp"
#include "run/state_saver.hpp"
#include "run/workspace.hpp"

namespace glinpack {

/// The number of passes between two reductions of PassAgreement, so that there is one in about `seconds`; 0: in every
/// pass. At most twice as many as were `measured`: the first pass of a run may be far shorter than the others. Pure.
inline constexpr double seconds_between_questions = 0.5;
Index passes_between_questions(double seconds_per_pass, Index measured, double seconds = seconds_between_questions);

/// What a rank requests; as an answer, what any rank has requested.
struct PassRequests {
  bool end = false;         // a signal has requested the end
  bool checkpoint = false;  // one is due
  bool writing = false;     // the last checkpoint is not on the disk yet
};

/// The agreement of a communicator's ranks on what they do before the same pass. From time to time they start a
/// non-blocking reduction, whose result they have a pass later.
class PassAgreement {
 public:
  /// For passes first ... end - 1. `collective`: the same on every rank; false if ranks send no messages: each does
  /// what it requests itself. `seconds`: between reductions.
  PassAgreement(MPI_Comm communicator, Index first, Index end, bool collective,
                double seconds = seconds_between_questions);
  PassAgreement(const PassAgreement&) = delete;
  PassAgreement& operator=(const PassAgreement&) = delete;
  /// Called by all ranks before every pass, in order. An answer comes on all of them before the same pass.
  std::optional<PassRequests> before(Index pass, const PassRequests& mine);
  /// Call after the passes; all ranks have ended before the same one. Waits for the pending reduction.
  void finish();
  /// After that: an earlier pass is the next one, the same on all ranks.
  void continue_from(Index pass);

 private:
  using Clock = std::chrono::steady_clock;

  void ask(Index pass, const PassRequests& mine);
  PassRequests answer(Index pass);

  MPI_Comm communicator_;
  Index end_;
  bool collective_;
  double seconds_;
  Index next_question_;
  Index asked_before_;  // the pass of the last reduction
  Index measured_ = 0;  // passes before it, since the one before
  Clock::time_point asked_at_ = Clock::now();
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::array<double, 4> maxima_{};  // over the ranks: seconds per pass; 1 for each request
};

template <class Real>
class RunObserver final : public PassObserver {
 public:
  /// `saver` may be null. Without messages, ranks finish the passes independently and cannot agree on an earlier end.
  RunObserver(const LuWorkspace<Real>& workspace, const ProgressObserver& progress, PassRange passes,
              StateSaver<Real>* saver);

  NextPass before(const PassPlan& pass) override;
  void after(const PassPlan& pass) override;
  bool save(const PassPlan& pass, const Interchanges& so_far) override;
  /// After a mismatch of checksums has ended the passes: they continue from this one.
  void roll_back(Index pass) { agreement_.continue_from(pass); }
  /// After the passes. A pending checkpoint is not needed any more, and nothing waits for it.
  void finish();

 private:
  NextPass next_pass(const PassRequests& agreed);
  void trace(const PassPlan& pass) const;

  const RankContext<Real>& context_;
  Timeline& timeline_;
  ProgressObserver progress_;  // empty on other ranks than the root
  Index first_;                // pass of this run
  StateSaver<Real>* saver_;    // null: saves nothing
  PassAgreement agreement_;
  double begun_ = 0;  // when the pass began, on the timeline
  bool ends_after_save_ = false;
};

}  // namespace glinpack
