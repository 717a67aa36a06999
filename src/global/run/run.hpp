// One run of the benchmark: distribute, factorise, solve, check. RunResult is the input of the report.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/memory_count.hpp"
#include "base/precision.hpp"
#include "checkpoint/checkpoints.hpp"
#include "lu/parameters.hpp"
#include "matrix/matrix_source.hpp"
#include "mpi/process_grid.hpp"
#include "run/records.hpp"
#include "solve/residual.hpp"

namespace glinpack {

/// The part of a factorisation that an earlier run did.
struct Resumed {
  Index passes = 0;
  double seconds = 0;  // until the checkpoint was written
};

/// The checkpoints of a run.
struct Saved {
  int checkpoints = 0;
  int failed = 0;              // that could not be written
  Index passes = 0;            // done in the last one; 0: there is none, or it was deleted
  bool in_background = false;  // a thread wrote them while the run went on
  double waited = 0;           // seconds that ranks spent on them or waited, the slowest one
  double disk = 0;             // seconds in which their files were written, the slowest rank
};

/// A return to a checkpoint after a failed check.
struct Rollback {
  Index to = 0;        // passes done in the checkpoint
  double seconds = 0;  // lost: of the passes since then and of loading, the slowest rank
  // of the worst mismatch, on rank 0 of the grid
  Index from = 0;  // passes done
  int rank = 0;    // its RankRecord::world_rank
  Mismatch mismatch;
};

/// The checks of a run's checksums.
struct ChecksumRecord {
  Index every = 0;                  // passes between two checks
  Index checks = 0;                 // the last one, of the factors, included
  double seconds = 0;               // of the checks, on the slowest rank
  bool corrupted = false;           // a check has failed on some rank: RankRecord::mismatches
  bool overflowed = false;          // the first mismatch is Mismatch::overflow, which needs no fault
  bool stopped = false;             // a failed check has ended the run
  std::string stopped_by;           // the reason, unless it is the check
  std::vector<Rollback> rollbacks;  // after other failed checks, in order; the passes after them were right
};

struct RunResult {
  double seconds = 0;  // of HPL's timed section, on the slowest rank: factorisation and solution, or what was done
  double factor_seconds = 0;
  double solve_seconds = 0;
  double gflops = 0;      // timed_flops() / seconds
  double start_time = 0;  // of the timed section, seconds since 1970
  double end_time = 0;
  bool checked = false;                     // false: threshold 0 or less, or nothing solved
  bool passed = false;                      // checked, and below the threshold
  Residual residual;                        // valid if checked and not singular; in double if refined
  double growth = 0;                        // max |u_ij| / max |a_ij|: pivot growth
  std::optional<Index> passes_done;         // passes before a signal ended the run; nothing was solved
  std::optional<Resumed> resumed;           // if it went on from a checkpoint; all times and rates are of the rest
  std::optional<Saved> saved;               // if it wrote checkpoints
  std::optional<Index> singular_column;     // 0-based global column of the first zero pivot
  std::string failure;                      // why it did not pass, one line; empty if it passed
  std::optional<Refinement> refinement;     // if the run refines and is not singular
  std::optional<ChecksumRecord> checksums;  // if the run carries them
  MemoryNeed memory;                        // of this rank, allocated before the timed section (count_memory())
  bool u_comes_with_rows = false;           // row swaps send U to all process rows (all_compute_u12())
  std::vector<RankRecord> ranks;            // on rank 0 of the grid; empty elsewhere
  std::vector<double> solution;             // x, N elements, on rank 0 of the grid if requested
};

/// Whether checksums say that its result is wrong.
inline bool is_corrupted(const RunResult& result) { return result.checksums && result.checksums->corrupted; }

/// The operations that a rate counts: HPL's, or those of the factorisation if nothing is solved, less the passes that
/// an earlier run did.
double timed_flops(const RunParameters& parameters, const RunResult& result);

/// Called on rank 0 of the grid once per pass, with the completed share of the flops, 0 ... 1. The first call, with 0,
/// is at the start of the timed section.
using ProgressObserver = std::function<void(double fraction)>;

struct RunOptions {
  bool gather_solution = false;
  bool gather_timelines = true;
  ProgressObserver progress;             // may be empty
  const RankSensors* sensors = nullptr;  // read in the timed section unless null; non-null on all ranks or on none
  double power_interval = 0.1;           // between readings, seconds
  std::optional<CheckpointPlan> checkpoints;
};

/// Collective over the grid. The backend's timeline is restarted. If memory cannot be allocated, it throws
/// on every rank of the grid. Any later error aborts the job, with host, rank and pass.
template <class Real>
RunResult run(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend,
              const MatrixSource& source, const RunOptions& options = {});

/// Times the messages of one factorisation; nothing is computed, and pivots are synthetic (no_transport.hpp).
/// Collective over the grid. If memory cannot be allocated, it throws on every rank of the grid. Any later error aborts
/// the job, with host, rank and pass. `threads`: per rank, for copies through shared memory. The result has no solution
/// and no backend.
RunResult run_messages(const RunParameters& parameters, const ProcessGrid& grid, Precision precision, int threads = 1,
                       const ProgressObserver& progress = {});

}  // namespace glinpack
