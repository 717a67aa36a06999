#include "app/modes/matmul_command.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "app/input/matrix_file.hpp"
#include "app/modes/fit.hpp"
#include "app/modes/mode_run.hpp"
#include "app/topology.hpp"
#include "local/host/flops.hpp"
#include "local/openblas/host_solvers.hpp"

namespace glinpack::app {

namespace {

using solvers::MatmulSettings;
using solvers::MatmulVariant;
using solvers::ProductExtents;

constexpr int fit_degree = 3;  // of the times over N, as in the paper
constexpr const char* rival_name = "openblas";

std::string size_text(const ProductExtents& e) {
  if (e.rows == e.depth && e.depth == e.columns) return std::to_string(e.rows);
  return std::to_string(e.rows) + "x" + std::to_string(e.depth) + "x" + std::to_string(e.columns);
}

double count(Index rows, Index columns) { return static_cast<double>(rows) * static_cast<double>(columns); }

/// A, B, and C as the host computes it.
template <class Real>
struct Problem {
  explicit Problem(const ProductExtents& e)
      : extents(e),
        a(static_cast<std::size_t>(e.rows * e.depth)),
        b(static_cast<std::size_t>(e.depth * e.columns)),
        expected(static_cast<std::size_t>(e.rows * e.columns)),
        computed(expected.size()) {}

  RowMajorView<const Real> view_a() const { return {a.data(), extents.rows, extents.depth, extents.depth}; }
  RowMajorView<const Real> view_b() const { return {b.data(), extents.depth, extents.columns, extents.columns}; }
  RowMajorView<Real> view_of(std::vector<Real>& c) const {
    return {c.data(), extents.rows, extents.columns, extents.columns};
  }

  ProductExtents extents;
  std::vector<Real> a, b, expected, computed;
};

/// Largest |difference| over max |a| max |b|, which tolerance() bounds: c k epsilon.
template <class Real>
double scale_of(const Problem<Real>& problem) {
  const auto largest = [](const std::vector<Real>& values) {
    double magnitude = 0;
    for (const Real value : values) magnitude = std::max(magnitude, std::abs(static_cast<double>(value)));
    return magnitude;
  };
  const double scale = largest(problem.a) * largest(problem.b);
  return scale > 0 ? scale : 1;
}

template <class Real>
double error_of(const Problem<Real>& problem) {
  double largest = 0;
  for (std::size_t e = 0; e < problem.expected.size(); ++e) {
    const double difference =
        std::abs(static_cast<double>(problem.computed[e]) - static_cast<double>(problem.expected[e]));
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(difference)) return difference;
  }
  return largest / scale_of(problem);
}

/// Of the host's own product: some elements, summed here in double precision.
template <class Real>
double sampled_error(const Problem<Real>& problem, std::uint64_t seed) {
  constexpr int samples = 256;
  std::mt19937_64 random(seed);
  const ProductExtents& e = problem.extents;
  double largest = 0;
  for (int sample = 0; sample < samples; ++sample) {
    const Index i = std::uniform_int_distribution<Index>(0, e.rows - 1)(random);
    const Index j = std::uniform_int_distribution<Index>(0, e.columns - 1)(random);
    double sum = 0;
    for (Index k = 0; k < e.depth; ++k) sum += double{problem.view_a()(i, k)} * double{problem.view_b()(k, j)};
    const double difference = std::abs(sum - double{problem.expected[static_cast<std::size_t>(i * e.columns + j)]});
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(difference)) return difference;
  }
  return largest / scale_of(problem);
}

template <class Real>
void fill_randomly(Problem<Real>& problem, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<Real> uniform(Real(-0.5), Real(0.5));
  for (std::vector<Real>* values : {&problem.a, &problem.b}) {
    for (Real& value : *values) value = uniform(random);
  }
}

/// The variants of a size, in the order in which they are measured.
std::vector<MatmulSettings> settings_of(const MatmulOptions& options) {
  std::vector<MatmulSettings> all;
  for (const std::string& name : options.variant) {
    const std::optional<MatmulVariant> variant = solvers::matmul_variant_from_name(name);
    if (!variant) continue;  // the host, which is measured always
    if (!draws(*variant)) {
      all.push_back({.variant = *variant, .tile = options.tile});
      continue;
    }
    for (const solvers::Packing packing : options.packing) {
      if (!has_passes(*variant)) {
        all.push_back({.variant = *variant, .packing = packing});
        continue;
      }
      for (const Index length : options.pass_length) {
        all.push_back({.variant = *variant, .packing = packing, .pass_length = length});
      }
    }
  }
  return all;
}

ModeRecord record_of(const MatmulOptions& options, const ProductExtents& e) {
  return {.variant = rival_name,
          .size = size_text(e),
          .n = e.depth,
          .precision = options.precision,
          .parameters = {{"rows", e.rows}, {"depth", e.depth}, {"columns", e.columns}},
          .flops = reduce_flops(e.rows, e.columns, e.depth)};
}

ModeRecord record_of(const MatmulOptions& options, const ProductExtents& e, const MatmulSettings& settings) {
  ModeRecord record = record_of(options, e);
  record.variant = name_of(settings.variant);
  if (draws(settings.variant)) {
    record.settings = name_of(settings.packing);
    record.parameters["packing"] = name_of(settings.packing);
  }
  if (has_passes(settings.variant)) {
    record.settings += ", pass " + std::to_string(settings.pass_length);
    record.parameters["pass_length"] = settings.pass_length;
  }
  return record;
}

template <class Real>
class MatmulRun {
 public:
  MatmulRun(const MatmulOptions& options, ModeRun& run, ModeMachine& machine)
      : options_(options), run_(run), machine_(machine) {}

