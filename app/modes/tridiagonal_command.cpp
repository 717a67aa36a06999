
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/input/matrix_file.hpp"
#include "app/modes/fit.hpp"
#include "app/modes/mode_run.hpp"
#include "app/modes/modes.hpp"
#include "app/modes/tridiagonal_options.hpp"
#include "app/topology.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::app {

namespace {

using solvers::TridiagonalSettings;
using solvers::TridiagonalSystems;
using solvers::ZeroPivot;

constexpr int tridiagonal_fit_degree = 1;  // of the times over N
constexpr double residual_threshold = 16;  // HPL's threshold, for three elements per row instead of N

/// The number of systems and their order n.
struct SystemsExtents {
  Index count = 0;
  Index n = 0;
};

std::string size_text(const SystemsExtents& e) { return std::to_string(e.count) + "x" + std::to_string(e.n); }

/// The files' matrix and right-hand sides; empty without --input.
struct Inputs {
  CoordinateMatrix matrix;
  DenseMatrix right;
};

// Refuses elements that overflow single precision or are off the three diagonals.
void check_entry(const TridiagonalOptions& options, const CoordinateMatrix::Entry& entry) {
  const std::string where = "--input " + options.input + ": row " + std::to_string(entry.row + 1) + ", column " +
                            std::to_string(entry.column + 1);
  if (std::abs(entry.row - entry.column) > 1) {
    throw InputError(where + ": the element is not on one of the three diagonals; a tridiagonal matrix is expected");
  }
  if (options.precision == Precision::single &&
      std::abs(entry.value) > static_cast<double>(std::numeric_limits<float>::max())) {
    throw InputError(where + ": the element is beyond single precision, 3.4e38 at most; use --precision double");
  }
}

Inputs read_inputs(const TridiagonalOptions& options) {
  if (options.input.empty()) return {};
  const std::int64_t available = view_node().available_memory;
  Inputs inputs;
  inputs.matrix = read_coordinates(options.input, available, MatrixShape::square);
  for (const CoordinateMatrix::Entry& entry : inputs.matrix.entries) check_entry(options, entry);
  if (options.input_b.empty()) return inputs;
  inputs.right = read_matrix(options.input_b, available, MatrixShape::any);
  if (options.precision == Precision::single) {
    check_single_precision(options.input_b, inputs.right.elements, inputs.right.columns);
  }
  if (inputs.right.rows != inputs.matrix.rows) {
    throw InputError("--input " + options.input + ", --input-b " + options.input_b + ": the matrix has " +
                     std::to_string(inputs.matrix.rows) + " rows, but the right-hand sides " +
                     std::to_string(inputs.right.rows) + "; they must be the same");
  }
  return inputs;
}

std::vector<SystemsExtents> sizes_of(const TridiagonalOptions& options, const Inputs& inputs) {
  std::vector<Index> counts = options.systems, orders = options.n;
  if (!options.input.empty()) orders = {inputs.matrix.rows};
  if (!options.input_b.empty()) counts = {inputs.right.columns};
  if (counts.empty()) counts = {1};
  std::vector<SystemsExtents> sizes;
  for (const Index count : counts) {
    for (const Index n : orders) sizes.push_back({count, n});
  }
  return sizes;
}

template <class Real>
TridiagonalSystems<Real> make_systems(const TridiagonalOptions& options, const Inputs& inputs,
                                      const SystemsExtents& e) {
  auto systems = solvers::random_tridiagonal_systems<Real>(e.count, e.n, options.seed);
  if (options.input.empty()) return systems;
  for (std::vector<Real>* diagonal : {&systems.lower, &systems.diagonal, &systems.upper}) {
    std::fill(diagonal->begin(), diagonal->end(), Real{0});
  }
  for (Index s = 0; s < e.count; ++s) {
    for (const CoordinateMatrix::Entry& entry : inputs.matrix.entries) {
      std::vector<Real>& diagonal = entry.column < entry.row   ? systems.lower
                                    : entry.column > entry.row ? systems.upper
                                                               : systems.diagonal;
      diagonal[static_cast<std::size_t>(s * e.n + entry.row)] = static_cast<Real>(entry.value);
    }
    if (options.input_b.empty()) continue;
    for (Index i = 0; i < e.n; ++i) {
      systems.right[static_cast<std::size_t>(s * e.n + i)] =
          static_cast<Real>(inputs.right.elements[static_cast<std::size_t>(i * e.count + s)]);
    }
  }
  return systems;
}

/// The largest difference relative to the largest element; not finite if an element is not.
template <class Real>
double relative_difference(const std::vector<Real>& computed, const std::vector<Real>& expected) {
  double difference = 0, largest = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const double here = std::abs(static_cast<double>(computed[k]) - static_cast<double>(expected[k]));
    if (!std::isfinite(here)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, here);
    largest = std::max(largest, std::abs(static_cast<double>(expected[k])));
  }
  return largest > 0 ? difference / largest : difference;
}

