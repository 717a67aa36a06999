#include "app/modes/poisson_command.hpp"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "app/input/matrix_file.hpp"
#include "app/modes/fit.hpp"
#include "app/modes/mode_run.hpp"
#include "app/modes/poisson_table.hpp"
#include "local/gl/ceilings.hpp"
#include "local/host/host_poisson_strip.hpp"
#include "local/openblas/host_ceilings.hpp"
#include "local/poisson_cg.hpp"

namespace glinpack::app {

namespace {

using solvers::PoissonMemory;

constexpr int fit_degree = 3;  // of the times over N: N^2 points, and iterations that grow with N
constexpr MeasuringOptions copy_measuring{};

/// Bytes a second of copies, bytes read and written both counted; 0: not measured.
struct CopyRates {
  double device = 0;
  double host_serial = 0;
  double host_threads = 0;
};

template <class Real>
class PoissonRun {
 public:
  PoissonRun(const PoissonOptions& options, ModeRun& run, ModeMachine& machine, const CopyRates& copies)
      : options_(options), run_(run), machine_(machine), copies_(copies) {}

  /// Returns the last solution.
  const std::vector<Real>& measure(Index n) {
    const PoissonProblem problem(n);
    for (const std::string& name : options_.host) {
      const bool serial = name == "serial";
      solvers::StageClock clock;
      const auto strip =
          make_host_poisson_strip<Real>({.n = n, .first_row = 0, .rows = n}, serial ? 1 : machine_.threads);
      measure(problem, name, *strip, clock, serial ? copies_.host_serial : copies_.host_threads);
    }
    for (const PoissonMemory memory : options_.memory) {
      solvers::Device& device = *machine_.device;
      const auto strip = solvers::make_poisson_strip<Real>(device, {.n = n, .first_row = 0, .rows = n}, memory);
      measure(problem, std::string(name_of(memory)), *strip, device.clock(), copies_.device);
    }
    return u_;
  }

 private:
  void measure(const PoissonProblem& problem, const std::string& variant, PoissonStrip<Real>& strip,
               solvers::StageClock& clock, double copy_rate) {
    const Index n = problem.n();
    const bool on_host = variant == "serial" || variant == "threads";
    ModeRecord record{.variant = variant,
                      .settings = variant == "threads" ? std::to_string(machine_.threads) : "",
                      .size = std::to_string(n),
                      .n = n,
                      .precision = precision_of<Real>,
                      .is_rival = on_host};
    const CgLimits limits{.most_iterations = poisson_most_iterations(n)};
    u_.assign(static_cast<std::size_t>(n * n), Real{0});
    CgOutcome outcome;
    PoissonNeighbours<Real> none;
    record.times = run_.measure(clock, record.series() + ", " + record.size, 0, [&] {
      if (on_host) {
        clock.measure(solvers::Stage::pack, [&] { strip.begin(problem, limits); });
      } else {
        strip.begin(problem, limits);
      }
      clock.measure(solvers::Stage::compute, [&] { outcome = conjugate_gradients(strip, none, limits); });
      strip.store(u_);
    });
    describe(record, problem, outcome, copy_rate);
    run_.add(std::move(record));
  }

  void describe(ModeRecord& record, const PoissonProblem& problem, const CgOutcome& outcome, double copy_rate) {
    const auto points = static_cast<double>(record.n) * static_cast<double>(record.n);
    const double least_bytes = solvers::poisson_vectors_of_an_iteration * points * sizeof(Real);
    const double seconds = record.times.compute.median / static_cast<double>(std::max<Index>(1, outcome.iterations));
    const double rate = seconds > 0 ? least_bytes / seconds : 0;
    const double error = problem.largest_error(std::span<const Real>(u_));
    record.parameters = {{"iterations", outcome.iterations},
                         {"relative_residual", outcome.relative_residual},
                         {"true_residual", problem.relative_residual(std::span<const Real>(u_))},
                         {"largest_error", error},
                         {"seconds_per_iteration", seconds},
                         {"least_bytes_per_iteration", least_bytes},
                         {"bytes_per_second", rate},
                         {"share_of_copy", copy_rate > 0 ? nlohmann::json(rate / copy_rate) : nlohmann::json()}};
    if (!outcome.converged) {
      record.failure = fmt::format("not converged after {} iterations: relative residual {:.2e}", outcome.iterations,
                                   outcome.relative_residual);
      return;
    }
    record.check = check_poisson({record.n, record.precision, outcome.iterations, error});
  }

