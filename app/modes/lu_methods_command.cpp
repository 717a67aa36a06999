
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "app/input/matrix_file.hpp"
#include "app/modes/fit.hpp"
#include "app/modes/lu_methods_options.hpp"
#include "app/modes/lu_methods_tables.hpp"
#include "app/modes/mode_run.hpp"
#include "app/modes/modes.hpp"
#include "app/topology.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/device/texture_matrix.hpp"
#include "solvers/lu_study/lu_drawing.hpp"
#include "solvers/lu_study/lu_unpivoted.hpp"

namespace glinpack::app {

namespace {

using solvers::LuDrawing;
using solvers::LuSettings;
using solvers::LuStrategy;
using Work = solvers::LuDrawing::Work;

constexpr int lu_methods_fit_degree = 3;  // of the times over N

/// A, its last computed factors, and the reference factors of plain loops in double precision. Row-major, n x n.
struct LuProblem {
  Index n = 0;
  std::vector<float> a;
  std::vector<float> factors;
  std::vector<double> exact;  // empty if a pivot is 0

  RowMajorView<const float> view_a() const { return {a.data(), n, n, n}; }
  RowMajorView<float> view_factors() { return {factors.data(), n, n, n}; }
};

/// Random elements in [-0.5, 0.5), with n added to the diagonal. Such a matrix needs no pivoting, because U does not
/// grow.
LuProblem make_problem(const LuMethodsOptions& options, const DenseMatrix& input, Index n) {
  LuProblem problem;
  problem.n = n;
  problem.a.resize(static_cast<std::size_t>(n * n));
  problem.factors.resize(problem.a.size());
  if (options.input.empty()) {
    std::mt19937_64 random(options.seed);
    std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
    for (float& value : problem.a) value = uniform(random);
    for (Index i = 0; i < n; ++i) problem.a[static_cast<std::size_t>(i * n + i)] += static_cast<float>(n);
  } else {
    std::transform(input.elements.begin(), input.elements.end(), problem.a.begin(),
                   [](double element) { return static_cast<float>(element); });
  }
  problem.exact.assign(problem.a.begin(), problem.a.end());
  if (factorize_without_pivoting<double>({problem.exact.data(), n, n, n})) problem.exact.clear();
  return problem;
}

/// The factors' largest error relative to the largest exact element; null if it is unknown or not finite.
nlohmann::json difference_of(const LuProblem& problem) {
  double difference = 0, largest = 0;
  for (std::size_t e = 0; e < problem.exact.size(); ++e) {
    if (!std::isfinite(problem.factors[e])) return {};
    difference = std::max(difference, std::abs(static_cast<double>(problem.factors[e]) - problem.exact[e]));
    largest = std::max(largest, std::abs(problem.exact[e]));
  }
  const double relative = difference / largest;
  return std::isfinite(relative) ? nlohmann::json(relative) : nlohmann::json();
}

class LuMethodsRun {
 public:
  LuMethodsRun(const LuMethodsOptions& options, ModeRun& run, ModeMachine& machine)
      : options_(options),
        run_(run),
        machine_(machine),
        clock_(machine.device->description().software ? LuClock::differences : LuClock::timer_queries) {}

  void measure_fetches() {
    fetch_rate_ = solvers::texel_fetch_rate(*machine_.device, {.repeat = 5, .seconds = 0.25}).most;
    run_.add_to_json("texel_fetch_bytes_per_second", fetch_rate_);
  }
  void measure(LuProblem& problem) {
    measure_rival(problem);
    for (const LuSettings& settings : options_.drawn()) measure_drawn(problem, settings);
    if (options_.blocked()) measure_blocked(problem);
  }
  void print_tables() {
    run_.print(lu_tables(figures_, clock_, fetch_rate_));
    run_.print(lu_errors_table(run_.records()));
  }

 private:
  ModeRecord record_of(const LuProblem& problem, std::string variant) const {
    const auto n = static_cast<double>(problem.n);
    return {
        .variant = std::move(variant), .size = std::to_string(problem.n), .n = problem.n, .flops = 2 * n * n * n / 3};
  }
  void measure_rival(const LuProblem& problem);
  void measure_drawn(LuProblem& problem, const LuSettings& settings);
  void measure_blocked(LuProblem& problem);
  /// Measures once() with the requested repetitions. A zero pivot becomes the record's failure.
  MeasuredStages measure(solvers::StageClock& clock, ModeRecord& record, const std::function<void()>& once);
  double seconds_of(LuDrawing& drawing, const LuProblem& problem, const std::string& label, Work work);
  LuDrawing::DeviceSeconds device_seconds_of(LuDrawing& drawing, const LuProblem& problem, Work work);
  LuFigures figures_of(LuDrawing& drawing, const LuProblem& problem, const ModeRecord& record,
                       const LuSettings& settings);
  void judge(ModeRecord& record, LuProblem& problem);