std::string failure_text(const ZeroPivot& zero) {
  return "zero pivot: system " + std::to_string(zero.system + 1) + ", row " + std::to_string(zero.equation + 1);
}

template <class Real>
class TridiagonalRun {
 public:
  TridiagonalRun(const TridiagonalOptions& options, ModeRun& run, ModeMachine& machine)
      : options_(options), run_(run), machine_(machine) {}

  /// Returns the last solutions.
  const std::vector<Real>& measure(const TridiagonalSystems<Real>& systems) {
    measure_on_host(systems);
    for (const std::string& name : options_.variant) {
      const auto variant = tridiagonal_variant_from_name(name);
      if (variant) measure_on_device(systems, options_.settings_of(*variant));
    }
    return computed_;
  }

 private:
  ModeRecord record_of(const TridiagonalSystems<Real>& systems, std::string_view variant, std::string settings) const {
    if (options_.systems.size() > 1) settings += ", " + std::to_string(systems.count) + " systems";
    const double numbers = 5 * static_cast<double>(systems.count) * static_cast<double>(systems.n);
    return {.variant = std::string(variant),
            .settings = std::move(settings),
            .size = size_text({systems.count, systems.n}),
            .n = systems.n,
            .precision = options_.precision,
            .parameters = {{"systems", systems.count}, {"least_bytes", numbers * sizeof(Real)}},
            .flops = solvers::tridiagonal_flops(systems.count, systems.n)};
  }

