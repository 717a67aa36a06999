
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/agreement.hpp"
#include "app/input/matrix_file.hpp"
#include "app/machine.hpp"
#include "app/modes/fit.hpp"
#include "app/modes/mode_run.hpp"
#include "app/modes/modes.hpp"
#include "app/modes/poisson_options.hpp"
#include "app/modes/poisson_table.hpp"
#include "app/watchdog_option.hpp"
#include "gl/ceilings.hpp"
#include "mpi/communication.hpp"
#include "openblas/host_ceilings.hpp"
#include "solve/strip_exchange.hpp"
#include "solvers/poisson/poisson_cg.hpp"

namespace glinpack::app {

namespace {

using solvers::PoissonMemory;

constexpr int poisson_fit_degree = 3;  // of the times over N: N^2 points, and iterations that grow with N
constexpr MeasuringOptions copy_measuring{};

/// Copy bandwidth in bytes a second, counting reads and writes; 0: not measured.
struct CopyRates {
  double device = 0;
  double host_serial = 0;
  double host_threads = 0;
};

/// Runs `work` on rank 0, which prints and writes. Collective.
void report(const std::function<void()>& work) {
  run_on_root_and_broadcast([&] {
    work();
    return nlohmann::json();
  });
}

/// Sums of neighbours and of ranks, over the timed rounds.
class ExchangeRounds {
 public:
  void add(const StripExchangeTimes& times) { rounds_.push_back({times.exchange, times.exposed, times.sums}); }

  /// Collective. The slowest rank's time: the median over the rounds after `warm_up`.
  nlohmann::json of_slowest_rank(std::size_t warm_up) const {
    std::array<std::vector<double>, 3> seconds;
    for (std::size_t round = warm_up; round < rounds_.size(); ++round) {
      std::array<double, 3> slowest = rounds_[round];
      all_reduce(MPI_COMM_WORLD, slowest.data(), static_cast<int>(slowest.size()), MPI_DOUBLE, MPI_MAX);
      for (std::size_t kind = 0; kind < slowest.size(); ++kind) seconds[kind].push_back(slowest[kind]);
    }
    return {{"exchange_seconds", spread_of(seconds[0]).median},
            {"exposed_seconds", spread_of(seconds[1]).median},
            {"sums_seconds", spread_of(seconds[2]).median}};
  }

 private:
  std::vector<std::array<double, 3>> rounds_;
};

/// Every member is collective. Each rank has a strip of the square; a single rank has the whole square.
template <class Real>
class PoissonRun {
 public:
  PoissonRun(const PoissonOptions& options, const MpiSession& session, ModeRun& run, ModeMachine& machine,
             const CopyRates& copies)
      : options_(options), session_(session), run_(run), machine_(machine), copies_(copies) {}

  void measure(Index n) {
    const PoissonProblem problem(n);
    extents_ = strip_of_rank(n, session_.rank(), session_.size());
    std::unique_ptr<PoissonStrip<Real>> strip;
    // only one solver is in memory at a time
    const auto replace = [&](const auto& make) {
      strip.reset();
      prepare_on_all_ranks([&] { strip = make(); });
    };
    for (const PoissonPreconditioner preconditioner : options_.preconditioner) {
      preconditioner_ = preconditioner;
      for (const std::string& name : options_.host) {
        const bool serial = name == "serial";
        solvers::StageClock clock;
        replace([&] { return make_host_poisson_strip<Real>(extents_, serial ? 1 : machine_.threads, preconditioner); });
        measure(problem, name, *strip, clock, serial ? copies_.host_serial : copies_.host_threads);
      }
      for (const PoissonMemory memory : options_.memory) {
        if (!allowed(memory, preconditioner)) continue;
        solvers::Device& device = *machine_.device;
        replace([&] { return solvers::make_poisson_strip<Real>(device, extents_, memory, preconditioner); });
        measure(problem, std::string(name_of(memory)), *strip, device.clock(), copies_.device);
      }
    }
  }

