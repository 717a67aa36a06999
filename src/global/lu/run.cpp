#include "lu/run.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <span>
#include <sstream>
#include <utility>

#include "abft/rounding_bound.hpp"
#include "backend/threads.hpp"
#include "lu/factorize.hpp"
#include "lu/mismatches.hpp"
#include "lu/no_transport.hpp"
#include "lu/panel/panels.hpp"
#include "lu/records.hpp"
#include "lu/run_observer.hpp"
#include "matrix/original_matrix.hpp"
#include "mpi/communication.hpp"
#include "mpi/node_broadcast.hpp"
#include "mpi/session.hpp"
#include "none/none_backend.hpp"
#include "solve/full_check.hpp"
#include "solve/refinement.hpp"
#include "solve/residual.hpp"
#include "solve/substitution.hpp"
#include "transport/mpi_transport.hpp"

namespace glinpack {

namespace {

using NoSensors = std::vector<sensors::Sensor*>;

// The matrix that residuals are computed from, and its precision.
template <class Real>
Precision precision_of_residual(const RunParameters& parameters) {
  return parameters.refine ? Precision::double_ : precision_of<Real>;
}

// On a GPU if possible. Software OpenGL shares the processor, which is faster without it.
template <class Real>
std::unique_ptr<OriginalMatrix> original_matrix(const RunParameters& parameters, const Distribution& distribution,
                                                GridPosition at, const MatrixSource& source, Backend<Real>& backend,
                                                Timeline& timeline, const RunOptions& options) {
  const Precision precision = precision_of_residual<Real>(parameters);
  const DeviceUse use = options.software_gl_as_gpu ? DeviceUse::always : DeviceUse::if_faster;
  auto matrix = original_matrix_on_device(distribution, at, source, precision, backend, use);
  if (matrix) return matrix;
  return original_matrix_on_host(distribution, at, source, precision, backend.info().threads, timeline);
}

// What the ranks of a node share.
struct NodeMemory {
  std::unique_ptr<NodeWindows> windows;
  bool column_shares_memory = false;  // without messages: whether the process column would
};

template <class Real>
NodeMemory node_memory_of(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend) {
  const bool panels_on_device = parameters.panel == PanelPlace::device || backend.update_is_asynchronous();
  NodeMemory node{.windows = node_windows_of<Real>(parameters, grid, backend.info().threads, panels_on_device)};
  if (parameters.parts == RunParts::compute && shares_node_memory(parameters)) {
    const std::vector<int> nodes = nodes_of(grid.column());
    node.column_shares_memory = std::ranges::count(nodes, nodes.front()) == grid.shape().rows;
  }
  return node;
}

template <class Real>
std::unique_ptr<Transport<Real>> make_transport(const RunParameters& parameters, const Distribution& distribution,
                                                const ProcessGrid& grid, Timeline& timeline, const NodeMemory& node) {
  if (parameters.parts == RunParts::compute) {
    const BroadcastSizes largest = broadcast_sizes<Real>(parameters, grid.shape(), grid.position());
    const auto agree = [&grid](bool mine) { return all_agree(grid.all(), mine); };
    return std::make_unique<NoTransport<Real>>(distribution, grid.position(), parameters.pivoting,
                                               std::max(largest.row, 2 * largest.column) / sizeof(Real),
                                               node.column_shares_memory, agree);
  }
  return std::make_unique<MpiTransport<Real>>(grid, parameters.broadcast, timeline, node.windows.get(),
                                              completion_of(parameters.parts));
}

template <class Real>
std::unique_ptr<Checksums<Real>> make_checksums(const RunParameters& parameters, const Distribution& distribution,
                                                const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
                                                DeviceMatrix<Real>& a) {
  if (!parameters.abft) return nullptr;
  const Index every = parameters.abft_every > 0 ? parameters.abft_every : passes_between_checks(distribution.nb);
  return std::make_unique<Checksums<Real>>(distribution, grid, backend, timeline, a, every);
}

/// The factorisation of a run and its memory. `lu` refers to the other members.
template <class Real>
struct LuWorkspace {
  Distribution distribution;
  std::unique_ptr<DeviceMatrix<Real>> a;
  std::unique_ptr<Transport<Real>> transport;
  std::unique_ptr<Checksums<Real>> checksums;  // null: none
  std::unique_ptr<LuFactorization> lu;

