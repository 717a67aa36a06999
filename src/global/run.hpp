// One run of the benchmark: distribute, factorise, solve, check. What a report needs to know of it is in RunResult.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "global/broadcast.hpp"
#include "global/matrix_source.hpp"
#include "global/power_record.hpp"
#include "global/process_grid.hpp"
#include "global/schedule.hpp"
#include "local/backend.hpp"
#include "local/precision.hpp"

namespace glinpack {

/// What of a run is done.
enum class RunParts {
  all,
  compute,   // the factorisation's arithmetic: messages are left out, nothing is solved
  messages,  // the factorisation's messages: nothing is computed
};

struct RunParameters {
  Index n = 0;   // order of the matrix, >= 1
  Index nb = 0;  // block size, >= 1
  Pivoting pivoting = Pivoting::partial;
  PanelPlace panel = PanelPlace::automatic;
  BroadcastKind broadcast = BroadcastKind::ring;
  NodeTransport node_transport = NodeTransport::shared;
  RowSwap row_swap;         // its kind matters where rows cross the network, its pieces in any case
  int lookahead = 1;        // 0: a panel is factorised after the pass before it; more than 1 computes as 1
  double threshold = 16.0;  // of the scaled residual; negative: no check (HPL.dat line 13)
  RunParts parts = RunParts::all;
  bool refine = false;  // the solution in double precision, until it passes; with factors of the backend's precision
};

/// HPL's test: scaled = ||Ax-b||_oo / (eps (||A||_oo ||x||_oo + ||b||_oo) N), with the epsilon of the precision
/// (HPL_pdtest.c). Norms of the matrix as it was, regenerated; computed in double whatever the precision.
struct Residual {
  double scaled = 0;
  double epsilon = 0;
  double norm_residual_inf = 0;
  double norm_a_inf = 0;
  double norm_a_one = 0;
  double norm_x_inf = 0;
  double norm_x_one = 0;
  double norm_b_inf = 0;
  double largest_a = 0;  // max |a_ij|, for the growth
};

/// What one rank of the grid reports.
struct RankRecord {
  int world_rank = 0;
  int row = 0;  // in the process grid
  int column = 0;
  std::string host;
  BackendInfo backend;
  std::int64_t displaced_bytes = 0;  // of its local matrix, as DeviceMatrix has it
  std::vector<Interval> intervals;
  PowerRecord power;  // of what this rank read, for all that see the same
};

/// How a solution was refined in double precision (refinement.hpp).
struct Refinement {
  enum class Method { factors, classical, gmres };
  struct Step {
    Method method;
    double scaled_residual;
  };
  /// HPL's scaled residual with double precision's epsilon: first of the factors' own solution, then after every
  /// iteration; within GMRES as its recurrence has it, but for the last of a cycle.
  std::vector<Step> history;
  bool converged = false;
  std::string stopped;  // why it did not converge, one line; empty where it did
  double seconds = 0;   // part of the run's: from when the last rank had its first solution

  int iterations() const { return static_cast<int>(history.size()) - 1; }
  int iterations_of(Method method) const;
};
std::string_view name_of(Refinement::Method method);  // "factors", "classical", "GMRES"

struct RunResult {
  double seconds = 0;  // factorisation and solution, the slowest rank; HPL's timed section. Or the parts of it done
  double factor_seconds = 0;
  double solve_seconds = 0;
  double gflops = 0;      // hpl_flops() / seconds; factorization_flops() where nothing is solved
  double start_time = 0;  // of the timed section, seconds since 1970
  double end_time = 0;
  bool checked = false;                  // false: threshold negative, or nothing solved
  bool passed = false;                   // checked, and below the threshold
  Residual residual;                     // meaningful where checked and not singular; in double where refined
  double growth = 0;                     // max |u_ij| / max |a_ij|: pivot growth
  std::optional<Index> passes_done;      // where a signal ended the run: of the factorisation; nothing was solved
  std::optional<Index> singular_column;  // 0-based global column of the first zero pivot
  std::string failure;                   // why it did not pass, one line; empty where it did
  std::optional<Refinement> refinement;  // where the run refines, and is not singular
  bool u_comes_with_rows = false;        // rows that change places bring U to all process rows (all_compute_u12())
  std::vector<RankRecord> ranks;         // on rank 0 of the grid; empty elsewhere
  std::vector<double> solution;          // x, N elements, on rank 0 of the grid where asked for
};

/// Told on rank 0 of the grid, once a pass: the share of the flops done, 0 ... 1. 0 when the timed section begins.
using ProgressObserver = std::function<void(double fraction)>;

/// How a run's [A | b] is dealt out: by blocks of nb, or of n where nb is larger.
Distribution distribution_of(const RunParameters& parameters, GridShape grid);

/// Rows that a panel has above a rank's own, at most: nb where all process rows compute U12 (schedule.hpp).
Index rows_above_panels(const RunParameters& parameters, const Distribution& distribution);

double seconds_since_1970();
/// Ends the job (abort_job), saying in which pass: for errors after the first collective call of a run.
[[noreturn]] void abort_run(const Timeline& timeline, const std::exception& error);

struct RunOptions {
  bool gather_solution = false;
  bool gather_timelines = true;
  ProgressObserver progress;             // may be empty
  const RankSensors* sensors = nullptr;  // read in the timed section, where not null: on all ranks or on none
  double power_interval = 0.1;           // between readings, seconds
  bool software_gl_as_gpu = false;  // HPL's matrix is made again by software OpenGL, too, not by host threads (tests)
};

/// Collective over the grid. The timeline is the one that the backend was made with; it is restarted. Throws only when
/// memory cannot be allocated, and then on every rank of the grid alike; an error after that aborts the job, with host,
/// rank and pass.
template <class Real>
RunResult run(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
              const MatrixSource& source, const RunOptions& options = {});

/// Bytes that a rank will allocate for a run: host and device, before anything is allocated.
struct MemoryNeed {
  std::int64_t host = 0;
  std::int64_t device = 0;
};
/// `device_copies`: see copies_on_device() of the backend.
MemoryNeed memory_per_rank(const RunParameters& parameters, const Distribution& distribution, GridPosition position,
                           Precision precision, int device_copies = 1);

/// HPL's count for the factorisation and solution of order n: 2/3 n^3 + 3/2 n^2.
double hpl_flops(Index n);
/// Of the factorisation of [A | b] alone: 2/3 n^3 + 1/2 n^2.
double factorization_flops(Index n);

}  // namespace glinpack
