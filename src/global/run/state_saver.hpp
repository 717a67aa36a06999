// The state of a factorisation in checkpoints: saved between two passes, loaded to resume a run or after a failed
// check.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "checkpoint/checkpoints.hpp"
#include "run/run.hpp"
#include "run/workspace.hpp"

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

/// Saves the matrix and the state of its checks, and loads what it has saved after a failed check.
template <class Real>
class StateSaver {
 public:
  /// `earlier_seconds`: of the run before the checkpoint that it resumes. Plan and workspace must outlive it.
  StateSaver(const CheckpointPlan& plan, double earlier_seconds, Workspace<Real>& workspace);
  StateSaver(const StateSaver&) = delete;
  StateSaver& operator=(const StateSaver&) = delete;

  /// Whether --checkpoint-every or SIGUSR1 asks for a checkpoint, and none is being written.
  bool is_due() const;
  bool is_pending() const { return checkpoints_.is_pending(); }
  bool is_writing() const { return checkpoints_.is_writing(); }
  double seconds_between() const { return plan_.every; }
  /// Collective over the grid, as Checkpoints::commit() is.
  void commit();
  /// The state after `passes` passes. Collective over the grid.
  void save(Index passes, const Interchanges& so_far);
  void abandon() { checkpoints_.abandon(); }
  /// With the times of the slowest ranks. Collective over the grid.
  std::optional<Saved> saved();

  /// Whether there is a checkpoint, and none of its passes has failed too often. Completes a pending one. Collective
  /// over the grid, with the same result.
  bool can_roll_back();
  /// Loads it and adds a Rollback to the record. Nothing if a rank cannot read its file, which the record then says;
  /// the matrix is lost. Collective over the grid.
  std::optional<LoadedState> roll_back(ChecksumRecord& record);

 private:
  using Clock = std::chrono::steady_clock;
  /// What the run may go back to.
  struct Good {
    std::string file;
    double left_at = 0;  // seconds of the timeline
    int returns = 0;
  };
  void add_matrix();

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