  void measure(Problem<Real>& problem) {
    measure_on_host(problem);
    for (const MatmulSettings& settings : settings_of(options_)) measure_on_device(problem, settings);
  }

 private:
  void measure_on_host(Problem<Real>& problem) {
    ModeRecord record = record_of(options_, problem.extents);
    record.is_rival = true;
    solvers::StageClock clock;
    record.times = run_.measure(clock, record.series() + ", " + record.size, record.flops, [&] {
      clock.measure(solvers::Stage::compute, [&] {
        multiply_on_host<Real>(problem.view_a(), problem.view_b(), problem.view_of(problem.expected));
      });
    });
    problem.computed = problem.expected;
    record.check = ModeCheck{"sums in double precision", sampled_error(problem, options_.seed),
                             tolerance<Real>(problem.extents.depth)};
    run_.add(std::move(record));
  }

  void measure_on_device(Problem<Real>& problem, const MatmulSettings& settings) {
    ModeRecord record = record_of(options_, problem.extents, settings);
    solvers::Device& device = *machine_.device;
    const auto product = solvers::make_matrix_product<Real>(device, problem.extents, settings);
    std::fill(problem.computed.begin(), problem.computed.end(), Real{0});
    record.times = run_.measure(device.clock(), record.series() + ", " + record.size, record.flops, [&] {
      product->load(problem.view_a(), problem.view_b());
      product->compute();
      product->store(problem.view_of(problem.computed));
    });
    record.check = ModeCheck{"OpenBLAS gemm", error_of(problem), tolerance<Real>(problem.extents.depth)};
    run_.add(std::move(record));
  }

  const MatmulOptions& options_;
  ModeRun& run_;
  ModeMachine& machine_;
};

/// The files' matrices; none without --input.
struct Inputs {
  DenseMatrix a, b;
};

Inputs read_inputs(const MatmulOptions& options) {
  if (options.input.empty()) return {};
  const std::int64_t available = view_node().available_memory;
  Inputs inputs;
  inputs.a = read_matrix(options.input, available, MatrixShape::any);
  const std::string& path_b = options.input_b.empty() ? options.input : options.input_b;
  inputs.b = read_matrix(path_b, available, MatrixShape::any);
  if (inputs.a.columns != inputs.b.rows) {
    throw InputError("--input " + options.input + ", --input-b " + path_b + ": A has " +
                     std::to_string(inputs.a.columns) + " columns, but B " + std::to_string(inputs.b.rows) +
                     " rows; they must be the same");
  }
  return inputs;
}

std::vector<ProductExtents> sizes_of(const MatmulOptions& options, const Inputs& inputs) {
  if (!options.input.empty()) return {{inputs.a.rows, inputs.a.columns, inputs.b.columns}};
  if (!options.shape.empty()) return options.shape;
  std::vector<ProductExtents> sizes;
  for (const Index n : options.n) sizes.push_back({n, n, n});
  return sizes;
}

void check_size(const MatmulOptions& options, const ProductExtents& e, const ModeMachine& machine) {
  const std::string what = "a product of size " + size_text(e);
  const double elements = count(e.rows, e.depth) + count(e.depth, e.columns) + 2 * count(e.rows, e.columns);
  const auto bytes = static_cast<double>(factor_bytes(options.precision));
  // what is uploaded or downloaded at a time lies in host memory once more; software keeps its matrices there, too
  const bool software = machine.device && machine.device->description().software;
  check_host_memory(what, bytes * elements * (software ? 2 : 1.5));
  for (const MatmulSettings& settings : settings_of(options)) {
    const std::string obstacle = matmul_obstacle(machine.device->description(), e, settings, options.precision);
    if (!obstacle.empty()) {
      throw InputError(what + ", variant " + std::string(name_of(settings.variant)) + ": " + obstacle);
    }
  }
}

template <class Real>
int run_in(const MatmulOptions& options, const Inputs& inputs, ModeRun& run, ModeMachine& machine) {
  MatmulRun<Real> matmul(options, run, machine);
  DenseMatrix result;
  for (const ProductExtents& e : sizes_of(options, inputs)) {
    Problem<Real> problem(e);
    if (options.input.empty()) {
      fill_randomly(problem, options.seed);
    } else {
      std::copy(inputs.a.elements.begin(), inputs.a.elements.end(), problem.a.begin());
      std::copy(inputs.b.elements.begin(), inputs.b.elements.end(), problem.b.begin());
    }
    matmul.measure(problem);
    if (!options.output.empty()) result = {e.rows, e.columns, {problem.computed.begin(), problem.computed.end()}};
  }
  run.write_result([&](std::ostream& out) { write_matrix(out, options.output, result); });
  return run.finish(machine, fit_degree);
}

}  // namespace

int run_matmul(const ModeInvocation& invocation) {
  const MatmulOptions options = parse_matmul_options(invocation.arguments);
  check_matrix_name(options.output);
  ModeRun run("matmul", options, to_json(options), invocation);
  const Inputs inputs = read_inputs(options);
  const std::vector<ProductExtents> sizes = sizes_of(options, inputs);
  std::vector<Index> depths;
  for (const ProductExtents& e : sizes) depths.push_back(e.depth);
  check_fit(options.fit, depths, fit_degree);
  ModeMachine machine = open_machine(options, !settings_of(options).empty());
  for (const ProductExtents& e : sizes) check_size(options, e, machine);
  run.begin(machine);
  return options.precision == Precision::double_ ? run_in<double>(options, inputs, run, machine)
                                                 : run_in<float>(options, inputs, run, machine);
}

}  // namespace glinpack::app
