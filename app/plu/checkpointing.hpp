// --checkpoint and --resume.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/plu/sweep.hpp"
#include "app/program/memory.hpp"
#include "app/program/mpi_command.hpp"
#include "checkpoint/checkpoints.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack::app {

/// The arguments of `plu`, and for what they, a configuration and HPL.dat do not give, the options of the checkpoint of
/// --resume. Throws InputError on every rank if the folder has none. Collective over MPI_COMM_WORLD.
std::vector<std::string> with_checkpoint_options(std::vector<std::string> arguments, const ParsedOptions& parsed);

enum class FolderUse { read, write };

/// Locks a checkpoint folder during its lifetime, so that no other program writes there or removes what this one reads.
class FolderLock {
 public:
  /// Throws InputError if another program has the lock, or if a folder to write to cannot be written.
  FolderLock(const std::string& folder, FolderUse use);

 private:
  FileHandle file_;
};

/// The checkpoints of the program's only run.
struct Checkpointing {
  CheckpointPlan plan;
  std::vector<FolderLock> locks;      // on rank 0
  const ProcessGrid* grid = nullptr;  // if this rank is in it

  /// Removes those of --checkpoint: the run is done and reported. On all ranks.
  void remove() const;
};

/// With --checkpoint, plans memory for copies to write from, or notes for the report that there is too little. N does
/// not depend on it: a run continues with the N of --n auto.
void plan_copies(SweepInput& input, std::span<const RankMemory> ranks);

/// With --checkpoint or --resume, prepares the folders and chooses the checkpoint to continue from, which a note of the
/// report names; sets the `resumed` of the run's result. Null without them. Throws InputError on every rank. Collective
/// over MPI_COMM_WORLD.
std::unique_ptr<Checkpointing> prepare_checkpointing(SweepInput& input, const BackendInfo& backend, GridCache& grids);

/// How to continue a run that was interrupted or is corrupted, for the end of the report; empty if it wrote no
/// checkpoint.
std::string how_to_resume(const RunRecord& run, const PluOptions& options);

}  // namespace glinpack::app