  LuWorkspace(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
              const NodeMemory& node)
      : distribution(distribution_of(parameters, grid.shape())),
        a(backend.allocate(distribution.local_rows(grid.position()), distribution.stored_columns(grid.position()))),
        transport(make_transport<Real>(parameters, distribution, grid, timeline, node)),
        checksums(make_checksums(parameters, distribution, grid, backend, timeline, *a)),
        lu(make_lu<Real>(
            {parameters, distribution, grid.position(), backend, *transport, timeline, *a, checksums.get()})) {}
  LuWorkspace(const LuWorkspace&) = delete;
  LuWorkspace& operator=(const LuWorkspace&) = delete;
};

/// All memory of a rank during a run. Allocated before the first collective call, so that a failing rank can report it.
template <class Real>
struct Workspace : LuWorkspace<Real> {
  using LuWorkspace<Real>::a;
  using LuWorkspace<Real>::distribution;
  BackwardSubstitution<Real> substitution;
  std::unique_ptr<Refiner<Real>> refiner;           // null if the run does not refine
  std::unique_ptr<FullChecker<Real>> full_checker;  // null if the run has no full check
  std::unique_ptr<HostBuffer<Real>> strip;
  std::unique_ptr<OriginalMatrix> original;
  std::unique_ptr<CheckpointCopy> checkpoint_copy;  // null: checkpoints are not written in the background

