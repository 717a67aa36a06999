#include "run/run_observer.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "mpi/communication.hpp"
#include "watch/stop_request.hpp"

namespace glinpack {

Index passes_between_questions(double seconds_per_pass, Index measured, double seconds) {
  const Index max_passes = std::min<Index>(1000, 2 * measured);
  if (!(seconds_per_pass * static_cast<double>(max_passes) > seconds)) return max_passes;
  return static_cast<Index>(seconds / seconds_per_pass);
}

PassAgreement::PassAgreement(MPI_Comm communicator, Index first, Index end, bool collective, double seconds)
    : communicator_(communicator),
      end_(end),
      collective_(collective),
      seconds_(seconds),
      next_question_(first + 1),
      asked_before_(first) {}

void PassAgreement::finish() {
  if (request_ != MPI_REQUEST_NULL) wait(request_, Pending::with_all_of(communicator_));
}

void PassAgreement::continue_from(Index pass) {
  finish();
  next_question_ = pass + 1;
  asked_before_ = pass;
  asked_at_ = Clock::now();
}

std::optional<PassRequests> PassAgreement::before(Index pass, const PassRequests& mine) {
  if (!collective_) return mine;
  if (request_ != MPI_REQUEST_NULL) return answer(pass);
  if (pass >= next_question_ && pass + 1 < end_) ask(pass, mine);
  return std::nullopt;
}

void PassAgreement::ask(Index pass, const PassRequests& mine) {
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

PassRequests PassAgreement::answer(Index pass) {
  wait(request_, Pending::with_all_of(communicator_));
  next_question_ = pass + passes_between_questions(maxima_[0], measured_, seconds_);
  return {.end = maxima_[1] > 0, .checkpoint = maxima_[2] > 0, .writing = maxima_[3] > 0};
}

template <class Real>
RunObserver<Real>::RunObserver(const LuWorkspace<Real>& workspace, const ProgressObserver& progress, PassRange passes,
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

template <class Real>
NextPass RunObserver<Real>::before(const PassPlan& pass) {
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

// The same on all ranks: a checkpoint is pending on all of them or on none.
template <class Real>
NextPass RunObserver<Real>::next_pass(const PassRequests& agreed) {
  if (saver_ == nullptr) return agreed.end ? NextPass::none : NextPass::run;
  if (!agreed.writing) saver_->commit();
  ends_after_save_ = agreed.end;
  return agreed.end || (agreed.checkpoint && !saver_->is_pending()) ? NextPass::run_and_save : NextPass::run;
}

template <class Real>
void RunObserver<Real>::after(const PassPlan& pass) {
  if (spdlog::should_log(spdlog::level::trace)) trace(pass);
  if (!progress_) return;
  // the 2/3 m^3 operations for the m columns of the passes to run
  const Index n = context_.distribution.n, nb = context_.distribution.nb;
  const double left = static_cast<double>(n - pass.pass * nb - pass.width) / static_cast<double>(n - first_ * nb);
  progress_(1.0 - left * left * left);
}

template <class Real>
bool RunObserver<Real>::save(const PassPlan& pass, const Interchanges& so_far) {
  if (saver_ == nullptr) return !ends_after_save_;
  saver_->save(pass.pass + 1, so_far);
  if (ends_after_save_) saver_->commit();
  return !ends_after_save_;
}

template <class Real>
void RunObserver<Real>::finish() {
  agreement_.finish();
  if (saver_ != nullptr) saver_->abandon();
  timeline_.leave_passes();
}

// With look-ahead, the time includes the next panel. A device may still compute.
template <class Real>
void RunObserver<Real>::trace(const PassPlan& pass) const {
  const Distribution& distribution = context_.distribution;
  const auto pieces = pieces_of(pass.trailing_columns, distribution.nb, context_.parameters.row_swap.pieces);
  spdlog::trace("pass {} of {}: {}, panel {} x {}, trailing matrix {} x {} in {} pieces, {:.3f} ms from {:.6f} s",
                pass.pass, distribution.passes(), name_of(pass.role), pass.in_pivot_column ? pass.panel_rows : 0,
                pass.width, pass.trailing_rows, pass.trailing_columns, pieces.size(), 1e3 * (timeline_.now() - begun_),
                begun_);
}

template class RunObserver<float>;
template class RunObserver<double>;

}  // namespace glinpack
