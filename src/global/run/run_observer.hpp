// What happens between the passes of a run: timeline, signals, progress, log and checkpoints.
#pragma once

#include <mpi.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "lu/factorize.hpp"
#include "mpi/communication.hpp"
#include "run/run.hpp"
#include "run/state_saver.hpp"
#include "run/workspace.hpp"
#include "watch/stop_request.hpp"

namespace glinpack {

/// The number of passes between two reductions of PassAgreement, so that there is one in about `seconds`; 0: in every
/// pass. At most twice as many as were `measured`: the first pass of a run may be far shorter than the others. Pure.
inline constexpr double seconds_between_questions = 0.5;
inline Index passes_between_questions(double seconds_per_pass, Index measured,
                                      double seconds = seconds_between_questions) {
  const Index max_passes = std::min<Index>(1000, 2 * measured);
  if (!(seconds_per_pass * static_cast<double>(max_passes) > seconds)) return max_passes;
  return static_cast<Index>(seconds / seconds_per_pass);
}

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
                double seconds = seconds_between_questions)
      : communicator_(communicator),
        end_(end),
        collective_(collective),
        seconds_(seconds),
        next_question_(first + 1),
        asked_before_(first) {}
  PassAgreement(const PassAgreement&) = delete;
  PassAgreement& operator=(const PassAgreement&) = delete;
  /// Called by all ranks before every pass, in order. An answer comes on all of them before the same pass.
  std::optional<PassRequests> before(Index pass, const PassRequests& mine) {
    if (!collective_) return mine;
    if (request_ != MPI_REQUEST_NULL) return answer(pass);
    if (pass >= next_question_ && pass + 1 < end_) ask(pass, mine);
    return std::nullopt;
  }
  /// Call after the passes; all ranks have ended before the same one. Waits for the pending reduction.
  void finish() {
    if (request_ != MPI_REQUEST_NULL) wait(request_, Pending::with_all_of(communicator_));
  }
  /// After that: an earlier pass is the next one, the same on all ranks.
  void continue_from(Index pass) {
    finish();
    next_question_ = pass + 1;
    asked_before_ = pass;
    asked_at_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void ask(Index pass, const PassRequests& mine) {
    const std::chrono::duration<double> seconds = Clock::now() - asked_at_;
    measured_ = pass - asked_before_;
    const auto as_number = [](bool request) { return request ? 1.0 : 0.0; };
    maxima_ = {seconds.count() / static_cast<double>(measured_), as_number(mine.end), as_number(mine.checkpoint),
               as_number(mine.writing)};
    asked_before_ = pass;
    asked_at_ = Clock::now();
    GLINPACK_MPI(MPI_Iallreduce(MPI_IN_PLACE, maxima_.data(), static_cast<int>(maxima_.size()), MPI_DOUBLE, MPI_MAX,
                                communicator_, &request_));
  }
  PassRequests answer(Index pass) {
    wait(request_, Pending::with_all_of(communicator_));
    next_question_ = pass + passes_between_questions(maxima_[0], measured_, seconds_);
    return {.end = maxima_[1] > 0, .checkpoint = maxima_[2] > 0, .writing = maxima_[3] > 0};
  }

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
              StateSaver<Real>* saver)
      : context_(workspace.context),
        timeline_(context_.timeline()),
        progress_(context_.grid.is_root() ? progress : ProgressObserver{}),
        first_(passes.first),
        saver_(saver),
        agreement_(workspace.grid.all(), passes.first, passes.end, context_.parameters.parts != RunParts::compute,
                   saver == nullptr ? seconds_between_questions
                                    : std::min(seconds_between_questions, saver->seconds_between())) {
    if (progress_) progress_(0);
  }

  NextPass before(const PassPlan& pass) override {
    timeline_.enter_pass(pass.pass, pass.role);
    begun_ = timeline_.now();
    PassRequests mine{.end = stop_signal() != 0};
    if (saver_ != nullptr) {
      mine.checkpoint = saver_->is_due();
      mine.writing = saver_->is_writing();
    }
    const std::optional<PassRequests> agreed = agreement_.before(pass.pass, mine);
    return agreed ? next_pass(*agreed) : NextPass::run;
  }
  void after(const PassPlan& pass) override {
    if (spdlog::should_log(spdlog::level::trace)) trace(pass);
    if (!progress_) return;
    // the 2/3 m^3 operations for the m columns of the passes to run
    const Index n = context_.distribution.n, nb = context_.distribution.nb;
    const double left = static_cast<double>(n - pass.pass * nb - pass.width) / static_cast<double>(n - first_ * nb);
    progress_(1.0 - left * left * left);
  }
  bool save(const PassPlan& pass, const Interchanges& so_far) override {
    if (saver_ == nullptr) return !ends_after_save_;
    saver_->save(pass.pass + 1, so_far);
    if (ends_after_save_) saver_->commit();
    return !ends_after_save_;
  }
  /// After a mismatch of checksums has ended the passes: they continue from this one.
  void roll_back(Index pass) { agreement_.continue_from(pass); }
  /// After the passes. A pending checkpoint is not needed any more, and nothing waits for it.
  void finish() {
    agreement_.finish();
    if (saver_ != nullptr) saver_->abandon();
    timeline_.leave_passes();
  }

 private:
  // The same on all ranks: a checkpoint is pending on all of them or on none.
  NextPass next_pass(const PassRequests& agreed) {
    if (saver_ == nullptr) return agreed.end ? NextPass::none : NextPass::run;
    if (!agreed.writing) saver_->commit();
    ends_after_save_ = agreed.end;
    return agreed.end || (agreed.checkpoint && !saver_->is_pending()) ? NextPass::run_and_save : NextPass::run;
  }
  // With look-ahead, the time includes the next panel. A device may still compute.
  void trace(const PassPlan& pass) const {
    const Distribution& distribution = context_.distribution;
    const auto pieces = pieces_of(pass.trailing_columns, distribution.nb, context_.parameters.row_swap.pieces);
    spdlog::trace("pass {} of {}: {}, panel {} x {}, trailing matrix {} x {} in {} pieces, {:.3f} ms from {:.6f} s",
                  pass.pass, distribution.passes(), name_of(pass.role), pass.in_pivot_column ? pass.panel_rows : 0,
                  pass.width, pass.trailing_rows, pass.trailing_columns, pieces.size(),
                  1e3 * (timeline_.now() - begun_), begun_);
  }

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