  /// The last solution, on rank 0.
  std::vector<Real> solution() const {
    if (session_.size() == 1) return u_;
    return gather_strips<Real>(MPI_COMM_WORLD, extents_.n, u_);
  }

 private:
  void measure(const PoissonProblem& problem, const std::string& variant, PoissonStrip<Real>& strip,
               solvers::StageClock& clock, double copy_rate) {
    const Index n = problem.n();
    const bool on_host = variant == "serial" || variant == "threads";
    ModeRecord record{.variant = variant,
                      .settings = settings_of(variant),
                      .size = std::to_string(n),
                      .n = n,
                      .precision = precision_of<Real>,
                      .is_rival = on_host};
    const CgLimits limits{.most_iterations = poisson_most_iterations(n)};
    u_.assign(static_cast<std::size_t>(extents_.rows * n), Real{0});
    CgOutcome outcome;
    PoissonNeighbours<Real> none;
    StripExchange<Real> exchange(MPI_COMM_WORLD, n);
    const bool alone = session_.size() == 1;
    ExchangeRounds rounds;
    record.times = run_.measure(clock, record.series() + ", " + record.size, 0, [&] {
      if (on_host) {
        clock.measure(solvers::Stage::pack, [&] { strip.begin(problem, limits); });
      } else {
        strip.begin(problem, limits);
      }
      if (!alone) barrier(MPI_COMM_WORLD);
      exchange.forget_times();
      const WatchedSection watched;
      clock.measure(solvers::Stage::compute,
                    [&] { outcome = conjugate_gradients(strip, alone ? none : exchange, limits); });
      rounds.add(exchange.times());
      strip.store(u_);
    });
    describe(record, problem, outcome, copy_rate, exchange);
    if (!alone) record.parameters.update(rounds.of_slowest_rank(static_cast<std::size_t>(options_.warm_up)));
    report([&] { run_.add(std::move(record)); });
  }

  /// "2" for threads; "4 ranks x 2" or "4 ranks" for several ranks; with the preconditioner "2 multigrid".
  std::string settings_of(const std::string& variant) const {
    std::string settings = session_.size() == 1 ? "" : fmt::format("{} ranks", session_.size());
    if (variant == "threads") settings += (settings.empty() ? "" : " x ") + std::to_string(machine_.threads);
    if (preconditioner_ == PoissonPreconditioner::none) return settings;
    return (settings.empty() ? "" : settings + " ") + std::string(name_of(preconditioner_));
  }

  void describe(ModeRecord& record, const PoissonProblem& problem, const CgOutcome& outcome, double copy_rate,
                StripExchange<Real>& exchange) {
    const auto points = static_cast<double>(record.n) * static_cast<double>(record.n);
    const double least_bytes =
        solvers::poisson_vectors_of_an_iteration(record.n, preconditioner_) * points * sizeof(Real);
    const double seconds = record.times.compute.median / static_cast<double>(std::max<Index>(1, outcome.iterations));
    const double rate = seconds > 0 ? least_bytes / seconds : 0;
    double error = problem.largest_error(std::span<const Real>(u_), extents_.first_row);
    all_reduce(MPI_COMM_WORLD, &error, 1, MPI_DOUBLE, MPI_MAX);
    record.parameters = {{"preconditioner", name_of(preconditioner_)},
                         {"iterations", outcome.iterations},
                         {"relative_residual", outcome.relative_residual},
                         {"true_residual", true_residual(problem, exchange)},
                         {"largest_error", error},
                         {"seconds_per_iteration", seconds},
                         {"least_bytes_per_iteration", least_bytes},
                         {"bytes_per_second", rate},
                         {"share_of_copy", copy_rate > 0 ? nlohmann::json(rate / copy_rate) : nlohmann::json()},
                         {"ranks", session_.size()}};
    if (!outcome.converged) {
      record.failure = fmt::format("not converged after {} iterations: relative residual {:.2e}", outcome.iterations,
                                   outcome.relative_residual);
      return;
    }
    record.check = check_poisson({record.n, record.precision, preconditioner_, outcome.iterations, error});
  }

