// The checkpoints of a run in a folder. A generation is the state of all ranks after 120 passes, for example:
//
//   DIR/pass-120-5f3a01c2/row0-column1
//
// Its folder has the number of passes and a random number of the program's start, so that files of two starts never
// count as one generation. Files are written into pass-120-5f3a01c2.part. When the disks of all ranks have theirs, the
// folder gets its name: the generation is complete, and then those before are removed. One that is removed first loses
// its name. So there is a complete generation at any moment after the first one.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/timeline.hpp"
#include "checkpoint/checkpoint_file.hpp"
#include "transport/communicator.hpp"

namespace glinpack {

/// A rank's file of the generation that a run resumes from.
struct ResumePoint {
  std::string file;
  CheckpointHeader header;
};

/// What a run saves, and where it resumes.
struct CheckpointPlan {
  std::string folder;                                      // empty: nothing is saved
  double every = std::numeric_limits<double>::infinity();  // seconds
  std::string run;                                         // new_run_identity()
  CheckpointOptions options;
  std::optional<ResumePoint> resume;
};

/// Eight random hexadecimal digits of rank 0. Collective.
std::string new_run_identity(const Communicator& communicator);

/// Whether a run has begun to write checkpoints there. Throws CheckpointError if the folder cannot be read.
bool has_checkpoints(const std::string& folder);
/// The options of the newest checkpoint of which a file can be read; empty if there is none. Throws CheckpointError if
/// the folder cannot be read. Not collective.
CheckpointOptions options_in(const std::string& folder);

/// Makes the folder if it is missing. Throws CheckpointError if it has a checkpoint, or if it cannot be written. Not
/// collective.
void prepare_checkpoint_folder(const std::string& folder);
/// Removes what a run left that ended while it wrote or removed a checkpoint. Not collective.
void remove_incomplete_checkpoints(const std::string& folder);

/// The newest complete generation. `mine`: the header of a file that would fit this rank, of
/// which run, pass, seconds and pivots are not read. Verifies all checksums. Throws CheckpointError with the same
/// message on every rank if there is none, if it does not fit, or if it is damaged; the message then names an older one
/// that is whole. Collective over the grid's communicator.
ResumePoint choose_checkpoint(const Communicator& communicator, const std::string& folder, const CheckpointHeader& mine,
                              const Distribution& distribution);

/// Removes all generations, each rank its files, while none writes. If the program is killed meanwhile, no complete
/// generation is left of which some ranks have no file. Collective over the grid's communicator.
void remove_checkpoints(const Communicator& communicator, const std::string& folder, GridPosition at);

/// Writes the generations of a run, one at a time. Errors are kept until commit(), where all ranks learn of them.
class Checkpoints {
 public:
  /// All arguments must outlive it. With `copy`, a thread writes while the run continues; without (null), add() does.
  Checkpoints(const Communicator& communicator, const CheckpointPlan& plan, Timeline& timeline,
              CheckpointCopy* copy = nullptr);
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;
  ~Checkpoints();

  /// This rank's file of the next generation: begin(), add() for each piece, end(), which lets a thread write the copy
  /// and wait for the disk. commit() must have completed the generation before.
  void begin(const CheckpointHeader& header, std::span<const GlobalIndex> pivots);
  void add(std::span<const std::byte> piece);
  void end();
  /// Between begin() and commit().
  bool is_pending() const { return header_.has_value(); }
  /// Whether this rank's disk has not all of the pending generation yet.
  bool is_writing() const;
  /// Completes the pending generation, or drops it if a rank could not write; rank 0 then warns. Waits for the disk.
  /// Collective.
  void commit();
  /// The pending generation is not needed any more: its thread ends soon. None may be begun after this.
  void abandon() { abandoned_ = true; }

  int completed() const { return completed_; }
  /// Generations that were dropped.
  int failed() const { return failed_; }
  /// The passes done in the last complete generation.
  std::optional<Index> last() const { return last_; }
  /// Whether all ranks still have their files of it; else last() is empty from now on. Collective.
  bool keeps_last(GridPosition at);
  /// This rank's file of it. Only if there is one.
  std::string last_file(GridPosition at) const;
  /// From the opening of this rank's files until its disk had them, all complete generations together.
  double seconds_of_disk() const { return seconds_of_disk_; }

 private:
  using Clock = std::chrono::steady_clock;
  template <class Work>
  void keep_error(Work work);
  void open_file(std::span<const GlobalIndex> pivots);
  void write_copy();
  void wait_for(const std::future<void>& thread);
  void clear();

  const Communicator& communicator_;
  const CheckpointPlan& plan_;
  Timeline& timeline_;
  CheckpointCopy* copy_;
  std::optional<CheckpointHeader> header_;  // of the pending generation
  std::string folder_;                      // of the pending generation, once it is complete
  std::vector<GlobalIndex> pivots_;         // of the copy
  std::optional<CheckpointWriter> writer_;
  Clock::time_point opened_, on_disk_;
  std::string error_;  // of this rank
  int completed_ = 0, failed_ = 0;
  std::optional<Index> last_;
  double seconds_of_disk_ = 0;
  std::atomic<bool> abandoned_ = false;
  std::future<void> writing_, removing_;  // threads, which end before the rest of this is destroyed
};

}  // namespace glinpack