  void measure_on_host(const TridiagonalSystems<Real>& systems) {
    const int threads = machine_.threads;
    ModeRecord record = record_of(systems, "lapack", std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
    record.is_rival = true;
    std::optional<ZeroPivot> zero;
    solvers::StageClock clock;
    record.times = run_.measure(clock, record.series() + ", " + record.size, record.flops, [&] {
      TridiagonalSystems<Real> copy;
      clock.measure(solvers::Stage::pack, [&] { copy = systems; });
      clock.measure(solvers::Stage::compute, [&] { zero = solve_tridiagonal_on_host(copy, threads); });
      expected_ = std::move(copy.right);
    });
    computed_ = expected_;
    judge(record, systems, zero, false);
  }

  void measure_on_device(const TridiagonalSystems<Real>& systems, const TridiagonalSettings& settings) {
    solvers::Device& device = *machine_.device;
    ModeRecord record = record_of(systems, name_of(settings.variant),
                                  describe(device.description(), settings, systems.count, systems.n));
    const auto solver = solvers::make_tridiagonal_solver<Real>(device, systems.count, systems.n, settings);
    std::optional<ZeroPivot> zero;
    computed_.assign(expected_.size(), Real{0});
    record.times = run_.measure(device.clock(), record.series() + ", " + record.size, record.flops, [&] {
      solver->load(systems);
      solver->compute();
      zero = solver->store(computed_);
    });
    judge(record, systems, zero, options_.input.empty());
  }

  // Random systems are well conditioned, so their solutions must agree. For other systems, only the residual is
  // checked.
  void judge(ModeRecord& record, const TridiagonalSystems<Real>& systems, const std::optional<ZeroPivot>& zero,
             bool against_lapack) {
    if (zero) {
      record.failure = failure_text(*zero);
    } else if (against_lapack) {
      record.check = ModeCheck{"LAPACK gtsv", relative_difference(computed_, expected_),
                               solvers::random_tridiagonal_condition * tolerance<Real>(systems.n)};
    } else {
      record.check = ModeCheck{"the equations, by their residual",
                               solvers::largest_tridiagonal_residual<Real>(systems, computed_), residual_threshold};
    }
    run_.add(std::move(record));
  }

  const TridiagonalOptions& options_;
  ModeRun& run_;
  ModeMachine& machine_;
  std::vector<Real> expected_, computed_;
};

bool needs_device(const TridiagonalOptions& options) {
  return std::any_of(options.variant.begin(), options.variant.end(),
                     [](const std::string& name) { return tridiagonal_variant_from_name(name).has_value(); });
}

void check_size(const TridiagonalOptions& options, const SystemsExtents& e, const ModeMachine& machine) {
  const std::string what = std::to_string(e.count) + " systems of " + std::to_string(e.n) + " equations";
  // the systems, LAPACK's copy, two solutions, and the staging buffer: four numbers per equation
  constexpr double numbers_of_an_equation = 4 + 4 + 2 + 4;
  check_host_memory(what, numbers_of_an_equation * static_cast<double>(factor_bytes(options.precision)) *
                              static_cast<double>(e.count) * static_cast<double>(e.n));
  for (const std::string& name : options.variant) {
    const auto variant = tridiagonal_variant_from_name(name);
    if (!variant) continue;
    const std::string obstacle = tridiagonal_obstacle(machine.device->description(), options.settings_of(*variant),
                                                      options.precision, e.count, e.n);
    if (!obstacle.empty()) throw InputError(what + ", variant " + name + ": " + obstacle);
  }
}

template <class Real>
DenseMatrix columns_of(const std::vector<Real>& solutions, const SystemsExtents& e) {
  DenseMatrix matrix{e.n, e.count, std::vector<double>(solutions.size())};
  for (Index s = 0; s < e.count; ++s) {
    for (Index i = 0; i < e.n; ++i) {
      matrix.elements[static_cast<std::size_t>(i * e.count + s)] =
          static_cast<double>(solutions[static_cast<std::size_t>(s * e.n + i)]);
    }
  }
  return matrix;
}

template <class Real>
int run_in(const TridiagonalOptions& options, const Inputs& inputs, ModeRun& run, ModeMachine& machine) {
  TridiagonalRun<Real> tridiagonal(options, run, machine);
  DenseMatrix result;
  for (const SystemsExtents& e : sizes_of(options, inputs)) {
    const std::vector<Real>& solutions = tridiagonal.measure(make_systems<Real>(options, inputs, e));
    if (!options.output.empty()) result = columns_of(solutions, e);
  }
  run.write_result([&](std::ostream& out) { write_matrix(out, options.output, result); });
  return run.finish(machine, tridiagonal_fit_degree);
}

}  // namespace

int run_tridiagonal(const ModeInvocation& invocation) {
  const TridiagonalOptions options = parse_tridiagonal_options(invocation.arguments);
  check_matrix_name(options.output);
  ModeRun run("tridiagonal", options, to_json(options, tridiagonal_table), invocation);
  const Inputs inputs = read_inputs(options);
  const std::vector<SystemsExtents> sizes = sizes_of(options, inputs);
  std::vector<Index> orders;
  for (const SystemsExtents& e : sizes) orders.push_back(e.n);
  check_fit(options.fit, orders, tridiagonal_fit_degree);
  ModeMachine machine = open_machine(options, needs_device(options));
  for (const SystemsExtents& e : sizes) check_size(options, e, machine);
  run.begin(machine);
  return options.precision == Precision::double_ ? run_in<double>(options, inputs, run, machine)
                                                 : run_in<float>(options, inputs, run, machine);
}

}  // namespace glinpack::app