  double true_residual(const PoissonProblem& problem, StripExchange<Real>& exchange) {
    const std::span<const Real> u(u_);
    const auto n = static_cast<std::size_t>(problem.n());
    const GhostRows<Real> ghosts = exchange.exchange({u.first(n), u.last(n)});
    const auto squares = problem.residual_squares(u, extents_.first_row, ghosts.above, ghosts.below);
    const double right = sum_over_ranks(MPI_COMM_WORLD, squares.right);
    return std::sqrt(sum_over_ranks(MPI_COMM_WORLD, squares.residual) / right);
  }

  const PoissonOptions& options_;
  const MpiSession& session_;
  ModeRun& run_;
  ModeMachine& machine_;
  CopyRates copies_;
  PoissonExtents extents_;
  PoissonPreconditioner preconditioner_ = PoissonPreconditioner::none;
  std::vector<Real> u_;
};

template <class Real>
void check_size(const PoissonOptions& options, const MpiSession& session, Index n, const ModeMachine& machine) {
  const PoissonExtents extents = strip_of_rank(n, session.rank(), session.size());
  const bool alone = session.size() == 1;
  const std::string what =
      alone ? fmt::format("--n {}: {} x {} points", n, n, n)
            : fmt::format("--n {}: {} strips of about {} x {} points", n, session.local_size(), extents.rows, n);
  const std::vector<PoissonPreconditioner>& kinds = options.preconditioner;
  const bool multigrid = std::find(kinds.begin(), kinds.end(), PoissonPreconditioner::multigrid) != kinds.end();
  // u, its staging buffer, the vectors of the host or of software OpenGL (u, r, p twice), and multigrid's
  const double vectors = 2 + 4 + (multigrid ? 3 : 0);
  const auto points = static_cast<double>(extents.rows) * static_cast<double>(n);
  double bytes = session.local_size() * vectors * points * sizeof(Real);
  if (!alone && session.rank() == 0 && !options.output.empty()) {
    bytes += static_cast<double>(n) * static_cast<double>(n) * (sizeof(Real) + sizeof(double));
  }
  check_host_memory(what, bytes);
  for (const PoissonMemory memory : options.memory) {
    for (const PoissonPreconditioner kind : kinds) {
      if (!allowed(memory, kind)) continue;
      const std::string obstacle =
          solvers::poisson_obstacle<Real>(machine.device->description(), extents, memory, kind);
      if (!obstacle.empty()) throw InputError(fmt::format("{}, --memory {}: {}", what, name_of(memory), obstacle));
    }
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

/// Collective. The sum over all ranks of the concurrent rates.
CopyRates measure_concurrent_copies(const PoissonOptions& options, const ModeMachine& machine) {
  CopyRates rates;
  barrier(MPI_COMM_WORLD);
  prepare_on_all_ranks([&] { rates = measure_copies(options, machine); });
  for (double* rate : {&rates.device, &rates.host_serial, &rates.host_threads}) {
    *rate = sum_over_ranks(MPI_COMM_WORLD, *rate);
  }
  return rates;
}

std::string copies_text(const CopyRates& rates, int ranks) {
  std::string text;
  const auto add = [&](const char* who, double rate) {
    if (rate <= 0) return;
    text += fmt::format("copy, read + written: {}{}, {:.2f} GB/s\n", who,
                        ranks > 1 ? fmt::format(", {} ranks at once", ranks) : "", rate * 1e-9);
  };
  add("one thread of the host", rates.host_serial);
  add("all threads of the host", rates.host_threads);
  add("device", rates.device);
  return text;
}

/// "8", "8, with multigrid 20.7".
std::string vectors_text(const PoissonOptions& options) {
  std::vector<std::string> texts;
  const auto add = [&](PoissonPreconditioner kind, const char* what) {
    const double vectors = solvers::poisson_vectors_of_an_iteration(options.n.back(), kind);
    texts.push_back(fmt::format("{}{:.3g}", what, vectors));
  };
  const std::vector<PoissonPreconditioner>& kinds = options.preconditioner;
  if (std::any_of(kinds.begin(), kinds.end(), [](auto kind) { return kind != PoissonPreconditioner::multigrid; })) {
    add(PoissonPreconditioner::none, "");
  }
  if (std::find(kinds.begin(), kinds.end(), PoissonPreconditioner::multigrid) != kinds.end()) {
    add(PoissonPreconditioner::multigrid, texts.empty() ? "" : "with multigrid ");
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

template <class Real>
int run_in(const PoissonOptions& options, const MpiSession& session, ModeRun& run, ModeMachine& machine) {
  const int ranks = session.size();
  prepare_on_all_ranks([&] {
    for (const Index n : options.n) check_size<Real>(options, session, n, machine);
  });
  const CopyRates copies = measure_concurrent_copies(options, machine);
  report([&] { run.begin(machine); });
  const std::unique_ptr<Watchdog> watchdog = start_watchdog(options.watchdog);
  PoissonRun<Real> poisson(options, session, run, machine, copies);
  for (const Index n : options.n) poisson.measure(n);
  std::vector<Real> u;
  if (!options.output.empty()) u = poisson.solution();
  const auto end = [&] {
    run.print(poisson_results_table(run.records()) + "\nresidual: ||b - A u|| / ||b||, of u itself\nGB/s: of " +
              vectors_text(options) + " vectors of N^2 elements that an iteration reads or writes at least\n" +
              copies_text(copies, ranks) + (ranks > 1 ? poisson_ranks_table(run.records()) : ""));
    const Index n = options.n.back();
    run.write_result([&](std::ostream& out) { write_matrix(out, options.output, {n, n, {u.begin(), u.end()}}); });
    return nlohmann::json(run.finish(machine, poisson_fit_degree));
  };
  const nlohmann::json exit_code = run_on_root_and_broadcast(end);
  return exit_code.get<int>();
}

// Notes for the report's head on combinations that the options exclude.
std::vector<std::string> notes_of(const PoissonOptions& options) {
  std::vector<std::string> notes;
  if (options.textures_skipped) {
    notes.emplace_back("--memory all in double precision is global and shared: textures hold single precision");
  }
  if (std::any_of(options.memory.begin(), options.memory.end(), [&](PoissonMemory memory) {
        return std::any_of(options.preconditioner.begin(), options.preconditioner.end(),
                           [&](PoissonPreconditioner kind) { return !allowed(memory, kind); });
      })) {
    notes.emplace_back("multigrid works in storage buffers: it is left out for the textures");
  }
  return notes;
}

// Collective. Rank 0 checks the files, prints and writes; the other ranks only measure.
std::unique_ptr<ModeRun> make_run(const PoissonOptions& options, const ModeInvocation& invocation) {
  std::unique_ptr<ModeRun> run;
  report([&] {
    check_matrix_name(options.output);
    run = std::make_unique<ModeRun>("poisson", options, to_json(options, poisson_table), invocation);
    check_fit(options.fit, options.n, poisson_fit_degree);
  });
  if (run) return run;
  ModeOptions quiet;
  quiet.repeat = options.repeat;
  quiet.warm_up = options.warm_up;
  quiet.progress = When::never;
  return std::make_unique<ModeRun>("poisson", quiet, nlohmann::json(), invocation);
}

}  // namespace

int run_poisson(const ModeInvocation& invocation) {
  const MpiSession& session = *invocation.session;
  PoissonOptions options = parse_alike(invocation.arguments, parse_poisson_options);
  std::vector<std::string> notes = notes_of(options);
  for (std::string& note : adapt_to_ranks(options, session.size())) notes.push_back(std::move(note));
  const std::unique_ptr<ModeRun> run = make_run(options, invocation);
  const int threads = threads_by_cores(session);
  options.threads = options.threads.value_or(threads);
  ModeMachine machine;
  prepare_on_all_ranks([&] { machine = open_machine(options, !options.memory.empty(), session.local_rank()); });
  machine.notes.insert(machine.notes.end(), notes.begin(), notes.end());
  return options.precision == Precision::double_ ? run_in<double>(options, session, *run, machine)
                                                 : run_in<float>(options, session, *run, machine);
}

}  // namespace glinpack::app
