#include "run/run_observer.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "mpi/communication.hpp"

namespace glinpack {

namespace {

// To one checkpoint. Every later one is progress.
constexpr int max_rollbacks = 3;

}  // namespace

StateSaver::StateSaver(const CheckpointPlan& plan, CheckpointHeader header, const ProcessGrid& grid, Timeline& timeline,
                       CheckpointCopy* copy)
    : plan_(plan),
      header_(std::move(header)),
      earlier_seconds_(header_.seconds),
      communicator_(grid.all()),
      timeline_(timeline),
      in_background_(copy != nullptr),
      checkpoints_(grid.all(), plan, timeline, copy) {
  if (plan.resume) good_ = Good{.file = plan.resume->file};
}

bool StateSaver::is_due() const {
  const std::chrono::duration<double> since = Clock::now() - last_;
  return !is_pending() && (checkpoint_requested() || since.count() >= plan_.every);
}

void StateSaver::commit() {
  const double begun = timeline_.now();
  const int before = checkpoints_.completed();
  checkpoints_.commit();
  if (checkpoints_.completed() > before) good_ = Good{.file = checkpoints_.last_file(header_.at), .left_at = saved_at_};
  waited_ += timeline_.now() - begun;
}

void StateSaver::save(Index passes, const Interchanges& so_far) {
  commit();  // the one before may be pending if a signal ends the run
  const double begun = timeline_.now();
  header_.pass = passes;
  header_.pivots = static_cast<Index>(so_far.pivots.size());
  header_.seconds = earlier_seconds_ + timeline_.now();
  header_.seconds = all_reduced(communicator_, header_.seconds, Reduction::max);
  checkpoints_.begin(header_, so_far.pivots);
  add_matrix(checkpoints_);
  checkpoints_.end();
  waited_ += timeline_.now() - begun;
  forget_checkpoint_request();
  last_ = Clock::now();
  saved_at_ = timeline_.now();
}

bool StateSaver::can_roll_back() {
  commit();
  return good_ && good_->returns < max_rollbacks;
}

LoadedState StateSaver::roll_back() {
  ++good_->returns;
  LoadedState state;
  std::string error;
  try {
    state = load(good_->file);
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  agree_or_throw(communicator_, error);
  seconds_lost_ = timeline_.now() - std::exchange(good_->left_at, timeline_.now());
  return state;
}

std::optional<Saved> StateSaver::saved() {
  if (checkpoints_.completed() + checkpoints_.failed() == 0) return std::nullopt;
  checkpoints_.keeps_last(header_.at);
  double most[2] = {waited_, checkpoints_.seconds_of_disk()};
  communicator_.all_reduce(most, Reduction::max);
  return Saved{.checkpoints = checkpoints_.completed(),
               .failed = checkpoints_.failed(),
               .passes = checkpoints_.last().value_or(0),
               .in_background = in_background_,
               .waited = most[0],
               .disk = most[1]};
}

RunObserver::RunObserver(const ObservedRun& run, PassRange passes, StateSaver* saver)
    : n_(run.distribution.n),
      nb_(run.distribution.nb),
      first_(passes.first),
      passes_(run.distribution.passes()),
      pieces_(run.parameters.row_swap.pieces),
      saver_(saver),
      agreement_(
          run.grid.all(), passes.first, passes.end, run.parameters.parts != RunParts::compute,
          saver == nullptr ? seconds_between_questions : std::min(seconds_between_questions, saver->seconds_between())),
      timeline_(run.timeline),
      is_root_(run.grid.is_root()),
      progress_(run.grid.is_root() ? run.progress : ProgressObserver{}) {
  if (progress_) progress_(0);
}

NextPass RunObserver::before(const PassPlan& pass) {
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
NextPass RunObserver::next_pass(const PassRequests& agreed) {
  if (saver_ == nullptr) return agreed.end ? NextPass::none : NextPass::run;
  if (!agreed.writing) saver_->commit();
  ends_after_save_ = agreed.end;
  return agreed.end || (agreed.checkpoint && !saver_->is_pending()) ? NextPass::run_and_save : NextPass::run;
}

void RunObserver::after(const PassPlan& pass) {
  if (spdlog::should_log(spdlog::level::trace)) trace(pass);
  if (!progress_) return;
  // of the 2/3 m^3 operations for the m columns of the passes to run
  const double left = static_cast<double>(n_ - pass.pass * nb_ - pass.width) / static_cast<double>(n_ - first_ * nb_);
  progress_(1.0 - left * left * left);
}

bool RunObserver::continues_after_mismatch() {
  if (saver_ != nullptr && saver_->can_roll_back()) return false;
  if (saver_ != nullptr && is_root_) spdlog::warn("a check of checksums has failed: no more checkpoints are written");
  saver_ = nullptr;
  return false;
}

bool RunObserver::save(const PassPlan& pass, const Interchanges& so_far) {
  if (saver_ == nullptr) return !ends_after_save_;
  saver_->save(pass.pass + 1, so_far);
  if (ends_after_save_) saver_->commit();
  return !ends_after_save_;
}

void RunObserver::finish() {
  agreement_.finish();
  if (saver_ != nullptr) saver_->abandon();
  timeline_.leave_passes();
}

// With look-ahead, the time includes the next panel. A device may still compute.
void RunObserver::trace(const PassPlan& pass) const {
  const double now = timeline_.now();
  spdlog::trace("pass {} of {}: {}, panel {} x {}, trailing matrix {} x {} in {} pieces, {:.3f} ms from {:.6f} s",
                pass.pass, passes_, name_of(pass.role), pass.in_pivot_column ? pass.panel_rows : 0, pass.width,
                pass.trailing_rows, pass.trailing_columns, pieces_of(pass.trailing_columns, nb_, pieces_).size(),
                1e3 * (now - begun_), begun_);
}

}  // namespace glinpack
