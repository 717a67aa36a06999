// What happens between the passes of a run: timeline, signals, progress, log and checkpoints.
#pragma once

#include <chrono>
#include <optional>

#include "checkpoint/checkpoints.hpp"
#include "lu/factorize.hpp"
#include "run/run.hpp"
#include "watch/stop_request.hpp"

namespace glinpack {

/// The state of a factorisation, read from a checkpoint.
struct LoadedState {
  Index passes = 0;  // done
  Interchanges so_far;
};

/// Writes the state of a factorisation, and goes back to what it has written after a failed check. All arguments must
/// outlive it.
class StateSaver {
 public:
  /// `header`: of this rank's file, with the seconds of earlier runs. `copy`: null, or memory to write from.
  StateSaver(const CheckpointPlan& plan, CheckpointHeader header, const ProcessGrid& grid, Timeline& timeline,
             CheckpointCopy* copy);
  StateSaver(const StateSaver&) = delete;
  StateSaver& operator=(const StateSaver&) = delete;
  virtual ~StateSaver() = default;

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
  /// Loads it. Throws AgreedError on all ranks if one of them cannot read its file; the matrix is lost then.
  /// Collective.
  LoadedState roll_back();
  /// The time of the lost work since the checkpoint, and of roll_back(), on this rank.
  double seconds_lost() const { return seconds_lost_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// What the run may go back to.
  struct Good {
    std::string file;
    double left_at = 0;  // seconds of the timeline
    int returns = 0;
  };
  /// The local matrix, piece by piece, and the state of its checks.
  virtual void add_matrix(Checkpoints& checkpoints) = 0;
  virtual LoadedState load(const std::string& file) = 0;

  const CheckpointPlan& plan_;
  CheckpointHeader header_;
  double earlier_seconds_;
  const Communicator& communicator_;
  Timeline& timeline_;
  bool in_background_;
  Checkpoints checkpoints_;
  Clock::time_point last_ = Clock::now();
  double saved_at_ = 0;  // seconds of the timeline
  std::optional<Good> good_;
  double seconds_lost_ = 0;
  double waited_ = 0;  // seconds
};

struct ObservedRun {
  const RunParameters& parameters;
  const Distribution& distribution;
  const ProcessGrid& grid;
  Timeline& timeline;
  const ProgressObserver& progress;
};

class RunObserver final : public PassObserver {
 public:
  /// `saver` may be null. Without messages, ranks finish the passes independently and cannot agree on an earlier end.
  RunObserver(const ObservedRun& run, PassRange passes, StateSaver* saver);

  NextPass before(const PassPlan& pass) override;
  void after(const PassPlan& pass) override;
  bool save(const PassPlan& pass, const Interchanges& so_far) override;
  bool continues_after_mismatch() override;
  /// After continues_after_mismatch() has ended the passes: they go on from this one.
  void roll_back(Index pass) { agreement_.continue_from(pass); }
  /// After the passes. A pending checkpoint is not needed any more, and nothing waits for it.
  void finish();

 private:
  NextPass next_pass(const PassRequests& agreed);
  void trace(const PassPlan& pass) const;

  Index n_;
  Index nb_;
  Index first_;  // pass of this run
  Index passes_;
  Index pieces_;
  double begun_ = 0;   // when the pass began, on the timeline
  StateSaver* saver_;  // null: saves nothing; or nothing more, after a mismatch
  bool ends_after_save_ = false;
  PassAgreement agreement_;
  Timeline& timeline_;
  bool is_root_;
  ProgressObserver progress_;
};

}  // namespace glinpack
