#include "global/run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <sstream>

#include "global/communication.hpp"
#include "global/device_panel_rows.hpp"
#include "global/factorize.hpp"
#include "global/make_steps.hpp"
#include "global/node_windows.hpp"
#include "global/original_matrix.hpp"
#include "global/records.hpp"
#include "global/refinement.hpp"
#include "global/residual.hpp"
#include "global/substitute.hpp"
#include "local/parallel_for.hpp"

namespace glinpack {

namespace {

// The matrix is generated and uploaded in strips of about this many elements.
constexpr Index strip_elements = Index{1} << 22;

using NoSensors = std::vector<sensors::Sensor*>;

Index strip_rows(Index rows, Index columns) {
  return std::min(rows, std::max<Index>(1, strip_elements / std::max<Index>(1, columns)));
}

// What residuals are computed from, and its precision.
template <class Real>
Precision precision_of_residual(const RunParameters& parameters) {
  return parameters.refine ? Precision::double_ : precision_of<Real>;
}

// By a GPU where one can. Software OpenGL has the processor alone, which is faster without it.
template <class Real>
std::unique_ptr<OriginalMatrix> original_matrix(const RunParameters& parameters, const Distribution& distribution,
                                                GridPosition at, const MatrixSource& source, Backend<Real>& backend,
                                                Timeline& timeline, const RunOptions& options) {
  const Precision precision = precision_of_residual<Real>(parameters);
  std::unique_ptr<OriginalMatrix> matrix;
  if (backend.asynchronous() || options.software_gl_as_gpu) {
    matrix = original_matrix_on_device(distribution, at, source, precision, backend);
  }
  if (!matrix) {
    matrix = original_matrix_on_host(distribution, at, source, precision, backend.info().threads, timeline);
  }
  return matrix;
}

/// Everything that a rank holds during a run. Made before the first collective call, so that a rank that cannot
/// allocate it can still tell the others.
template <class Real>
struct Workspace {
  Distribution distribution;
  std::unique_ptr<DeviceMatrix<Real>> a;
  std::unique_ptr<FactorizationSteps> steps;
  BackwardSubstitution<Real> substitution;
  std::unique_ptr<Refiner<Real>> refiner;  // where the run refines
  std::unique_ptr<HostBuffer<Real>> strip;
  std::unique_ptr<OriginalMatrix> original;

