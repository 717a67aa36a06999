// The state of a factorisation in checkpoints: saved between two passes, loaded to resume a run or after a failed
// check.
#pragma once

#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "checkpoint/checkpoints.hpp"
#include "run/run.hpp"
#include "run/workspace.hpp"
#include "watch/stop_request.hpp"

namespace glinpack {

/// The state of a factorisation, read from a checkpoint.
struct LoadedState {
  Index passes = 0;  // done
  Interchanges so_far;
};

/// The header of a checkpoint of this rank, without the state: of which run, pass and time.
template <class Real>
CheckpointHeader checkpoint_header(const RunParameters& parameters, const Grid& grid, const CheckpointOptions& options);

/// The state of the matrix and of its checks, which a checkpoint has. Throws CheckpointError.
template <class Real>
LoadedState load_checkpoint(Workspace<Real>& workspace, const std::string& file);

inline std::span<std::byte> bytes_of_strip(const auto& strip) {
  return std::as_writable_bytes(std::span(strip.view().data, static_cast<std::size_t>(strip.rows * strip.columns)));
}

/// Saves the matrix and the state of its checks, and loads what it has saved after a failed check.
template <class Real>
class StateSaver {
 public:
  /// `earlier_seconds`: of the run before the checkpoint that it resumes. Plan and workspace must outlive it.
  StateSaver(const CheckpointPlan& plan, double earlier_seconds, Workspace<Real>& workspace)
      : plan_(plan),
        workspace_(workspace),
        communicator_(workspace.grid.all()),
        timeline_(workspace.context.timeline()),
        header_(checkpoint_header<Real>(workspace.context.parameters, workspace.grid, plan.options)),
        earlier_seconds_(earlier_seconds),
        checkpoints_(communicator_, plan, timeline_, workspace.checkpoint_copy.get()) {
    if (plan.resume) good_ = Good{.file = plan.resume->file};
  }
  StateSaver(const StateSaver&) = delete;
  StateSaver& operator=(const StateSaver&) = delete;

  /// Whether --checkpoint-every or SIGUSR1 asks for a checkpoint, and none is being written.
  bool is_due() const {
    const std::chrono::duration<double> since = Clock::now() - last_;
    return !is_pending() && (checkpoint_requested() || since.count() >= plan_.every);
  }
  bool is_pending() const { return checkpoints_.is_pending(); }
  bool is_writing() const { return checkpoints_.is_writing(); }
  double seconds_between() const { return plan_.every; }
  /// Collective over the grid, as Checkpoints::commit() is.
  void commit() {
    const double begun = timeline_.now();
    const int before = checkpoints_.completed();
    checkpoints_.commit();
    if (checkpoints_.completed() > before)
      good_ = Good{.file = checkpoints_.last_file(header_.at), .left_at = saved_at_};
    waited_ += timeline_.now() - begun;
  }
  /// The state after `passes` passes. Collective over the grid.
  void save(Index passes, const Interchanges& so_far) {
    commit();  // the one before may be pending if a signal ends the run
    const double begun = timeline_.now();
    header_.pass = passes;
    header_.pivots = static_cast<Index>(so_far.pivots.size());
    header_.seconds = all_reduced(communicator_, earlier_seconds_ + timeline_.now(), Reduction::max);
    checkpoints_.begin(header_, so_far.pivots);
    add_matrix();
    checkpoints_.end();
    waited_ += timeline_.now() - begun;
    forget_checkpoint_request();
    last_ = Clock::now();
    saved_at_ = timeline_.now();
  }
  void abandon() { checkpoints_.abandon(); }
  /// With the times of the slowest ranks. Collective over the grid.
  std::optional<Saved> saved() {
    if (checkpoints_.completed() + checkpoints_.failed() == 0) return std::nullopt;
    checkpoints_.keeps_last(header_.at);
    double slowest[2] = {waited_, checkpoints_.seconds_of_disk()};
    communicator_.all_reduce(slowest, Reduction::max);
    return Saved{.checkpoints = checkpoints_.completed(),
                 .failed = checkpoints_.failed(),
                 .passes = checkpoints_.last().value_or(0),
                 .in_background = workspace_.checkpoint_copy != nullptr,
                 .waited = slowest[0],
                 .disk = slowest[1]};
  }

  /// Whether there is a checkpoint, and none of its passes has failed too often. Completes a pending one. Collective
  /// over the grid, with the same result.
  bool can_roll_back() {
    commit();
    return good_ && good_->returns < max_rollbacks;
  }
  /// Loads it and adds a Rollback to the record. Nothing if a rank cannot read its file, which the record then says;
  /// the matrix is lost. Collective over the grid.
  std::optional<LoadedState> roll_back(ChecksumRecord& record) {
    Rollback back = worst_mismatch(workspace_.grid, workspace_.checksums->mismatches());
    ++good_->returns;
    LoadedState state;
    try {
      state = make_collectively(communicator_, [&] {
        workspace_.context.backend.wait_all();
        return load_checkpoint(workspace_, good_->file);
      });
    } catch (const AgreedError& agreed) {
      record.stopped_by = std::string("a checkpoint that cannot be read: ") + agreed.what();
      return std::nullopt;
    }
    back.to = state.passes;
    back.seconds = timeline_.now() - std::exchange(good_->left_at, timeline_.now());
    back.seconds = all_reduced(communicator_, back.seconds, Reduction::max);
    if (workspace_.grid.is_root()) {
      spdlog::warn("a check of checksums has failed after {} passes: the run rolled back to the checkpoint after {}",
                   back.from, back.to);
    }
    record.rollbacks.push_back(back);
    workspace_.checksums->forget_mismatches();
    return state;
  }

 private:
  // To one checkpoint. Every later one is progress.
  static constexpr int max_rollbacks = 3;

  using Clock = std::chrono::steady_clock;
  /// What the run may go back to.
  struct Good {
    std::string file;
    double left_at = 0;  // seconds of the timeline
    int returns = 0;
  };
  void add_matrix() {
    DeviceMemory<Real>& memory = workspace_.context.backend;
    workspace_.for_each_strip([&](const DeviceBlock<Real>& strip, const HostBlock<Real>& on_host, Index /*first*/) {
      memory.wait(memory.download(strip, on_host));
      checkpoints_.add(bytes_of_strip(on_host));
    });
    if (workspace_.checksums) checkpoints_.add(workspace_.checksums->state());
  }

  const CheckpointPlan& plan_;
  Workspace<Real>& workspace_;
  const Communicator& communicator_;
  Timeline& timeline_;
  CheckpointHeader header_;
  double earlier_seconds_;
  Checkpoints checkpoints_;
  Clock::time_point last_ = Clock::now();
  double saved_at_ = 0;  // seconds of the timeline
  std::optional<Good> good_;
  double waited_ = 0;  // seconds
};

}  // namespace glinpack