  const LuMethodsOptions& options_;
  ModeRun& run_;
  ModeMachine& machine_;
  LuClock clock_;
  double fetch_rate_ = 0;
  std::vector<LuFigures> figures_;
};

MeasuredStages LuMethodsRun::measure(solvers::StageClock& clock, ModeRecord& record,
                                     const std::function<void()>& once) {
  return run_.measure(clock, record.series() + ", " + record.size, record.flops, [&] {
    if (!record.failure.empty()) return;
    try {
      once();
    } catch (const solvers::SingularMatrixError& error) {
      record.failure = error.what();
    }
  });
}

// LAPACK has no LU without pivoting, so the rival is getrf, which swaps rows.
void LuMethodsRun::measure_rival(const LuProblem& problem) {
  ModeRecord record = record_of(problem, "openblas");
  record.settings = "pivoting";
  record.is_rival = true;
  solvers::StageClock clock;
  record.times = measure(clock, record, [&] {
    std::vector<float> a;
    clock.measure(solvers::Stage::pack, [&] { a = problem.a; });
    clock.measure(solvers::Stage::compute, [&] {
      solve_on_host<float>({a.data(), problem.n, problem.n, problem.n}, {nullptr, 0, 0, 1});
    });
  });
  run_.add(std::move(record));
}

void LuMethodsRun::judge(ModeRecord& record, LuProblem& problem) {
  if (!record.failure.empty()) return;
  record.check =
      ModeCheck{"A = L U, element by element", elementwise_residual(problem.view_a(), problem.view_factors()),
                solvers::largest_scaled_residual};
  record.parameters["difference"] = difference_of(problem);
}

void LuMethodsRun::measure_drawn(LuProblem& problem, const LuSettings& settings) {
  LuDrawing drawing(*machine_.device, problem.n, settings);
  ModeRecord record = record_of(problem, std::string(name_of(settings.method)));
  record.settings = name_of(settings.strategy);
  std::fill(problem.factors.begin(), problem.factors.end(), 0.0F);
  record.times = measure(machine_.device->clock(), record, [&] {
    drawing.load(problem.view_a());
    drawing.run();
    drawing.store(problem.view_factors());
  });
  judge(record, problem);
  if (record.failure.empty()) {
    figures_.push_back(figures_of(drawing, problem, record, settings));
    record.parameters.update(to_json(figures_.back(), clock_));
  }
  run_.add(std::move(record));
}

double LuMethodsRun::seconds_of(LuDrawing& drawing, const LuProblem& problem, const std::string& label, Work work) {
  return run_
      .measure(machine_.device->clock(), label, 0,
               [&] {
                 drawing.load(problem.view_a());
                 drawing.run(work);
               })
      .compute.least;
}

LuDrawing::DeviceSeconds LuMethodsRun::device_seconds_of(LuDrawing& drawing, const LuProblem& problem, Work work) {
  std::vector<double> passes, copies;
  for (int round = 0; round < options_.repeat; ++round) {
    drawing.load(problem.view_a());
    const LuDrawing::DeviceSeconds seconds = drawing.run_timed(work);
    passes.push_back(seconds.passes);
    copies.push_back(seconds.copies);
  }
  return {spread_of(std::move(passes)).least, spread_of(std::move(copies)).least};
}

LuFigures LuMethodsRun::figures_of(LuDrawing& drawing, const LuProblem& problem, const ModeRecord& record,
                                   const LuSettings& settings) {
  LuFigures figures{.settings = settings, .n = problem.n, .counts = drawing.counts(), .breakdown = {}, .access = {}};
  const std::string label = record.series() + ", " + record.size;
  const bool copying = settings.strategy == LuStrategy::copying;
  LuBreakdown& b = figures.breakdown;
  b.whole = record.times.compute.least;
  LuAccess& access = figures.access;
  if (clock_ == LuClock::timer_queries) {
    const LuDrawing::DeviceSeconds seconds = device_seconds_of(drawing, problem, Work::whole);
    b.device = seconds.passes;
    if (copying) b.copying = seconds.copies;
    b.host = b.whole - b.device - b.copying.value_or(0);
    access.seconds = device_seconds_of(drawing, problem, Work::access).passes;
  } else {
    b.host = seconds_of(drawing, problem, label + ", commands alone", Work::commands);
    if (copying) b.copying = b.whole - seconds_of(drawing, problem, label + ", without copies", Work::without_copies);
    b.device = b.whole - b.host - b.copying.value_or(0);
    access.seconds = seconds_of(drawing, problem, label + ", accesses alone", Work::access) - b.host;
  }
  access.bytes = static_cast<double>(figures.counts.read_bytes);
  if (access.seconds > 0 && access.bytes > 0) {
    access.bytes_per_second = access.bytes / access.seconds;
    access.share = *access.bytes_per_second / fetch_rate_;
  }
  return figures;
}

void LuMethodsRun::measure_blocked(LuProblem& problem) {
  solvers::LuUnpivoted blocked(machine_.device->description().index, machine_.threads, options_.shader_dir, problem.n);
  ModeRecord record = record_of(problem, blocked_lu_name);
  record.settings = "blocks of " + std::to_string(solvers::LuUnpivoted::block);
  std::fill(problem.factors.begin(), problem.factors.end(), 0.0F);
  record.times = measure(blocked.clock(), record, [&] { blocked.factorize(problem.view_a(), problem.view_factors()); });
  judge(record, problem);
  run_.add(std::move(record));
}

/// Throws InputError if the host has too little memory or the device cannot hold the matrix.
void check_size(const LuMethodsOptions& options, Index n, const ModeMachine& machine) {
  const std::string what = "a matrix of order " + std::to_string(n);
  const double elements = static_cast<double>(n) * static_cast<double>(n);
  const gl::DeviceDescription& device = machine.device->description();
  for (const LuSettings& settings : options.drawn()) {
    const std::string message = LuDrawing::obstacle(device, n, settings);
    if (!message.empty()) throw InputError(what + ", method " + std::string(name_of(settings.method)) + ": " + message);
  }
  const double blocked = options.blocked() ? 4 * elements : 0;
  if (!device.software && device.free_memory > 0 && blocked > static_cast<double>(device.free_memory)) {
    throw InputError(what + ", method compute: it is larger than the memory that is free on " + device.renderer +
                     "; use a smaller N");
  }
  // A, its factors, LAPACK's copy, the staging buffer, exact factors, and four matrices of the residual
  double bytes = elements * (3 * 4 + 4 + solvers::lu_texel_bytes + 5 * 8);
  if (device.software) bytes += std::max(blocked, options.drawn().empty() ? 0 : elements * 2 * solvers::lu_texel_bytes);
  check_host_memory(what, bytes);
}

DenseMatrix read_input(const LuMethodsOptions& options) {
  if (options.input.empty()) return {};
  DenseMatrix input = read_matrix(options.input, view_node().available_memory);
  check_single_precision(options.input, input.elements, input.columns);
  return input;
}

}  // namespace

int run_lu_methods(const ModeInvocation& invocation) {
  const LuMethodsOptions options = parse_lu_methods_options(invocation.arguments);
  check_matrix_name(options.output);
  ModeRun run("lu-methods", options, to_json(options, lu_methods_table), invocation);
  const DenseMatrix input = read_input(options);
  const std::vector<Index> orders = options.input.empty() ? options.n : std::vector<Index>{input.rows};
  check_fit(options.fit, orders, lu_methods_fit_degree);
  ModeMachine machine = open_machine(options, true);
  for (const Index n : orders) check_size(options, n, machine);
  run.begin(machine);
  LuMethodsRun measuring(options, run, machine);
  if (!options.drawn().empty()) measuring.measure_fetches();
  DenseMatrix result;
  for (const Index n : orders) {
    LuProblem problem = make_problem(options, input, n);
    measuring.measure(problem);
    result = {};
    if (run.records().back().failure.empty()) {
      result = {n, n, {problem.factors.begin(), problem.factors.end()}};
    }
  }
  measuring.print_tables();
  if (!result.elements.empty()) run.write_result([&](std::ostream& out) { write_matrix(out, options.output, result); });
  return run.finish(machine, lu_methods_fit_degree);
}

}  // namespace glinpack::app
