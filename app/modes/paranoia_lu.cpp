#include "app/modes/paranoia_lu.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "backend/registry.hpp"
#include "matrix/matrix_source.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/elimination/elimination.hpp"
#include "solvers/lu_study/factorize_on_backend.hpp"

namespace glinpack::app {

namespace {

constexpr Index block_columns = 32;

/// The system A x = b in one precision, and its exact solution in double precision.
template <class Real>
struct TestedSystem {
  Index n = 0;
  std::vector<Real> a, b;  // row-major
  std::vector<double> a_in_double, b_in_double;
  std::vector<double> exact;  // x; empty if unknown

  RowMajorView<const double> view_in_double() const { return {a_in_double.data(), n, n, n}; }
};

template <class Real>
TestedSystem<Real> problem_of(const ParanoiaOptions& options, Index n) {
  TestedSystem<Real> problem{.n = n, .a = {}, .b = {}, .a_in_double = {}, .b_in_double = {}, .exact = {}};
  std::vector<double> augmented(static_cast<std::size_t>(n * (n + 1)));
  const RowMajorView<double> view{augmented.data(), n, n + 1, n + 1};
  make_source(options.matrix, n, options.seed)->fill(Distribution(n, n, {1, 1}), {0, 0}, LocalIndex(0), view);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) problem.a.push_back(static_cast<Real>(view(i, j)));
    problem.b.push_back(static_cast<Real>(view(i, n)));
  }
  problem.a_in_double.assign(problem.a.begin(), problem.a.end());
  problem.b_in_double.assign(problem.b.begin(), problem.b.end());
  problem.exact = accurate_solution(problem.view_in_double(), problem.b_in_double);
  return problem;
}

/// Column-major factors in LAPACK's layout.
template <class Real>
struct Factors {
  explicit Factors(Index n) : elements(static_cast<std::size_t>(n * n)), pivots(static_cast<std::size_t>(n)) {}
  ColumnMajorView<Real> view() {
    const auto n = static_cast<Index>(pivots.size());
    return {elements.data(), n, n, n};
  }

  std::vector<Real> elements;
  std::vector<Index> pivots;
};

template <class Real>
void transpose(RowMajorView<const Real> from, ColumnMajorView<Real> to) {
  for (Index i = 0; i < from.rows; ++i) {
    for (Index j = 0; j < from.columns; ++j) to(i, j) = from(i, j);
  }
}

/// Returns false for a singular matrix.
template <class Real>
bool factorize_on_device(Backend<Real>& backend, const TestedSystem<Real>& problem, Factors<Real>& factors) {
  const Index n = problem.n;
  const auto matrix = backend.allocate(n, n);
  const auto buffer = backend.allocate_host(n * n);
  const HostBlock<Real> on_host_side{buffer.get(), 0, n, n, n};
  std::copy(problem.a.begin(), problem.a.end(), buffer->data());
  backend.wait(backend.upload(on_host_side, whole(*matrix)));
  if (factorize_on_backend(backend, *matrix, block_columns, std::span<Index>(factors.pivots))) return false;
  backend.wait(backend.download(whole(*matrix), on_host_side));
  transpose<Real>(on_host_side.view(), factors.view());
  return true;
}

template <class Real>
bool factorize_by_lapack(const TestedSystem<Real>& problem, Factors<Real>& factors) {
  transpose<Real>({problem.a.data(), problem.n, problem.n, problem.n}, factors.view());
  return factorize_on_host(factors.view(), factors.pivots) == 0;
}

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::isnan(value) ? value : std::max(largest, std::abs(value));
  return largest;
}

double row_sum_norm(RowMajorView<const double> a) {
  double largest = 0;
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (Index j = 0; j < a.columns; ++j) sum += std::abs(a(i, j));
    largest = std::max(largest, sum);
  }
  return largest;
}

