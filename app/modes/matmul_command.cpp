
#include <algorithm>
#include <limits>

#include "app/modes/fit.hpp"
#include "app/modes/matmul_options.hpp"
#include "app/modes/matmul_plan.hpp"
#include "app/modes/matmul_problem.hpp"
#include "app/modes/mode_run.hpp"
#include "app/modes/modes.hpp"
#include "backend/timeline.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/matmul/matmul.hpp"

namespace glinpack::app {

namespace {

using solvers::MatmulSettings;
using solvers::ProductExtents;

constexpr int matmul_fit_degree = 3;  // of the times over N, as in the paper

ModeRecord record_of(const MatmulOptions& options, const ProductExtents& e) {
  return {.variant = "openblas",
          .size = size_text(e),
          .n = e.depth,
          .precision = options.precision,
          .parameters = {{"rows", e.rows}, {"depth", e.depth}, {"columns", e.columns}},
          .flops = product_flops(e.rows, e.columns, e.depth)};
}

ModeRecord record_of(const MatmulOptions& options, const ProductExtents& e, const MatmulSettings& settings) {
  ModeRecord record = record_of(options, e);
  record.variant = name_of(settings.variant);
  record.settings = settings_text(settings);
  if (draws(settings.variant)) record.parameters["packing"] = name_of(settings.packing);
  if (has_passes(settings.variant)) record.parameters["pass_length"] = settings.pass_length;
  return record;
}

template <class Real>
class MatmulRun {
 public:
  MatmulRun(const MatmulOptions& options, ModeRun& run, ModeMachine& machine)
      : options_(options), run_(run), machine_(machine) {}

  void measure(MatmulProblem<Real>& problem) {
    measure_on_host(problem);
    if (!machine_.device) return;
    const gl::DeviceDescription& device = machine_.device->description();
    const std::vector<MatmulSettings> all = matmul_settings(options_, problem.extents, device);
    const MatmulSettings* best = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (const MatmulSettings& settings : all) {
      measure_on_device(problem, settings);
      const ModeRecord& record = run_.records().back();
      if (!record.passed() || record.times.compute.median >= least) continue;
      least = record.times.compute.median;
      best = &settings;
    }
    if (options_.tune && best != nullptr) keep(problem.extents, *best);
  }

 private:
  void measure_on_host(MatmulProblem<Real>& problem) {
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

  void measure_on_device(MatmulProblem<Real>& problem, const MatmulSettings& settings) {
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

  void keep(const ProductExtents& e, const MatmulSettings& best) {
    const gl::DeviceDescription& device = machine_.device->description();
    const solvers::MatmulChoices choices;
    const bool kept = choices.store(device, options_.precision, e, best);
    const std::string settings = settings_text(best);
    run_.print("fastest at " + size_text(e) + ": " + std::string(name_of(best.variant)) +
               (settings.empty() ? "" : " " + settings) +
               (kept ? "; kept in " + choices.path_of(device, options_.precision)
                     : "; not kept: the cache folder cannot be written") +
               "\n");
  }

  const MatmulOptions& options_;
  ModeRun& run_;
  ModeMachine& machine_;
};

template <class Real>
int run_in(const MatmulOptions& options, const MatmulInputs& inputs, ModeRun& run, ModeMachine& machine) {
  MatmulRun<Real> matmul(options, run, machine);
  DenseMatrix result;
  for (const ProductExtents& e : matmul_sizes(options, inputs)) {
    MatmulProblem<Real> problem(e);
    if (options.input.empty()) {
      problem.fill_randomly(options.seed);
    } else {
      const auto to_real = [](double value) { return static_cast<Real>(value); };
      std::transform(inputs.a.elements.begin(), inputs.a.elements.end(), problem.a.begin(), to_real);
      std::transform(inputs.b.elements.begin(), inputs.b.elements.end(), problem.b.begin(), to_real);
    }
    matmul.measure(problem);
    if (!options.output.empty()) result = {e.rows, e.columns, {problem.computed.begin(), problem.computed.end()}};
  }
  run.write_result([&](std::ostream& out) { write_matrix(out, options.output, result); });
  return run.finish(machine, matmul_fit_degree);
}

}  // namespace

int run_matmul(const ModeInvocation& invocation) {
  const MatmulOptions options = parse_matmul_options(invocation.arguments);
  check_matrix_name(options.output);
  ModeRun run("matmul", options, to_json(options, matmul_table), invocation);
  const MatmulInputs inputs = read_matmul_inputs(options);
  const std::vector<ProductExtents> sizes = matmul_sizes(options, inputs);
  std::vector<Index> depths;
  for (const ProductExtents& e : sizes) depths.push_back(e.depth);
  check_fit(options.fit, depths, matmul_fit_degree);
  ModeMachine machine = open_machine(options, matmul_needs_device(options));
  for (const ProductExtents& e : sizes) check_matmul_size(options, e, machine);
  run.begin(machine);
  return options.precision == Precision::double_ ? run_in<double>(options, inputs, run, machine)
                                                 : run_in<float>(options, inputs, run, machine);
}

}  // namespace glinpack::app
