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
#include "run/run_observer.hpp"
#include "run/state_saver.hpp"
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

// All passes. The timeline's clock starts with them. `saver` may be null.
template <class Real>
Factorization factorize(LuWorkspace<Real>& workspace, const ProgressObserver& progress, StateSaver<Real>* saver,
                        Interchanges so_far, RunResult& result) {
  const PassRange passes{result.resumed ? result.resumed->passes : 0, workspace.distribution.passes()};
  workspace.grid.all().barrier();
  result.start_time = seconds_since_1970();
  workspace.context.timeline().restart();
  RunObserver<Real> observer(workspace, progress, passes, saver);
  Factorization factors = workspace.lu->run(observer, passes, std::move(so_far));
  Checksums<Real>* const checksums = workspace.checksums.get();
  if (checksums != nullptr) result.checksums.emplace().every = checksums->every();
  while (factors.check_failed && saver != nullptr) {
    if (!saver->can_roll_back()) {
      if (workspace.grid.is_root()) {
        spdlog::warn("a check of checksums has failed: no more checkpoints are written");
      }
      break;
    }
    auto state = saver->roll_back(*result.checksums);
    if (!state) break;
    observer.roll_back(state->passes);
    factors = workspace.lu->run(observer, {state->passes, passes.end}, std::move(state->so_far));
  }
  observer.finish();
  if (checksums != nullptr) {
    result.checksums->checks = checksums->statistics().checks;
    result.checksums->seconds = checksums->statistics().seconds;
    result.checksums->stopped = factors.check_failed;
  }
  return factors;
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

// Drivers and the system map and pin pages at their first use, which takes seconds on hosts with several GPUs. On an
// H100 (OpenGL, driver 580.159), the update overlaps the next panel only after 15 passes of the process
// (results/h100/logs.md first-runs). So an identity matrix is factorised in part before the timed section: the first
// passes, two with half of the rows, a quarter and so on, whose panels have other programs, the last ones, and the
// substitution. A second identity in the first block columns makes rows cross process rows. Collective. The caller
// makes the run's matrix afterwards.
template <class Real>
void rehearse(Workspace<Real>& workspace) {
  Backend<Real>& backend = workspace.context.backend;
  const Distribution& distribution = workspace.distribution;
  const GridShape shape = workspace.grid.shape();
  const GridPosition at = workspace.grid.position();
  constexpr Index max_passes = 32, last_passes = 32;
  const Index full_blocks = distribution.n / distribution.nb, blocks = distribution.passes(), nb = distribution.nb;
  // up to 16 process rows and columns, all ranks are the root of a panel and of a row twice: buffers alternate
  const Index passes = std::min({max_passes, Index{2} * std::max(shape.rows, shape.columns), full_blocks / 2});
  if (passes == 0) return;
  const auto identity = backend.allocate_host(nb * nb);
  const HostBlock<Real> block{identity.get(), 0, nb, nb, nb};
  const auto scale = [&](Real value) {
    for (Index i = 0; i < nb; ++i) {
      std::fill_n(block.view().row(i), nb, Real{0});
      block.view().row(i)[i] = value;
    }
  };
  const auto put = [&](BlockIndex row, BlockIndex column) {
    if (distribution.rows.owner(row) != at.row || distribution.columns.owner(column) != at.column) return;
    const Index extent = std::min(nb, distribution.n - row.value * nb);
    const Index i = distribution.rows.local(distribution.rows.first(row)).value;
    const Index j = distribution.columns.local(distribution.columns.first(column)).value;
    backend.wait(
        backend.upload({identity.get(), 0, extent, extent, nb}, whole(*workspace.a).block(i, j, extent, extent)));
  };
  scale(Real{1});
  for (Index k = 0; k < blocks; ++k) put(BlockIndex(k), BlockIndex(k));
  scale(Real{2});  // partial pivoting takes these, local the others
  for (Index k = 0; k < passes; ++k) put(BlockIndex(full_blocks - 1 - k), BlockIndex(k));
  AllPasses observer(backend.timeline());
  workspace.lu->run(observer, {0, passes});
  const Index last = std::max(passes, blocks - last_passes);
  for (Index left = blocks / 2; blocks - left < last; left /= 2) {
    workspace.lu->run(observer, {blocks - left, blocks - left + 2});
  }
  workspace.lu->run(observer, {last, blocks});
  workspace.substitution.run();
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

/// The steps of a run. Each sets its part of the result.
template <class Real>
class Run {
 public:
  /// All must outlive it. Collective, as the steps are.
  Run(Workspace<Real>& workspace, const RunOptions& options, RunResult& result)
      : parameters_(workspace.context.parameters),
        grid_(workspace.grid),
        backend_(workspace.context.backend),
        timeline_(workspace.context.timeline()),
        workspace_(workspace),
        options_(options),
        result_(result),
        sampler_(options.sensors != nullptr ? share_of(grid_, *options.sensors) : NoSensors{},
                 std::chrono::duration<double>(options.power_interval)) {}

  /// The matrix, or the state of a checkpoint. `begun`: steady_seconds() since when the device is idle.
  void prepare(const MatrixSource& source, double begun) {
    constexpr double clock_falls_after = 0.2;  // seconds
    if (options_.checkpoints && options_.checkpoints->resume) {
      const ResumePoint& resume = *options_.checkpoints->resume;
      interchanges_ = load_checkpoint(workspace_, resume.file).so_far;
      result_.resumed = Resumed{resume.header.pass, resume.header.seconds};
    } else {
      constexpr Index min_rehearsed = 4096;  // smaller runs are short in any case
      const bool is_long = backend_.info().asynchronous && parameters_.n >= min_rehearsed;
      const bool rehearses = all_agree(grid_.all(), is_long || parameters_.software_as_gpu);
      if (rehearses && parameters_.parts == RunParts::all && !parameters_.abft) rehearse(workspace_);
      upload_matrix(workspace_, source);
    }
    const bool is_gpu = backend_.info().asynchronous && !backend_.info().software_device;
    if (is_gpu && steady_seconds() - begun > clock_falls_after) raise_clock(backend_);
    // exclude what came before from the run's time
    backend_.wait_all();
    backend_.collect_timings();
  }

  /// The timed section: factorisation, solution, and refinement if requested. Times are those of the slowest rank.
  void solve() {
    sampler_.start();
    const std::unique_ptr<StateSaver<Real>> saver = make_saver();
    Factorization factors = factorize(workspace_, options_.progress, saver.get(), std::move(interchanges_), result_);
    interchanges_ = std::move(factors.interchanges);
    if (saver) result_.saved = saver->saved();
    const bool solves = parameters_.parts == RunParts::all && !factors.ended_before && !factors.check_failed;
    backend_.wait_all();
    double times[3] = {timeline_.now(), 0, 0};
    if (parameters_.parts != RunParts::all) agree_on_end(grid_, factors);
    result_.passes_done = factors.ended_before;
    if (factors.zero_pivot) {
      result_.singular_column = factors.zero_pivot->value;
    } else if (solves) {
      const std::vector<Real> solution = workspace_.substitution.run();
      x_.assign(solution.begin(), solution.end());
      times[2] = timeline_.now();
      if (workspace_.refiner) result_.refinement = workspace_.refiner->run(interchanges_, *workspace_.original, x_);
    }
    times[1] = solves ? timeline_.now() : times[0];
    grid_.all().all_reduce(times, Reduction::max);
    if (result_.refinement) result_.refinement->seconds = times[1] - times[2];
    result_.end_time = seconds_since_1970();
    backend_.collect_timings();
    result_.factor_seconds = times[0];
    result_.seconds = times[1];
    result_.solve_seconds = times[1] - times[0];
    if (!ended_early()) result_.gflops = timed_flops(parameters_, result_) / result_.seconds * 1e-9;
  }

  /// The residual, and the records of all ranks.
  void check() {
    RankRecord mine;
    mine.backend = backend_.info();
    mine.displaced_bytes = workspace_.a->displaced_bytes();
    mine.power = power_record(options_.sensors, sampler_, timeline_.epoch());
    if (options_.gather_timelines) mine.intervals = timeline_.intervals();
    if (!ended_early()) check_solution();
    if (workspace_.checksums) mine.mismatches = workspace_.checksums->mismatches();
    result_.ranks = gather_rank_records(grid_, std::move(mine));
    if (workspace_.checksums) report_mismatches(grid_, result_);
    if (options_.gather_solution && !ended_early() && is_solved()) {
      result_.solution = gather_solution(workspace_.distribution, grid_, x_);
    }
  }

 private:
  bool ended_early() const { return result_.passes_done || (result_.checksums && result_.checksums->stopped); }
  bool is_solved() const { return parameters_.parts == RunParts::all && !result_.singular_column; }

  /// Null unless the run saves its state.
  std::unique_ptr<StateSaver<Real>> make_saver() {
    if (!options_.checkpoints || options_.checkpoints->folder.empty()) return nullptr;
    const double earlier_seconds = result_.resumed ? result_.resumed->seconds : 0;
    return std::make_unique<StateSaver<Real>>(*options_.checkpoints, earlier_seconds, workspace_);
  }

  void check_solution() {
    result_.checked = parameters_.threshold > 0 && parameters_.parts == RunParts::all;
    if (!result_.singular_column && result_.checked) {
      result_.residual = compute_residual(*workspace_.original, workspace_.distribution, grid_,
                                          precision_of_residual<Real>(parameters_), x_);
      const double largest = all_reduced(grid_.all(), largest_of_u(workspace_), Reduction::max);
      result_.growth = largest / result_.residual.largest_a;
    }
    // a refined x does not solve U x = y
    if (workspace_.checksums && is_solved() && !result_.refinement) workspace_.checksums->check_solution(x_);
    if (result_.checked || result_.singular_column || not_converged(result_)) {
      result_.failure = why_failed(result_, parameters_.threshold);
    }
    result_.passed = result_.checked && result_.failure.empty();
  }

  const RunParameters& parameters_;
  const ProcessGrid& grid_;
  Backend<Real>& backend_;
  Timeline& timeline_;
  Workspace<Real>& workspace_;
  const RunOptions& options_;
  RunResult& result_;
  sensors::Sampler sampler_;
  Interchanges interchanges_;  // of the passes that an earlier run did, then of all
  std::vector<double> x_;      // this rank's part of the solution
};

/// The result after body(result). The watchdog watches it, and an error ends the job.
template <class Real, class Body>
RunResult run_watched(const LuWorkspace<Real>& workspace, const MemoryCount& memory, Body body) {
  const RunParameters& parameters = workspace.context.parameters;
  Timeline& timeline = workspace.context.timeline();
  RunResult result;
  result.memory = memory.need();
  result.u_comes_with_rows = all_compute_u12(parameters.row_swap, parameters.pivoting, workspace.grid.shape());
  const WatchedSection watched;
  timeline.report_progress_to(own_progress());
  try {
    body(result);
  } catch (const std::exception& error) {
    abort_run(timeline, error);
  }
  return result;
}

}  // namespace

template <class Real>
RunResult run(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend,
              const MatrixSource& source, const RunOptions& options) {
  const double begun = steady_seconds();
  log_choices(parameters, grid);
  MemoryCount memory;
  NodeMemory node = node_memory_of(parameters, grid, backend);
  const MemoryNeed of_node = memory.need();
  const auto make = [&] {
    return make_collectively(
        grid.all(), [&] { return std::make_unique<Workspace<Real>>(parameters, grid, backend, node, source); });
  };
  auto workspace = make();
  if (node.peers && !map_windows(grid, *node.peers)) {
    backend.wait_all();  // else memory that the device may still use is not freed yet
    workspace.reset();
    node.peers.reset();
    memory.return_to(of_node);
    workspace = make();
  }
  return run_watched(*workspace, memory, [&](RunResult& result) {
    Run<Real> run(*workspace, options, result);
    run.prepare(source, begun);
    run.solve();
    run.check();
  });
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
      grid.all(), [&] { return std::make_unique<LuWorkspace<Real>>(parameters, grid, *backend, node); });
  return run_watched(*workspace, memory, [&](RunResult& result) {
    result.passes_done = factorize<Real>(*workspace, progress, nullptr, {}, result).ended_before;
    result.factor_seconds = all_reduced(grid.all(), timeline.now(), Reduction::max);
    result.seconds = result.factor_seconds;
    result.end_time = seconds_since_1970();
    RankRecord mine;
    mine.intervals = timeline.intervals();
    std::erase_if(mine.intervals, [](const Interval& interval) { return interval.lane != Lane::net; });
    result.ranks = gather_rank_records(grid, std::move(mine));
  });
}

}  // namespace

RunResult run_messages(const RunParameters& parameters, const ProcessGrid& grid, Precision precision, int threads,
                       const ProgressObserver& progress) {
  return precision == Precision::single ? run_messages_in<float>(parameters, grid, threads, progress)
                                        : run_messages_in<double>(parameters, grid, threads, progress);
}

template RunResult run(const RunParameters&, const ProcessGrid&, Backend<float>&, const MatrixSource&,
                       const RunOptions&);
template RunResult run(const RunParameters&, const ProcessGrid&, Backend<double>&, const MatrixSource&,
                       const RunOptions&);

}  // namespace glinpack