template <class Real>
void judge(ModeRecord& record, const TestedSystem<Real>& problem, const std::vector<Real>& solution) {
  const double epsilon = epsilon_of(precision_of<Real>);
  const std::vector<double> x(solution.begin(), solution.end());
  const RowMajorView<const double> a = problem.view_in_double();
  const double x_norm = largest_of(x);
  if (!std::isfinite(x_norm)) {
    record.failure = "the solution is not finite";
    return;
  }
  const double residual = largest_of(accurate_residual(a, x, {}, problem.b_in_double));
  const double scale = row_sum_norm(a) * x_norm + largest_of(problem.b_in_double);
  const double backward = scale > 0 ? residual / scale / epsilon : 0;
  record.parameters["backward_error"] = backward;
  record.check = ModeCheck{"A and b", backward / static_cast<double>(problem.n), solvers::largest_scaled_residual};
  if (problem.exact.empty()) return;
  std::vector<double> difference(x);
  for (std::size_t i = 0; i < x.size(); ++i) difference[i] -= problem.exact[i];
  record.parameters["forward_error"] = largest_of(difference) / largest_of(problem.exact) / epsilon;
}

template <class Real>
class LuErrors {
 public:
  LuErrors(const ParanoiaOptions& options, ModeRun& run, const ModeMachine& machine) : options_(options), run_(run) {
    if (!options.has_variant("compute")) return;
    BackendOptions backend;
    backend.threads = machine.threads;
    backend.device = machine.device->description().index;
    // a shader folder with only the arithmetic lacks the backend's shaders
    if (std::filesystem::is_directory(std::filesystem::path(options.shader_dir) / "compute")) {
      backend.shader_directory = options.shader_dir;
    }
    backend_ = make_backend<Real>(on_device_, backend, timeline_);
  }

  void measure(Index n) {
    const TestedSystem<Real> problem = problem_of<Real>(options_, n);
    if (backend_) {
      add(problem, on_device_, false,
          [&](Factors<Real>& factors) { return factorize_on_device(*backend_, problem, factors); });
    }
    if (options_.has_variant("cpu")) {
      add(problem, openblas_record.name, true,
          [&](Factors<Real>& factors) { return factorize_by_lapack(problem, factors); });
    }
  }

 private:
  template <class Factorize>
  void add(const TestedSystem<Real>& problem, std::string_view variant, bool is_rival, const Factorize& factorize) {
    ModeRecord record{
        .variant = std::string(variant),
        .size = std::to_string(problem.n),
        .n = problem.n,
        .precision = precision_of<Real>,
        .parameters = {{"matrix", name_of(options_.matrix)}, {"forward_error", nullptr}, {"backward_error", nullptr}},
        .is_rival = is_rival};
    Factors<Real> factors(problem.n);
    bool regular = false;
    solvers::StageClock clock;
    run_.measure(clock, record.variant + ", " + record.size, 0, [&] { regular = factorize(factors); });
    if (!regular) {
      record.failure = "the matrix is singular";
    } else {
      std::vector<Real> x = problem.b;
      substitute_on_host<Real>(factors.view(), factors.pivots, {x.data(), problem.n, 1, problem.n});
      judge(record, problem, x);
    }
    run_.keep(std::move(record));
  }

  const ParanoiaOptions& options_;
  ModeRun& run_;
  const std::string_view on_device_ = automatic_backend(MemorySpace::device).name;
  Timeline timeline_;
  std::unique_ptr<Backend<Real>> backend_;
};

template <class Real>
void measure_in(const ParanoiaOptions& options, ModeRun& run, const ModeMachine& machine) {
  LuErrors<Real> errors(options, run, machine);
  for (const Index n : options.n) errors.measure(n);
}

}  // namespace

void check_lu_sizes(const ParanoiaOptions& options, const ModeMachine& machine) {
  constexpr double matrices = 6;  // in double precision: [A | b], A, its factors, those of the exact solution, buffers
  for (const Index n : options.n) {
    const double bytes = static_cast<double>(n) * static_cast<double>(n) * sizeof(double);
    check_host_memory("--n " + std::to_string(n), matrices * bytes);
    if (!machine.device || !options.has_variant("compute")) continue;
    const auto free = static_cast<double>(machine.device->description().free_memory);
    if (free > 0 && bytes > free) {
      throw InputError("--n " + std::to_string(n) + ": the matrix does not fit the memory that " +
                       machine.device->description().renderer + " has free; use a smaller N");
    }
  }
}

void measure_lu_errors(const ParanoiaOptions& options, ModeRun& run, const ModeMachine& machine) {
  for (const Precision precision : options.precision) {
    precision == Precision::single ? measure_in<float>(options, run, machine)
                                   : measure_in<double>(options, run, machine);
  }
}

}  // namespace glinpack::app