  Workspace(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
            const MatrixSource& source, const RunOptions& options, NodeWindows* windows)
      : distribution(distribution_of(parameters, grid.shape())),
        a(backend.allocate(distribution.local_rows(grid.position()), distribution.local_columns(grid.position()))),
        steps(make_steps(parameters, distribution, grid, backend, timeline, *a, windows)),
        substitution(distribution, grid, backend, timeline, *a,
                     parameters.refine ? Solutions::several : Solutions::one),
        strip(backend.allocate_host(strip_rows(a->rows(), a->columns()) * a->columns())),
        original(original_matrix(parameters, distribution, grid.position(), source, backend, timeline, options)) {
    if (!parameters.refine) return;
    refiner = std::make_unique<Refiner<Real>>(parameters, distribution, grid, backend, timeline, substitution);
  }
};

template <class Real>
std::unique_ptr<Workspace<Real>> allocate(const RunParameters& parameters, const ProcessGrid& grid,
                                          Backend<Real>& backend, Timeline& timeline, const MatrixSource& source,
                                          const RunOptions& options, NodeWindows* windows) {
  return made_by_all(grid.all(), [&] {
    return std::make_unique<Workspace<Real>>(parameters, grid, backend, timeline, source, options, windows);
  });
}

/// Calls body(first local row, strip in host memory) for all local rows, strip by strip.
template <class Real, class Body>
void for_each_strip(Workspace<Real>& workspace, Body body) {
  const DeviceMatrix<Real>& a = *workspace.a;
  const Index rows = strip_rows(a.rows(), a.columns());
  for (Index first = 0; first < a.rows() && a.columns() > 0; first += rows) {
    body(first, HostBlock<Real>{workspace.strip.get(), 0, std::min(rows, a.rows() - first), a.columns(), a.columns()});
  }
}

template <class Real>
void upload_matrix(Workspace<Real>& workspace, GridPosition at, Backend<Real>& backend, const MatrixSource& source) {
  for_each_strip(workspace, [&](Index first, const HostBlock<Real>& strip) {
    const RowMajorView<Real> to = strip.view();
    parallel_for(backend.info().threads, strip.rows, Index{1}, [&](Index begin, Index end) {
      std::vector<double> row(static_cast<std::size_t>(strip.columns));
      for (Index i = begin; i < end; ++i) {
        source.fill(workspace.distribution, at, LocalIndex(first + i), {row.data(), 1, strip.columns, strip.columns});
        std::transform(row.begin(), row.end(), to.row(i), [](double value) { return static_cast<Real>(value); });
      }
    });
    backend.wait(backend.upload(strip, whole(*workspace.a).block(first, 0, strip.rows, strip.columns)));
  });
}

/// max |u_ij| of this rank's part of U.
template <class Real>
double largest_of_u(Workspace<Real>& workspace, GridPosition at, Backend<Real>& backend) {
  const Distribution& distribution = workspace.distribution;
  double largest = 0;
  for_each_strip(workspace, [&](Index first, const HostBlock<Real>& strip) {
    backend.wait(backend.download(whole(*workspace.a).block(first, 0, strip.rows, strip.columns), strip));
    const Index end = distribution.columns.lower_bound(distribution.right_hand_side(), at.column).value;
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

// Without messages, a zero pivot is known to the rank that met it alone.
void agree_on_zero_pivot(const ProcessGrid& grid, Factorization& factors) {
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = factors.zero_pivot ? factors.zero_pivot->value : none;
  all_reduce(grid.all(), &first, 1, MPI_INT64_T, MPI_MIN);
  if (first != none) factors.zero_pivot = GlobalIndex(first);
}

/// The timed section: factorisation and solution, refined where asked for. Times are the slowest rank's.
template <class Real>
std::vector<double> solve(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend,
                          Timeline& timeline, Workspace<Real>& workspace, const RunOptions& options,
                          sensors::Sampler& sampler, RunResult& result) {
  // what the upload took belongs to no run
  backend.wait_all();
  backend.collect_timings();
  sampler.start();
  barrier(grid.all());
  result.start_time = seconds_since_1970();
  timeline.restart();
  const ProgressObserver progress = grid.is_root() ? options.progress : ProgressObserver{};
  if (progress) progress(0);
  Factorization factors = factorize(parameters, workspace.distribution, grid, timeline, *workspace.steps, progress);
  result.passes_done = factors.ended_before;
  const bool solves = parameters.parts == RunParts::all && !result.passes_done;
  backend.wait_all();
  double times[3] = {timeline.now(), 0, 0};
  if (parameters.parts != RunParts::all) agree_on_zero_pivot(grid, factors);
  std::vector<double> x;
  if (factors.zero_pivot) {
    result.singular_column = factors.zero_pivot->value;
  } else if (solves) {
    const std::vector<Real> solution = workspace.substitution.run();
    x.assign(solution.begin(), solution.end());
    times[2] = timeline.now();
    if (workspace.refiner) result.refinement = workspace.refiner->run(factors, *workspace.original, x);
  }
  times[1] = solves ? timeline.now() : times[0];
  all_reduce(grid.all(), times, 3, MPI_DOUBLE, MPI_MAX);
  if (result.refinement) result.refinement->seconds = times[1] - times[2];
  result.end_time = seconds_since_1970();
  backend.collect_timings();
  result.factor_seconds = times[0];
  result.seconds = times[1];
  result.solve_seconds = times[1] - times[0];
  if (result.passes_done) return x;
  result.gflops = (solves ? hpl_flops(parameters.n) : factorization_flops(parameters.n)) / result.seconds * 1e-9;
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
void check(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Workspace<Real>& workspace,
           const std::vector<double>& x, RunResult& result) {
  if (result.passes_done) return;
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
  result.passed = result.checked && result.failure.empty();
}

}  // namespace

std::string_view name_of(Refinement::Method method) {
  switch (method) {
    case Refinement::Method::factors:
      return "factors";
    case Refinement::Method::classical:
      return "classical";
    case Refinement::Method::gmres:
      return "GMRES";
  }
  return "?";
}

int Refinement::iterations_of(Method method) const {
  return static_cast<int>(
      std::count_if(history.begin(), history.end(), [method](const Step& step) { return step.method == method; }));
}

Distribution distribution_of(const RunParameters& parameters, GridShape grid) {
  return {parameters.n, std::min(parameters.nb, parameters.n), grid};
}

Index rows_above_panels(const RunParameters& parameters, const Distribution& distribution) {
  return all_compute_u12(parameters.row_swap, parameters.pivoting, distribution.shape) ? distribution.nb : 0;
}

double hpl_flops(Index n) {
  const auto order = static_cast<double>(n);
  return order * order * (2.0 / 3.0 * order + 1.5);
}

double factorization_flops(Index n) {
  const auto order = static_cast<double>(n);
  return order * order * (2.0 / 3.0 * order + 0.5);
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void abort_run(const Timeline& timeline, const std::exception& error) {
  const std::string where = timeline.pass() < 0 ? "outside the passes" : "pass " + std::to_string(timeline.pass());
  abort_job(where + ": " + error.what());
}

MemoryNeed memory_per_rank(const RunParameters& parameters, const Distribution& distribution, GridPosition position,
                           Precision precision, int device_copies) {
  const auto element = static_cast<double>(factor_bytes(precision));
  const auto rows = static_cast<double>(distribution.local_rows(position));
  const auto columns = static_cast<double>(distribution.local_columns(position));
  const Index width = std::min(parameters.nb, parameters.n);
  const auto nb = static_cast<double>(width);
  const auto above = static_cast<double>(rows_above_panels(parameters, distribution));
  const bool device_panels = parameters.panel != PanelPlace::host && panels_may_be_on_device(parameters.pivoting);
  const double panels = device_panels ? 2 : 1;
  const bool in_matrix = device_panels && distribution.shape.rows > 1;
  const auto strips =
      in_matrix ? static_cast<double>(device_panel_elements(distribution.local_rows(position), width)) : 0.0;
  // A; L11 and L21, U12, rows on the move; what a panel of several devices takes; y, x
  const double device =
      device_copies * (rows * columns + nb * (panels * (above + rows) + 3 * columns) + strips + rows + nb);
  const double travelling_rows = distribution.shape.rows > 1 ? 3 * nb * columns : 0;  // U12, rows in, rows out
  const double strip = std::min(rows * columns, std::max(columns, static_cast<double>(strip_elements)));
  const double panel = nb * (above + rows + 2 * nb);
  // what stands in for messages: a panel, U12
  const double stand_ins = parameters.parts == RunParts::compute ? panel + travelling_rows / 3 : 0;
  // two slots for panels and two for U12, each for two ranks of a node at least
  const bool shares = takes_node_windows(parameters);
  const double windows = shares ? (distribution.shape.columns > 1 ? panel : 0) + travelling_rows / 3 : 0;
  const double host = 2 * panel + travelling_rows + strip + stand_ins + windows;
  const auto bytes = [element](double elements) {
    constexpr double most = 9e18;  // fits std::int64_t
    return static_cast<std::int64_t>(std::min(most, elements * element));
  };
  if (parameters.parts == RunParts::messages) return {bytes(panel + travelling_rows + windows), 0};
  if (precision != Precision::mixed) return {bytes(host), bytes(device)};
  // the right-hand side of a solution with the factors, twice; rows on the move; diagonal blocks; and what is in double
  // precision
  const auto blocks = static_cast<double>(diagonal_blocks_on_host(distribution, position, Solutions::several));
  const double refinement =
      (2 * rows + (2 + blocks * nb) * nb) * element + refinement_elements(distribution, position) * sizeof(double);
  return {bytes(host + refinement / element), bytes(device)};
}

template <class Real>
RunResult run(const RunParameters& parameters, const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
              const MatrixSource& source, const RunOptions& options) {
  const Distribution distribution = distribution_of(parameters, grid.shape());
  const auto windows = make_node_windows<Real>(parameters, distribution, grid, backend.info().threads);
  const auto workspace = allocate(parameters, grid, backend, timeline, source, options, windows.get());
  RunResult result;
  result.u_comes_with_rows = all_compute_u12(parameters.row_swap, parameters.pivoting, grid.shape());
  const WatchedSection watched;
  timeline.tell(own_progress());
  try {
    upload_matrix(*workspace, grid.position(), backend, source);
    sensors::Sampler sampler(options.sensors != nullptr ? share_of(grid, *options.sensors) : NoSensors{},
                             std::chrono::duration<double>(options.power_interval));
    const std::vector<double> x = solve(parameters, grid, backend, timeline, *workspace, options, sampler, result);
    const PowerRecord power = power_record(options.sensors, sampler, timeline.epoch());
    const std::vector<Interval> measured = options.gather_timelines ? timeline.intervals() : std::vector<Interval>{};
    check(parameters, grid, backend, *workspace, x, result);
    result.ranks = gather_rank_records(grid, backend.info(), measured, power, workspace->a->displaced_bytes());
    if (options.gather_solution && !result.passes_done && !result.singular_column &&
        parameters.parts == RunParts::all) {
      result.solution = gather_solution(workspace->distribution, grid, x);
    }
  } catch (const std::exception& error) {
    abort_run(timeline, error);
  }
  return result;
}

template RunResult run(const RunParameters&, const ProcessGrid&, Backend<float>&, Timeline&, const MatrixSource&,
                       const RunOptions&);
template RunResult run(const RunParameters&, const ProcessGrid&, Backend<double>&, Timeline&, const MatrixSource&,
                       const RunOptions&);

}  // namespace glinpack
