#include "run/run.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <sstream>
#include <utility>

#include "base/measuring.hpp"
#include "mpi/communication.hpp"
#include "mpi/session.hpp"
#include "none/none_backend.hpp"
#include "run/mismatches.hpp"
#include "run/run_observer.hpp"
#include "run/workspace.hpp"
#include "solve/residual.hpp"

namespace glinpack {

double timed_flops(const RunParameters& parameters, const RunResult& result) {
  const Index n = parameters.n;
  const double flops = parameters.parts == RunParts::all ? hpl_flops(n) : factorization_flops(n);
  if (!result.resumed) return flops;
  const Index left = std::max<Index>(0, n - result.resumed->passes * parameters.nb);
  return flops - factorization_flops(n) + factorization_flops(left);
}

namespace {

using NoSensors = std::vector<sensors::Sensor*>;

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// For errors after the first collective call of a run.
[[noreturn]] void abort_run(const Timeline& timeline, const std::exception& error) {
  const std::string where = timeline.pass() < 0 ? "outside the passes" : "pass " + std::to_string(timeline.pass());
  abort_job(where + ": " + error.what());
}

void log_choices(const RunParameters& parameters, const ProcessGrid& grid) {
  if (!grid.is_root()) return;
  const bool rows_cross = pivots_across_processes(parameters.pivoting) && grid.shape().rows > 1;
  const bool on_all_rows = all_compute_u12(parameters.row_swap, parameters.pivoting, grid.shape());
  spdlog::debug(
      "N {}, NB {}, grid {}x{}: pivoting {}, panels on {}, look-ahead {}, broadcast {}, row swap {}, pieces {}, "
      "U12 solved on {}",
      parameters.n, parameters.nb, grid.shape().rows, grid.shape().columns, name_of(parameters.pivoting),
      name_of(parameters.panel), parameters.lookahead, name_of(parameters.broadcast),
      rows_cross ? name_of(parameters.row_swap.kind) : "within each rank", parameters.row_swap.pieces,
      on_all_rows ? "all process rows" : "the pivot's process row");
}

// All passes. The timeline's clock starts with them.
template <class Real>
Factorization factorize(const RunParameters& parameters, const ProcessGrid& grid, Timeline& timeline,
                        LuWorkspace<Real>& workspace, const ProgressObserver& progress, RunResult& result,
                        StateSaver* saver = nullptr, Interchanges so_far = {}) {
  const PassRange passes{result.resumed ? result.resumed->passes : 0, workspace.distribution.passes()};
  grid.all().barrier();
  result.start_time = seconds_since_1970();
  timeline.restart();
  RunObserver observer({parameters, workspace.distribution, grid, timeline, progress}, passes, saver);
  Factorization factors = workspace.lu->run(observer, passes, std::move(so_far));
  Checksums<Real>* const checksums = workspace.checksums.get();
  if (checksums != nullptr) result.checksums.emplace().every = checksums->every();
  while (factors.stopped && saver != nullptr && saver->can_roll_back()) {
    auto state = roll_back(grid, *saver, checksums->mismatches(), *result.checksums);
    if (!state) break;
    checksums->forget_mismatches();
    observer.roll_back(state->passes);
    factors = workspace.lu->run(observer, {state->passes, passes.end}, std::move(state->so_far));
  }
  observer.finish();
  if (checksums != nullptr) {
    result.checksums->checks = checksums->statistics().checks;
    result.checksums->seconds = checksums->statistics().seconds;
    result.checksums->stopped = factors.stopped;
  }
  return factors;
}

template <class Real>
std::unique_ptr<Workspace<Real>> allocate(const RunParameters& parameters, const ProcessGrid& grid,
                                          Backend<Real>& backend, Timeline& timeline, const MatrixSource& source,
                                          const RunOptions& options, const NodeMemory& node) {
  return make_collectively(grid.all(), [&] {
    return std::make_unique<Workspace<Real>>(parameters, grid, backend, timeline, source, options, node);
  });
}

// An idle GPU lowers its clock, also between the strips of an upload, and takes 0.2 s of work to raise it again
// (results/h100/clock). Other HPLs warm up, too: rocHPL's HPL_pdwarmup.
template <class Real>
void raise_clock(Backend<Real>& backend) {
  constexpr Index extent = 2048, inner = 256;
  constexpr int updates_at_a_time = 16;
  constexpr double seconds = 0.3;
  const auto a22 = backend.allocate(extent, extent), l21_transposed = backend.allocate(inner, extent);
  const auto u12 = backend.make_operand(inner, extent);
  const double begun = steady_seconds();
  while (steady_seconds() - begun < seconds) {
    for (int i = 0; i < updates_at_a_time; ++i) {
      backend.update(whole(*l21_transposed), u12->storage(inner, extent), whole(*a22));
    }
    backend.wait_all();
  }
}

// Drivers and the system map and pin pages at their first use, which takes seconds on hosts with several GPUs. These
// passes use all buffers before the timed section. Their matrix is zero except for two identities in each block column,
// so that rows cross process rows. Collective. The caller makes the run's matrix afterwards.
template <class Real>
void touch_memory(const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline, LuWorkspace<Real>& workspace) {
  const Distribution& distribution = workspace.distribution;
  const GridShape shape = grid.shape();
  const GridPosition at = grid.position();
  constexpr Index max_passes = 32;
  const Index full_blocks = distribution.n / distribution.nb, nb = distribution.nb;
  // all ranks are the root of a panel and of a row twice: buffers alternate
  const Index passes = std::min({max_passes, Index{2} * std::max(shape.rows, shape.columns), full_blocks / 2});
  if (passes == 0) return;
  const auto identity = backend.allocate_host(nb * nb);
  const HostBlock<Real> block{identity.get(), 0, nb, nb, nb};
  const auto put = [&](BlockIndex row, BlockIndex column, Real value) {
    if (distribution.rows.owner(row) != at.row || distribution.columns.owner(column) != at.column) return;
    for (Index i = 0; i < nb; ++i) {
      std::fill_n(block.view().row(i), nb, Real{0});
      block.view().row(i)[i] = value;
    }
    const Index i = distribution.rows.local(distribution.rows.first(row)).value;
    const Index j = distribution.columns.local(distribution.columns.first(column)).value;
    backend.wait(backend.upload(block, whole(*workspace.a).block(i, j, nb, nb)));
  };
  for (Index k = 0; k < passes; ++k) {
    put(BlockIndex(k), BlockIndex(k), Real{1});
    put(BlockIndex(full_blocks - 1 - k), BlockIndex(k), Real{2});  // partial pivoting takes these, local the others
  }
  AllPasses observer(timeline);
  workspace.lu->run(observer, {0, passes});
  backend.wait_all();
}

// Without messages, only the rank with a zero pivot or a signal knows of it.
void agree_on_end(const ProcessGrid& grid, Factorization& factors) {
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  std::int64_t first[2] = {factors.zero_pivot ? factors.zero_pivot->value : none, factors.ended_before.value_or(none)};
  grid.all().all_reduce(first, Reduction::min);
  if (first[0] != none) factors.zero_pivot = GlobalIndex(first[0]);
  if (first[1] != none) factors.ended_before = first[1];
}

/// Null unless the run saves its state.
template <class Real>
std::unique_ptr<StateSaver> saver_of(const RunParameters& parameters, const ProcessGrid& grid, Timeline& timeline,
                                     Workspace<Real>& workspace, Backend<Real>& backend, const RunOptions& options,
                                     const RunResult& result) {
  if (!options.checkpoints || options.checkpoints->folder.empty()) return nullptr;
  CheckpointHeader header = checkpoint_header<Real>(parameters, grid, options.checkpoints->options);
  if (result.resumed) header.seconds = result.resumed->seconds;
  return make_saver(*options.checkpoints, header, grid, timeline, workspace, backend);
}

/// The timed section: factorisation, solution, and refinement if requested. Times are those of the slowest rank.
/// `interchanges`: those of the passes that an earlier run did, then of all.
template <class Real>
std::vector<double> solve(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend,
                          Timeline& timeline, Workspace<Real>& workspace, const RunOptions& options,
                          Interchanges& interchanges, sensors::Sampler& sampler, RunResult& result) {
  // exclude what came before from the run's time
  backend.wait_all();
  backend.collect_timings();
  sampler.start();
  const auto saver = saver_of(parameters, grid, timeline, workspace, backend, options, result);
  Factorization factors = factorize<Real>(parameters, grid, timeline, workspace, options.progress, result, saver.get(),
                                          std::move(interchanges));
  interchanges = std::move(factors.interchanges);
  if (saver) result.saved = saver->saved();
  const bool solves = parameters.parts == RunParts::all && !factors.ended_before && !factors.stopped;
  backend.wait_all();
  double times[3] = {timeline.now(), 0, 0};
  if (parameters.parts != RunParts::all) agree_on_end(grid, factors);
  result.passes_done = factors.ended_before;
  std::vector<double> x;
  if (factors.zero_pivot) {
    result.singular_column = factors.zero_pivot->value;
  } else if (solves) {
    const std::vector<Real> solution = workspace.substitution.run();
    x.assign(solution.begin(), solution.end());
    times[2] = timeline.now();
    if (workspace.refiner) result.refinement = workspace.refiner->run(interchanges, *workspace.original, x);
  }
  times[1] = solves ? timeline.now() : times[0];
  grid.all().all_reduce(times, Reduction::max);
  if (result.refinement) result.refinement->seconds = times[1] - times[2];
  result.end_time = seconds_since_1970();
  backend.collect_timings();
  result.factor_seconds = times[0];
  result.seconds = times[1];
  result.solve_seconds = times[1] - times[0];
  if (result.passes_done || factors.stopped) return x;
  result.gflops = timed_flops(parameters, result) / result.seconds * 1e-9;
  return x;
}

bool not_converged(const RunResult& result) { return result.refinement && !result.refinement->converged; }

std::string why_failed(const RunResult& result, double threshold) {
  const Residual& residual = result.residual;
  if (result.singular_column) {
    return "singular: the pivot of global column " + std::to_string(*result.singular_column) +
           " (counted from 0) is zero";
  }
  if (!std::isfinite(residual.norm_x_inf) || !std::isfinite(residual.norm_residual_inf)) {
    return "the solution has NaN or infinite elements: the factors overflowed";
  }
  std::ostringstream text;
  if (not_converged(result)) {
    text << "not converged after " << result.refinement->iterations()
         << " iterations of refinement: " << result.refinement->stopped;
  }
  if (result.checked && !(residual.scaled < threshold)) {
    text << (text.tellp() > 0 ? "; " : "") << "the scaled residual " << residual.scaled << " is not below " << threshold
         << "; pivot growth max|u|/max|a| = " << result.growth;
  } else if (result.checked && !result.refinement && !(residual.columnwise < threshold)) {
    // refinement ends by HPL's quotient alone; with eps of double precision that one finds a wrong element, too
    text << (text.tellp() > 0 ? "; " : "") << "elements of x are too large for A: ||Ax-b||_1 / (eps sum_j ||a_j||_1 "
         << "|x_j| N) is " << residual.columnwise << ", not below " << threshold;
  }
  return text.str();
}

template <class Real>
void check(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Workspace<Real>& workspace,
           const std::vector<double>& x, RunResult& result) {
  if (result.passes_done || (result.checksums && result.checksums->stopped)) return;
  result.checked = parameters.threshold > 0 && parameters.parts == RunParts::all;
  if (!result.singular_column && result.checked) {
    result.residual =
        compute_residual(*workspace.original, workspace.distribution, grid, precision_of_residual<Real>(parameters), x);
    double largest = largest_of_u(workspace, grid.position(), backend);
    largest = all_reduced(grid.all(), largest, Reduction::max);
    result.growth = largest / result.residual.largest_a;
  }
  const bool solved = parameters.parts == RunParts::all && !result.singular_column;
  // a refined x does not solve U x = y
  if (workspace.checksums && solved && !result.refinement) workspace.checksums->check_solution(x);
  if (result.checked || result.singular_column || not_converged(result)) {
    result.failure = why_failed(result, parameters.threshold);
  }
  result.passed = result.checked && result.failure.empty();
}

}  // namespace

template <class Real>
RunResult run(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
              const MatrixSource& source, const RunOptions& options) {
  constexpr double clock_falls_after = 0.2;  // seconds
  const double begun = steady_seconds();
  log_choices(parameters, grid);
  const MemoryCount memory;
  const NodeMemory node = node_memory_of(parameters, grid, backend);
  const auto workspace = allocate(parameters, grid, backend, timeline, source, options, node);
  RunResult result;
  result.memory = memory.need();
  result.u_comes_with_rows = all_compute_u12(parameters.row_swap, parameters.pivoting, grid.shape());
  const WatchedSection watched;
  timeline.report_progress_to(own_progress());
  try {
    Interchanges interchanges;
    if (options.checkpoints && options.checkpoints->resume) {
      const CheckpointHeader& header = options.checkpoints->resume->header;
      interchanges = load_checkpoint(*workspace, backend, timeline, options.checkpoints->resume->file).so_far;
      result.resumed = Resumed{header.pass, header.seconds};
    } else {
      const bool on_gpu = all_agree(grid.all(), backend.update_is_asynchronous() || options.software_gl_as_gpu);
      if (on_gpu && parameters.parts == RunParts::all && !parameters.abft) {
        touch_memory(grid, backend, timeline, *workspace);
      }
      upload_matrix(*workspace, grid.position(), backend, source);
    }
    if (backend.update_is_asynchronous() && steady_seconds() - begun > clock_falls_after) raise_clock(backend);
    sensors::Sampler sampler(options.sensors != nullptr ? share_of(grid, *options.sensors) : NoSensors{},
                             std::chrono::duration<double>(options.power_interval));
    const std::vector<double> x =
        solve(parameters, grid, backend, timeline, *workspace, options, interchanges, sampler, result);
    RankRecord mine;
    mine.backend = backend.info();
    mine.displaced_bytes = workspace->a->displaced_bytes();
    mine.power = power_record(options.sensors, sampler, timeline.epoch());
    if (options.gather_timelines) mine.intervals = timeline.intervals();
    check(parameters, grid, backend, *workspace, x, result);
    if (workspace->checksums) mine.mismatches = workspace->checksums->mismatches();
    result.ranks = gather_rank_records(grid, std::move(mine));
    if (workspace->checksums) report_mismatches(grid, result);
    const bool stopped = result.checksums && result.checksums->stopped;
    if (options.gather_solution && !stopped && !result.passes_done && !result.singular_column &&
        parameters.parts == RunParts::all) {
      result.solution = gather_solution(workspace->distribution, grid, x);
    }
  } catch (const std::exception& error) {
    abort_run(timeline, error);
  }
  return result;
}

namespace {

template <class Real>
RunResult run_messages_in(RunParameters parameters, const ProcessGrid& grid, int threads,
                          const ProgressObserver& progress) {
  parameters.parts = RunParts::messages;
  parameters.panel = PanelPlace::host;
  parameters.lookahead = 0;  // there is no update to overlap
  Timeline timeline;
  const auto backend = make_none_backend<Real>(timeline, HostPages::touched);
  log_choices(parameters, grid);
  const MemoryCount memory;
  const NodeMemory node{.windows = node_windows_of<Real>(parameters, grid, threads)};
  const auto workspace = make_collectively(
      grid.all(), [&] { return std::make_unique<LuWorkspace<Real>>(parameters, grid, *backend, timeline, node); });
  RunResult result;
  result.memory = memory.need();
  result.u_comes_with_rows = all_compute_u12(parameters.row_swap, parameters.pivoting, grid.shape());
  const WatchedSection watched;
  timeline.report_progress_to(own_progress());
  try {
    result.passes_done = factorize(parameters, grid, timeline, *workspace, progress, result).ended_before;
    result.factor_seconds = timeline.now();
    result.factor_seconds = all_reduced(grid.all(), result.factor_seconds, Reduction::max);
    result.seconds = result.factor_seconds;
    result.end_time = seconds_since_1970();
    RankRecord mine;
    mine.intervals = timeline.intervals();
    std::erase_if(mine.intervals, [](const Interval& interval) { return interval.lane != Lane::net; });
    result.ranks = gather_rank_records(grid, std::move(mine));
  } catch (const std::exception& error) {
    abort_run(timeline, error);
  }
  return result;
}

}  // namespace

RunResult run_messages(const RunParameters& parameters, const ProcessGrid& grid, Precision precision, int threads,
                       const ProgressObserver& progress) {
  return precision == Precision::single ? run_messages_in<float>(parameters, grid, threads, progress)
                                        : run_messages_in<double>(parameters, grid, threads, progress);
}

template RunResult run(const RunParameters&, const ProcessGrid&, Backend<float>&, Timeline&, const MatrixSource&,
                       const RunOptions&);
template RunResult run(const RunParameters&, const ProcessGrid&, Backend<double>&, Timeline&, const MatrixSource&,
                       const RunOptions&);

}  // namespace glinpack