  const PoissonOptions& options_;
  ModeRun& run_;
  ModeMachine& machine_;
  CopyRates copies_;
  std::vector<Real> u_;
};

template <class Real>
void check_size(const PoissonOptions& options, Index n, const ModeMachine& machine) {
  const std::string what = fmt::format("--n {}: {} x {} points", n, n, n);
  // u, its staging, and the vectors of the host or of software: u, r, p twice
  constexpr double vectors = 2 + 4;
  check_host_memory(what, vectors * static_cast<double>(n) * static_cast<double>(n) * sizeof(Real));
  for (const PoissonMemory memory : options.memory) {
    const std::string obstacle =
        solvers::poisson_obstacle<Real>(machine.device->description(), {.n = n, .first_row = 0, .rows = n}, memory);
    if (!obstacle.empty()) throw InputError(fmt::format("{}, --memory {}: {}", what, name_of(memory), obstacle));
  }
}

CopyRates measure_copies(const PoissonOptions& options, const ModeMachine& machine) {
  CopyRates rates;
  if (machine.device) {
    rates.device =
        gl::measure_device_copy(machine.device->description().index, copy_measuring, options.shader_dir).rate.median;
  }
  for (const std::string& name : options.host) {
    const bool serial = name == "serial";
    (serial ? rates.host_serial : rates.host_threads) =
        measure_host_copy(serial ? 1 : machine.threads, copy_measuring).median;
  }
  return rates;
}

std::string copies_text(const CopyRates& rates) {
  std::string text;
  const auto add = [&](const char* who, double rate) {
    if (rate > 0) text += fmt::format("copy, read + written: {}, {:.2f} GB/s\n", who, rate * 1e-9);
  };
  add("one thread of the host", rates.host_serial);
  add("all threads of the host", rates.host_threads);
  add("device", rates.device);
  return text;
}

template <class Real>
int run_in(const PoissonOptions& options, ModeRun& run, ModeMachine& machine) {
  for (const Index n : options.n) check_size<Real>(options, n, machine);
  const CopyRates copies = measure_copies(options, machine);
  run.begin(machine);
  PoissonRun<Real> poisson(options, run, machine, copies);
  DenseMatrix result;
  for (const Index n : options.n) {
    const std::vector<Real>& u = poisson.measure(n);
    if (!options.output.empty()) result = {n, n, {u.begin(), u.end()}};
  }
  run.print(poisson_table(run.records()) +
            fmt::format("\nresidual: ||b - A u|| / ||b||, of u itself\nan iteration: {} vectors of N^2 elements read "
                        "or written, at least\n",
                        solvers::poisson_vectors_of_an_iteration) +
            copies_text(copies));
  run.write_result([&](std::ostream& out) { write_matrix(out, options.output, result); });
  return run.finish(machine, fit_degree);
}

}  // namespace

int run_poisson(const ModeInvocation& invocation) {
  const PoissonOptions options = parse_poisson_options(invocation.arguments);
  check_matrix_name(options.output);
  ModeRun run("poisson", options, to_json(options), invocation);
  check_fit(options.fit, options.n, fit_degree);
  ModeMachine machine = open_machine(options, !options.memory.empty());
  if (options.textures_left_out) {
    machine.notes.emplace_back("--memory all in double precision is global and shared: textures hold single precision");
  }
  return options.precision == Precision::double_ ? run_in<double>(options, run, machine)
                                                 : run_in<float>(options, run, machine);
}

}  // namespace glinpack::app