  Workspace(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
            const MatrixSource& source, const RunOptions& options, const NodeMemory& node)
      : LuWorkspace<Real>(parameters, grid, backend, timeline, node),
        substitution(distribution, grid, backend, timeline, *a),
        strip(backend.allocate_host(matrix_strip_rows(a->rows(), a->columns()) * a->columns())),
        original(original_matrix(parameters, distribution, grid.position(), source, backend, timeline, options)) {
    if (parameters.full_check) {
      const Precision precision = parameters.refine ? Precision::mixed : precision_of<Real>;
      full_checker =
          std::make_unique<FullChecker<Real>>(precision, distribution, grid, backend, timeline, substitution);
    }
    if (options.checkpoints && parameters.checkpoint_copy) {
      const auto bytes = static_cast<std::size_t>(a->rows() * a->columns()) * sizeof(Real);
      checkpoint_copy = std::make_unique<CheckpointCopy>(bytes, backend.info().threads);
    }
    if (!parameters.refine) return;
    refiner =
        std::make_unique<Refiner<Real>>(parameters.threshold, distribution, grid, backend, timeline, substitution);
  }
};

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
  barrier(grid.all());
  result.start_time = seconds_since_1970();
  timeline.restart();
  RunObserver observer({parameters, workspace.distribution, grid, timeline, progress}, passes, saver);
  Factorization factors = workspace.lu->run(observer, passes, std::move(so_far));
  Checksums<Real>* const checksums = workspace.checksums.get();
  if (checksums != nullptr) result.checksums.emplace().every = checksums->every();
  while (factors.stopped && saver != nullptr && saver->can_go_back()) {
    auto state = go_back(grid, *saver, checksums->mismatches(), *result.checksums);
    if (!state) break;
    checksums->forget_mismatches();
    observer.go_back(state->passes);
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

/// Calls body(first local row, strip in host memory) for all local rows, strip by strip.
template <class Real, class Body>
void for_each_strip(Workspace<Real>& workspace, Body body) {
  const DeviceMatrix<Real>& a = *workspace.a;
  const Index rows = matrix_strip_rows(a.rows(), a.columns());
  for (Index first = 0; first < a.rows() && a.columns() > 0; first += rows) {
    body(first, HostBlock<Real>{workspace.strip.get(), 0, std::min(rows, a.rows() - first), a.columns(), a.columns()});
  }
}

template <class Real>
void upload_matrix(Workspace<Real>& workspace, GridPosition at, Backend<Real>& backend, const MatrixSource& source) {
  const Index columns = workspace.distribution.local_columns(at);
  std::optional<RowChecksums<Real>> checksums;
  if (workspace.checksums) checksums.emplace(columns);
  for_each_strip(workspace, [&](Index first, const HostBlock<Real>& strip) {
    const RowMajorView<Real> to = strip.view();
    parallel_for(backend.info().threads, strip.rows, Index{1}, [&](Index begin, Index end) {
      std::vector<double> row(static_cast<std::size_t>(columns));
      for (Index i = begin; i < end; ++i) {
        source.fill(workspace.distribution, at, LocalIndex(first + i), {row.data(), 1, columns, columns});
        std::transform(row.begin(), row.end(), to.row(i), [](double value) { return static_cast<Real>(value); });
        if (checksums) checksums->append(first + i, to.row(i));
      }
    });
    backend.wait(backend.upload(strip, whole(*workspace.a).block(first, 0, strip.rows, strip.columns)));
  });
}

std::span<std::byte> bytes_of_strip(const auto& strip) {
  return std::as_writable_bytes(std::span(strip.view().data, static_cast<std::size_t>(strip.rows * strip.columns)));
}

/// The state of the matrix and of its checks, which a checkpoint has. Throws CheckpointError.
template <class Real>
LoadedState load_checkpoint(Workspace<Real>& workspace, Backend<Real>& backend, Timeline& timeline,
                            const std::string& file) {
  CheckpointReader reader(file);
  LoadedState state{reader.header().pass, {.pivots = reader.read_pivots()}};
  const auto read = [&](std::span<std::byte> piece) {
    const auto scope = timeline.scope(Lane::cpu, Phase::checkpoint, static_cast<std::int64_t>(piece.size()));
    reader.read(piece);
  };
  for_each_strip(workspace, [&](Index first, const HostBlock<Real>& strip) {
    read(bytes_of_strip(strip));
    backend.wait(backend.upload(strip, whole(*workspace.a).block(first, 0, strip.rows, strip.columns)));
  });
  if (workspace.checksums) {
    std::vector<std::byte> checks(static_cast<std::size_t>(reader.header().state_bytes));
    read(checks);
    workspace.checksums->restore(checks);
  }
  return state;
}

/// Saves the matrix of a workspace, strip by strip.
template <class Real>
class MatrixSaver final : public StateSaver {
 public:
  MatrixSaver(const CheckpointPlan& plan, const CheckpointHeader& header, const ProcessGrid& grid, Timeline& timeline,
              Workspace<Real>& workspace, Backend<Real>& backend)
      : StateSaver(plan, header, grid, timeline, workspace.checkpoint_copy.get()),
        timeline_(timeline),
        workspace_(workspace),
        backend_(backend) {}

 private:
  void add_matrix(Checkpoints& checkpoints) override {
    for_each_strip(workspace_, [&](Index first, const HostBlock<Real>& strip) {
      const DeviceMatrix<Real>& a = *workspace_.a;
      backend_.wait(backend_.download({workspace_.a.get(), first, 0, strip.rows, a.columns()}, strip));
      checkpoints.add(bytes_of_strip(strip));
    });
    if (workspace_.checksums) checkpoints.add(workspace_.checksums->state());
  }
  LoadedState load(const std::string& file) override {
    backend_.wait_all();
    return load_checkpoint(workspace_, backend_, timeline_, file);
  }

  Timeline& timeline_;
  Workspace<Real>& workspace_;
  Backend<Real>& backend_;
};

// An idle GPU lowers its clock, also between the strips of an upload, and takes 0.2 s of work to raise it again
// (results/h100/clock). Other HPLs warm up, too: rocHPL's HPL_pdwarmup.
template <class Real>
void raise_clock(Backend<Real>& backend) {
  constexpr Index extent = 2048, inner = 256;
  constexpr int updates_at_a_time = 16;
  constexpr double seconds = 0.3;
  const auto a22 = backend.allocate(extent, extent), l21_transposed = backend.allocate(inner, extent);
  const auto u12 = backend.make_operand(inner, extent);
  const double begun = MPI_Wtime();
  while (MPI_Wtime() - begun < seconds) {
    for (int i = 0; i < updates_at_a_time; ++i) {
      backend.update(whole(*l21_transposed), u12->room(inner, extent), whole(*a22));
    }
    backend.wait_all();
  }
}

/// max |u_ij| of this rank's part of U.
template <class Real>
double largest_of_u(Workspace<Real>& workspace, GridPosition at, Backend<Real>& backend) {
  const Distribution& distribution = workspace.distribution;
  double largest = 0;
  for_each_strip(workspace, [&](Index first, const HostBlock<Real>& strip) {
    backend.wait(backend.download(whole(*workspace.a).block(first, 0, strip.rows, strip.columns), strip));
    const Index end = distribution.local_columns_of_a(at);
    for (Index i = 0; i < strip.rows; ++i) {
      const GlobalIndex row = distribution.rows.global(LocalIndex(first + i), at.row);
      const Real* values = strip.view().row(i);
      for (Index j = distribution.columns.lower_bound(row, at.column).value; j < end; ++j) {
        largest = std::max(largest, std::fabs(static_cast<double>(values[j])));
      }
    }
  });
  return largest;
}

// Without messages, only the rank with a zero pivot or a signal knows of it.
void agree_on_end(const ProcessGrid& grid, Factorization& factors) {
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  std::int64_t first[2] = {factors.zero_pivot ? factors.zero_pivot->value : none, factors.ended_before.value_or(none)};
  all_reduce(grid.all(), first, 2, MPI_INT64_T, MPI_MIN);
  if (first[0] != none) factors.zero_pivot = GlobalIndex(first[0]);
  if (first[1] != none) factors.ended_before = first[1];
}

/// Null unless the run saves its state.
template <class Real>
std::unique_ptr<StateSaver> make_saver(const RunParameters& parameters, const ProcessGrid& grid, Timeline& timeline,
                                       Workspace<Real>& workspace, Backend<Real>& backend, const RunOptions& options,
                                       const RunResult& result) {
  if (!options.checkpoints || options.checkpoints->folder.empty()) return nullptr;
  CheckpointHeader header = checkpoint_header<Real>(parameters, grid, options.checkpoints->options);
  if (result.resumed) header.seconds = result.resumed->seconds;
  return std::make_unique<MatrixSaver<Real>>(*options.checkpoints, header, grid, timeline, workspace, backend);
}

/// Flops of the passes that an earlier run did.
double flops_before(const RunParameters& parameters, const RunResult& result) {
  if (!result.resumed) return 0;
  const Index left = std::max<Index>(0, parameters.n - result.resumed->passes * parameters.nb);
  return factorization_flops(parameters.n) - factorization_flops(left);
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
  const auto saver = make_saver(parameters, grid, timeline, workspace, backend, options, result);
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
  all_reduce(grid.all(), times, 3, MPI_DOUBLE, MPI_MAX);
  if (result.refinement) result.refinement->seconds = times[1] - times[2];
  result.end_time = seconds_since_1970();
  backend.collect_timings();
  result.factor_seconds = times[0];
  result.seconds = times[1];
  result.solve_seconds = times[1] - times[0];
  if (result.passes_done || factors.stopped) return x;
  const double flops = solves ? hpl_flops(parameters.n) : factorization_flops(parameters.n);
  result.gflops = (flops - flops_before(parameters, result)) / result.seconds * 1e-9;
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
  }
  return text.str();
}

template <class Real>
std::vector<Real> local_factors(Workspace<Real>& workspace, Backend<Real>& backend) {
  std::vector<Real> factors;
  factors.reserve(static_cast<std::size_t>(workspace.a->rows() * workspace.a->columns()));
  for_each_strip(workspace, [&](Index first, const HostBlock<Real>& strip) {
    backend.wait(backend.download(whole(*workspace.a).block(first, 0, strip.rows, strip.columns), strip));
    const Real* const values = strip.view().data;
    factors.insert(factors.end(), values, values + strip.rows * strip.columns);
  });
  return factors;
}

// A matrix that should be singular passes if the factorisation finds that.
template <class Real>
void add_full_check(const ProcessGrid& grid, Backend<Real>& backend, Workspace<Real>& workspace,
                    const MatrixSource& source, const Interchanges& interchanges, RunResult& result) {
  FullCheck full;
  if (!result.singular_column) {
    // memory is allocated: all ranks must know if one has none
    auto factors = make_collectively(grid.all(), [&] { return local_factors(workspace, backend); });
    full = workspace.full_checker->run(interchanges, source, std::move(factors), backend.info().threads);
  }
  full.singular_column = result.singular_column;
  full.expected_singular = source.singularity().column;
  full.singularity_uncertain = source.singularity().uncertain;
  const std::string failure = full.failure();
  if (result.singular_column && failure.empty()) result.failure.clear();
  if (!failure.empty()) result.failure += (result.failure.empty() ? "" : "; ") + failure;
  result.full_check = std::move(full);
}

template <class Real>
void check(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Workspace<Real>& workspace,
           const MatrixSource& source, const Interchanges& interchanges, const std::vector<double>& x,
           RunResult& result) {
  if (result.passes_done || (result.checksums && result.checksums->stopped)) return;
  result.checked = parameters.threshold >= 0 && parameters.parts == RunParts::all;
  if (!result.singular_column && result.checked) {
    result.residual =
        compute_residual(*workspace.original, workspace.distribution, grid, precision_of_residual<Real>(parameters), x);
    double largest = largest_of_u(workspace, grid.position(), backend);
    all_reduce(grid.all(), &largest, 1, MPI_DOUBLE, MPI_MAX);
    result.growth = largest / result.residual.largest_a;
  }
  if (result.checked || result.singular_column || not_converged(result)) {
    result.failure = why_failed(result, parameters.threshold);
  }
  if (workspace.full_checker) add_full_check(grid, backend, workspace, source, interchanges, result);
  result.passed = result.checked && result.failure.empty();
}

}  // namespace

template <class Real>
CheckpointHeader checkpoint_header(const RunParameters& parameters, const ProcessGrid& grid,
                                   const CheckpointOptions& options) {
  const Distribution distribution = distribution_of(parameters, grid.shape());
  const Index rows = distribution.local_rows(grid.position()), columns = distribution.stored_columns(grid.position());
  return {.options = options,
          .run = {},
          .at = grid.position(),
          .rows = rows,
          .columns = columns,
          .piece_rows = std::max<Index>(1, matrix_strip_rows(rows, columns)),
          .element = sizeof(Real),
          .state_bytes = parameters.abft ? Checksums<Real>::state_bytes(distribution, grid.position()) : 0};
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void abort_run(const Timeline& timeline, const std::exception& error) {
  const std::string where = timeline.pass() < 0 ? "outside the passes" : "pass " + std::to_string(timeline.pass());
  abort_job(where + ": " + error.what());
}

template <class Real>
std::unique_ptr<NodeWindows> node_windows_of(const RunParameters& parameters, const ProcessGrid& grid, int threads,
                                             bool panels_on_device) {
  if (!uses_node_windows(parameters)) {
    spdlog::debug("broadcasts: no shared memory within a node");
    return nullptr;
  }
  const BroadcastSizes sizes =
      broadcast_sizes<Real>(parameters, grid.shape(), grid.position(), all_agree(grid.all(), panels_on_device));
  return make_node_windows(grid, sizes, threads);
}

template <class Real>
RunResult run(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
              const MatrixSource& source, const RunOptions& options) {
  constexpr double clock_falls_after = 0.2;  // seconds
  const double begun = MPI_Wtime();
  log_choices(parameters, grid);
  const NodeMemory node = node_memory_of(parameters, grid, backend);
  const auto workspace = allocate(parameters, grid, backend, timeline, source, options, node);
  RunResult result;
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
      upload_matrix(*workspace, grid.position(), backend, source);
    }
    if (backend.update_is_asynchronous() && MPI_Wtime() - begun > clock_falls_after) raise_clock(backend);
    sensors::Sampler sampler(options.sensors != nullptr ? share_of(grid, *options.sensors) : NoSensors{},
                             std::chrono::duration<double>(options.power_interval));
    const std::vector<double> x =
        solve(parameters, grid, backend, timeline, *workspace, options, interchanges, sampler, result);
    const PowerRecord power = power_record(options.sensors, sampler, timeline.epoch());
    const std::vector<Interval> measured = options.gather_timelines ? timeline.intervals() : std::vector<Interval>{};
    check(parameters, grid, backend, *workspace, source, interchanges, x, result);
    result.ranks = gather_rank_records(grid, backend.info(), measured, power, workspace->a->displaced_bytes());
    if (workspace->checksums) gather_mismatches(grid, workspace->checksums->mismatches(), result);
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
  const NodeMemory node{.windows = node_windows_of<Real>(parameters, grid, threads)};
  const auto workspace = make_collectively(
      grid.all(), [&] { return std::make_unique<LuWorkspace<Real>>(parameters, grid, *backend, timeline, node); });
  RunResult result;
  result.u_comes_with_rows = all_compute_u12(parameters.row_swap, parameters.pivoting, grid.shape());
  const WatchedSection watched;
  timeline.report_progress_to(own_progress());
  try {
    result.passes_done = factorize(parameters, grid, timeline, *workspace, progress, result).ended_before;
    result.factor_seconds = timeline.now();
    all_reduce(grid.all(), &result.factor_seconds, 1, MPI_DOUBLE, MPI_MAX);
    result.seconds = result.factor_seconds;
    result.end_time = seconds_since_1970();
    std::vector<Interval> messages = timeline.intervals();
    std::erase_if(messages, [](const Interval& interval) { return interval.lane != Lane::net; });
    result.ranks = gather_rank_records(grid, {}, messages);
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

template CheckpointHeader checkpoint_header<float>(const RunParameters&, const ProcessGrid&, const CheckpointOptions&);
template CheckpointHeader checkpoint_header<double>(const RunParameters&, const ProcessGrid&, const CheckpointOptions&);
template std::unique_ptr<NodeWindows> node_windows_of<float>(const RunParameters&, const ProcessGrid&, int, bool);
template std::unique_ptr<NodeWindows> node_windows_of<double>(const RunParameters&, const ProcessGrid&, int, bool);
template RunResult run(const RunParameters&, const ProcessGrid&, Backend<float>&, Timeline&, const MatrixSource&,
                       const RunOptions&);
template RunResult run(const RunParameters&, const ProcessGrid&, Backend<double>&, Timeline&, const MatrixSource&,
                       const RunOptions&);

}  // namespace glinpack
