#include "app/papers/poisson.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/papers/problem.hpp"
#include "app/program/agreement.hpp"
#include "app/program/watchdog_option.hpp"
#include "gl/ceilings.hpp"
#include "mpi/communication.hpp"
#include "mpi/session.hpp"
#include "openblas/host_ceilings.hpp"
#include "solve/strip_exchange.hpp"
#include "solvers/poisson/poisson_cg.hpp"
#include "solvers/poisson/poisson_problem.hpp"

namespace glinpack::app {

// ---- Options

namespace {

using solvers::PoissonMemory;

constexpr const char* poisson_examples =
    "  glinpack-papers poisson\n"
    "  glinpack-papers poisson --n 32,64,128,256 --memory all --json poisson.json\n"
    "  glinpack-papers poisson --n 256 --precision single --memory all --host none\n"
    "  glinpack-papers poisson --n 256,1024 --preconditioner none,multigrid\n"
    "  glinpack-papers poisson --n 64 --output u.npy\n"
    "  mpirun.mpich -np 4 glinpack-papers poisson --n 256\n";

std::vector<Field> variant_fields(PoissonOptions& o) {
  const Texts hosts{"serial", "threads"}, all{"all"}, none{"none"};
  const auto read_memory = [&o, all, none](const Texts& values) {
    o.all_memories = values == all;
    o.memory.clear();
    if (values != none) o.memory = parse_kinds(values, solvers::all_poisson_memories);
  };
  const auto read_host = [&o, hosts, none](const Texts& values) {
    o.host.clear();
    if (values != none) o.host = parse_names(values, hosts);
  };
  const auto read_preconditioner = [&o, all](const Texts& values) {
    o.all_preconditioners = values == all;
    o.preconditioner = parse_kinds(values, all_poisson_preconditioners);
  };
  return {
      {"memory",
       list_value(some_of(names_of(solvers::all_poisson_memories), {"all", "none"}), read_memory,
                  [&o] { return names_of(o.memory); }),
       "Device memory of the vectors; all: every kind that supports the precision (textures: single only); none: only "
       "the processor"},
      {"host", list_value(some_of(hosts, {"all", "none"}), read_host, [&o] { return o.host; }),
       "Loops on the processor: serial, with one thread; threads, with all; none"},
      {"preconditioner", list_value("NAME,...", read_preconditioner, [&o] { return names_of(o.preconditioner); }),
       enumerate(names_of(all_poisson_preconditioners)) +
           "; all: every one. jacobi: the diagonal of A, which does not change the iterations; multigrid: V-cycles, "
           "few iterations for any N, only in one process and in storage buffers"},
      precision_field(o, "Of the vectors; partial sums of scalar products are added in double"),
  };
}

// Throws if the named memory and preconditioner cannot be combined.
void check_preconditioner(const PoissonOptions& o) {
  if (o.all_memories || o.all_preconditioners) return;
  for (const PoissonMemory memory : o.memory) {
    for (const PoissonPreconditioner kind : o.preconditioner) {
      if (allowed(memory, kind)) continue;
      throw InputError("--preconditioner " + std::string(name_of(kind)) + ", --memory " + std::string(name_of(memory)) +
                       ": multigrid works in storage buffers; use --memory global,shared");
    }
  }
}

// In double precision, removes textures from `all`; throws if they were named.
void check_precision(PoissonOptions& o) {
  const auto lacks_it = [](PoissonMemory memory) { return !solvers::has_double_precision(memory); };
  o.textures_skipped = o.all_memories && o.precision == Precision::double_;
  if (o.precision == Precision::single) return;
  if (o.textures_skipped) std::erase_if(o.memory, lacks_it);
  const auto named = std::find_if(o.memory.begin(), o.memory.end(), lacks_it);
  if (named == o.memory.end()) return;
  throw InputError("--memory " + std::string(name_of(*named)) +
                   ": textures hold single precision; use --precision single, or --memory global,shared");
}

}  // namespace

OptionTable poisson_table(PoissonOptions& o) {
  const std::vector<Field> problem{
      size_field(o), {"output", text(o.output, "FILE"), "u of the last result, as .npy or .mtx by the name"}};
  OptionTable table{
      .program = papers_name,
      .command = "poisson",
      .description =
          "Solves the Poisson equation on the unit square by conjugate gradients, without a matrix, with each kind\n"
          "of a device's memory; checks by the exact solution and compares with the processor. Under a launcher the\n"
          "processes share the square, each having a strip of it.",
      .footer = mode_footer(poisson_examples),
      .groups = mode_groups(o, {{"Problem", problem}, {"Variants", variant_fields(o)}})};
  table.footer.exit_codes[5] = "ended by --watchdog";
  table.groups.back().fields.push_back(watchdog_field(o.watchdog));
  return table;
}

PoissonOptions parse_poisson_options(const std::vector<std::string>& arguments, TextFiles& files) {
  Parsed<PoissonOptions> parsed = parse(arguments, poisson_table, files);
  if (parsed.options.memory.empty() && parsed.options.host.empty()) {
    throw InputError("--memory none and --host none leave nothing to compute: name one of them");
  }
  check_precision(parsed.options);
  check_preconditioner(parsed.options);
  return parsed.options;
}

bool allowed(PoissonMemory memory, PoissonPreconditioner preconditioner) {
  return preconditioner != PoissonPreconditioner::multigrid || solvers::allows_multigrid(memory);
}

std::vector<std::string> adapt_to_ranks(PoissonOptions& o, int ranks) {
  std::vector<std::string> notes;
  if (ranks == 1 && o.watchdog) {
    throw InputError("--watchdog: one process waits for no other; start several, or leave it out");
  }
  if (ranks == 1) return notes;
  for (const Index n : o.n) {
    if (n >= ranks) continue;
    throw InputError("--n " + std::to_string(n) + ": " + std::to_string(ranks) +
                     " processes were started, but each needs a row of its own; start " + std::to_string(n) +
                     " at most, or use a larger N");
  }
  notes.push_back(std::to_string(ranks) + " ranks, each with a strip of rows; ghost rows go over MPI");
  if (std::erase(o.preconditioner, PoissonPreconditioner::multigrid) > 0) {
    if (!o.all_preconditioners) {
      throw InputError("--preconditioner multigrid is for one process, but " + std::to_string(ranks) +
                       " were started; start one, or use --preconditioner none,jacobi");
    }
    notes.emplace_back("--preconditioner all of several ranks is none and jacobi: multigrid is for one process");
  }
  if (std::erase(o.memory, PoissonMemory::texture2d) == 0) return notes;
  if (!o.all_memories) {
    throw InputError(
        "--memory texture2d: 2D textures hold the whole square, not strips; start one process, or use "
        "--memory global,texture1d,shared");
  }
  notes.emplace_back(
      "--memory all of several ranks is global, texture1d and shared: 2D textures hold the whole square");
  return notes;
}

// ---- Check

namespace {

constexpr double says_nothing = 0.1;  // error bounds above it are useless: u is at most 1

/// Half a unit in the fifth digit.
double half_digit(double printed) { return 0.5 * std::pow(10.0, std::floor(std::log10(printed)) - 4); }

}  // namespace

std::span<const PaperPoisson> paper_poisson_table() {
  static constexpr std::array rows{
      PaperPoisson{32, 48, 3.0128e-3},     PaperPoisson{64, 96, 7.7811e-4},     PaperPoisson{128, 192, 1.9765e-4},
      PaperPoisson{256, 387, 4.9797e-5},   PaperPoisson{512, 783, 1.2494e-5},   PaperPoisson{1024, 1581, 3.1266e-6},
      PaperPoisson{2048, 3192, 7.8019e-7}, PaperPoisson{4096, 6452, 1.9366e-7}, PaperPoisson{8192, 13033, 4.7402e-8}};
  return rows;
}

double poisson_rounding_bound(Index n, Precision precision) {
  const auto intervals = static_cast<double>(n + 1);
  return precision == Precision::single ? epsilon_of(precision) * intervals * intervals : 0.0;
}

std::optional<ModeCheck> check_poisson(const PoissonResult& result) {
  const std::span<const PaperPoisson> table = paper_poisson_table();
  const auto row = std::find_if(table.begin(), table.end(), [&](const PaperPoisson& r) { return r.n == result.n; });
  const bool papers_steps = result.preconditioner != PoissonPreconditioner::multigrid;
  if (result.precision == Precision::double_ && papers_steps && row != table.end()) {
    if (result.iterations != row->iterations) {
      return ModeCheck{fmt::format("the paper's {} iterations", row->iterations),
                       std::abs(static_cast<double>(result.iterations - row->iterations)), 0.5};
    }
    return ModeCheck{"the paper's error", std::abs(result.largest_error - row->largest_error),
                     half_digit(row->largest_error)};
  }
  const double rounding = poisson_rounding_bound(result.n, result.precision);
  if (rounding > says_nothing) return std::nullopt;
  return ModeCheck{rounding > 0 ? "the bounds of discretisation and rounding" : "the bound of the discretisation",
                   result.largest_error, poisson_discretisation_bound(result.n) + rounding};
}

// ---- Tables

namespace {

std::string poisson_results_table(std::span<const ModeRecord> records) {
  constexpr const char* columns = "{:>7}{:>12}  {:<12}{:<11}{:<8}{:>13}{:>8}{:>12}{:>12}{:>14}{:>10}{:>8}\n";
  std::string text = "\n" + fmt::format(columns, "N", "DOF", "variant", "precond.", "", "L_inf", "#iter", "residual",
                                        "seconds", "us/iteration", "GB/s", "of copy");
  for (const ModeRecord& r : records) {
    if (!r.failure.empty()) continue;
    const auto number = [&](const char* key) { return r.parameters.at(key).get<double>(); };
    const auto text_of = [&](const char* key) { return r.parameters.at(key).get<std::string>(); };
    const auto share = r.parameters.at("share_of_copy");
    text += fmt::format(columns, r.n, r.n * r.n, r.variant, text_of("preconditioner"), name_of(r.precision),
                        fmt::format("{:.4e}", number("largest_error")), r.parameters.at("iterations").get<Index>(),
                        fmt::format("{:.2e}", number("true_residual")), fmt::format("{:.4g}", r.times.compute.median),
                        fmt::format("{:.4g}", number("seconds_per_iteration") * 1e6),
                        fmt::format("{:.2f}", number("bytes_per_second") * 1e-9),
                        share.is_null() ? std::string("-") : fmt::format("{:.2f}", share.get<double>()));
  }
  return text;
}

std::string poisson_ranks_table(std::span<const ModeRecord> records) {
  constexpr const char* columns = "{:>7}  {:<12}{:>6}{:>12}{:>14}{:>11}{:>11}\n";
  std::string text =
      "\nus/iteration\n" + fmt::format(columns, "N", "variant", "ranks", "whole", "ghost rows", "exposed", "sums");
  for (const ModeRecord& r : records) {
    if (!r.failure.empty()) continue;
    const auto iterations = std::max(1.0, r.parameters.at("iterations").get<double>());
    const auto micro = [&](const char* key) {
      return fmt::format("{:.4g}", r.parameters.at(key).get<double>() / iterations * 1e6);
    };
    text += fmt::format(columns, r.n, r.variant, r.parameters.at("ranks").get<int>(),
                        fmt::format("{:.4g}", r.parameters.at("seconds_per_iteration").get<double>() * 1e6),
                        micro("exchange_seconds"), micro("exposed_seconds"), micro("sums_seconds"));
  }
  return text +
         "ghost rows: from their sending until the neighbours' have come; exposed: the part of it after a rank's own "
         "work;\nsums: scalar products of all ranks added up, after ghost rows; slower ranks are waited for in either; "
         "the slowest rank's times\n";
}

// ---- Run

/// Copy bandwidth in bytes a second, counting reads and writes; 0: not measured.
struct CopyRates {
  double device = 0;
  double host_serial = 0;
  double host_threads = 0;
};

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

/// Each rank has a strip of the square; a single rank has the whole square. The loops of the host first, then every
/// memory of the device.
template <class Real>
class Poisson final : public Mode {
 public:
  Poisson(const PoissonOptions& options, const MpiSession& session, std::vector<std::string> notes)
      : options_(options), session_(session), notes_(std::move(notes)) {}

  std::vector<Index> sizes() const override { return options_.n; }
  std::optional<int> fit_degree() const override { return 3; }  // N^2 points, and iterations that grow with N
  bool needs_device() const override { return !options_.memory.empty(); }
  std::vector<std::string> notes() const override { return notes_; }

  void check_size(std::size_t size, const ModeMachine& machine) const override {
    const Index n = options_.n[size];
    const PoissonExtents extents = strip_of_rank(n, session_.rank(), session_.size());
    const std::string what = is_alone() ? fmt::format("--n {}: {} x {} points", n, n, n)
                                        : fmt::format("--n {}: {} strips of about {} x {} points", n,
                                                      session_.local_size(), extents.rows, n);
    // u, its staging buffer, the vectors of the host or of software OpenGL (u, r, p twice), and multigrid's
    const double vectors = 2 + 4 + (has(PoissonPreconditioner::multigrid) ? 3 : 0);
    const auto points = static_cast<double>(extents.rows) * static_cast<double>(n);
    double bytes = session_.local_size() * vectors * points * sizeof(Real);
    if (!is_alone() && session_.rank() == 0 && !options_.output.empty()) {
      bytes += square(n) * (sizeof(Real) + sizeof(double));
    }
    check_host_memory(what, bytes);
    for (const PoissonMemory memory : options_.memory) {
      for (const PoissonPreconditioner kind : options_.preconditioner) {
        if (!allowed(memory, kind)) continue;
        check_obstacle(fmt::format("{}, --memory {}", what, name_of(memory)),
                       solvers::poisson_obstacle<Real>(machine.device->description(), extents, memory, kind));
      }
    }
  }

  /// Measures the sum over all ranks of their concurrent copy rates.
  void begin(ModeRun& run) override {
    barrier(MPI_COMM_WORLD);
    run.on_all_ranks([&] { measure_copies(run.machine()); });
    for (double* rate : {&copies_.device, &copies_.host_serial, &copies_.host_threads}) {
      *rate = sum_over_ranks(MPI_COMM_WORLD, *rate);
    }
  }

  void measure(std::size_t size, ModeRun& run) override {
    const Index n = options_.n[size];
    const PoissonProblem problem(n);
    extents_ = strip_of_rank(n, session_.rank(), session_.size());
    std::unique_ptr<PoissonStrip<Real>> strip;
    // only one solver is in memory at a time
    const auto replace = [&](const auto& make) {
      strip.reset();
      run.on_all_ranks([&] { strip = make(); });
    };
    const int threads = run.machine().threads;
    for (const PoissonPreconditioner preconditioner : options_.preconditioner) {
      preconditioner_ = preconditioner;
      for (const std::string& name : options_.host) {
        const bool serial = name == "serial";
        solvers::StageClock clock;
        replace([&] { return make_host_poisson_strip<Real>(extents_, serial ? 1 : threads, preconditioner); });
        solve(problem, name, *strip, clock, serial ? copies_.host_serial : copies_.host_threads, run);
      }
      for (const PoissonMemory memory : options_.memory) {
        if (!allowed(memory, preconditioner)) continue;
        solvers::Device& device = run.device();
        replace([&] { return solvers::make_poisson_strip<Real>(device, extents_, memory, preconditioner); });
        solve(problem, std::string(name_of(memory)), *strip, device.clock(), copies_.device, run);
      }
    }
  }

  /// The last solution, on rank 0.
  std::optional<DenseMatrix> result() const override {
    const std::vector<Real> u = is_alone() ? u_ : gather_strips<Real>(MPI_COMM_WORLD, extents_.n, u_);
    return DenseMatrix{extents_.n, extents_.n, converted<double>(u)};
  }

  void end(ModeRun& run) override {
    run.print(poisson_results_table(run.records()) + "\nresidual: ||b - A u|| / ||b||, of u itself\nGB/s: of " +
              vectors_text() + " vectors of N^2 elements that an iteration reads or writes at least\n" +
              copies_text(copies_, session_.size()) + (is_alone() ? "" : poisson_ranks_table(run.records())));
  }

 private:
  bool is_alone() const { return session_.size() == 1; }
  bool has(PoissonPreconditioner kind) const {
    return std::count(options_.preconditioner.begin(), options_.preconditioner.end(), kind) > 0;
  }

  void measure_copies(const ModeMachine& machine) {
    constexpr MeasuringOptions measuring{};
    if (machine.device) {
      const int device = machine.device->description().index;
      copies_.device = gl::measure_device_copy(device, measuring, options_.shader_dir).rate.median;
    }
    for (const std::string& name : options_.host) {
      const bool serial = name == "serial";
      (serial ? copies_.host_serial : copies_.host_threads) =
          measure_host_copy(serial ? 1 : machine.threads, measuring).median;
    }
  }

  void solve(const PoissonProblem& problem, const std::string& variant, PoissonStrip<Real>& strip,
             solvers::StageClock& clock, double copy_rate, ModeRun& run) {
    const Index n = problem.n();
    const bool on_host = variant == "serial" || variant == "threads";
    ModeRecord record{.variant = variant,
                      .settings = settings_of(variant, run.machine().threads),
                      .size = std::to_string(n),
                      .n = n,
                      .precision = precision_of<Real>,
                      .is_rival = on_host};
    const CgLimits limits{.most_iterations = poisson_most_iterations(n)};
    u_.assign(static_cast<std::size_t>(extents_.rows * n), Real{0});
    CgOutcome outcome;
    PoissonNeighbours<Real> none;
    StripExchange<Real> exchange(MPI_COMM_WORLD, n);
    ExchangeRounds rounds;
    run.time(record, clock, [&] {
      if (on_host) {
        clock.measure(solvers::Stage::pack, [&] { strip.begin(problem, limits); });
      } else {
        strip.begin(problem, limits);
      }
      if (!is_alone()) barrier(MPI_COMM_WORLD);
      exchange.forget_times();
      const WatchedSection watched;
      clock.measure(solvers::Stage::compute,
                    [&] { outcome = conjugate_gradients(strip, is_alone() ? none : exchange, limits); });
      rounds.add(exchange.times());
      strip.store(u_);
    });
    describe(record, problem, outcome, copy_rate, exchange);
    if (!is_alone()) record.parameters.update(rounds.of_slowest_rank(static_cast<std::size_t>(options_.warm_up)));
    run.add(std::move(record));
  }

  /// "2" for threads; "4 ranks x 2" or "4 ranks" for several ranks; with the preconditioner "2 multigrid".
  std::string settings_of(const std::string& variant, int threads) const {
    std::string settings = is_alone() ? "" : fmt::format("{} ranks", session_.size());
    if (variant == "threads") settings += (settings.empty() ? "" : " x ") + std::to_string(threads);
    if (preconditioner_ == PoissonPreconditioner::none) return settings;
    return (settings.empty() ? "" : settings + " ") + std::string(name_of(preconditioner_));
  }

  void describe(ModeRecord& record, const PoissonProblem& problem, const CgOutcome& outcome, double copy_rate,
                StripExchange<Real>& exchange) const {
    const double least_bytes =
        solvers::poisson_vectors_of_an_iteration(record.n, preconditioner_) * square(record.n) * sizeof(Real);
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

  double true_residual(const PoissonProblem& problem, StripExchange<Real>& exchange) const {
    const std::span<const Real> u(u_);
    const auto n = static_cast<std::size_t>(problem.n());
    const GhostRows<Real> ghosts = exchange.exchange({u.first(n), u.last(n)});
    const auto squares = problem.residual_squares(u, extents_.first_row, ghosts.above, ghosts.below);
    const double right = sum_over_ranks(MPI_COMM_WORLD, squares.right);
    return std::sqrt(sum_over_ranks(MPI_COMM_WORLD, squares.residual) / right);
  }

  /// "8", "8, with multigrid 20.7".
  std::string vectors_text() const {
    const auto vectors = [&](PoissonPreconditioner kind) {
      return fmt::format("{:.3g}", solvers::poisson_vectors_of_an_iteration(options_.n.back(), kind));
    };
    const bool others = has(PoissonPreconditioner::none) || has(PoissonPreconditioner::jacobi);
    if (!has(PoissonPreconditioner::multigrid)) return vectors(PoissonPreconditioner::none);
    const std::string multigrid = vectors(PoissonPreconditioner::multigrid);
    return others ? vectors(PoissonPreconditioner::none) + ", with multigrid " + multigrid : multigrid;
  }

  const PoissonOptions& options_;
  const MpiSession& session_;
  std::vector<std::string> notes_;
  CopyRates copies_;
  PoissonExtents extents_;
  PoissonPreconditioner preconditioner_ = PoissonPreconditioner::none;
  std::vector<Real> u_;  // this rank's strip
};

// Notes for the report's head on combinations that the options exclude.
std::vector<std::string> notes_of(const PoissonOptions& options) {
  std::vector<std::string> notes;
  if (options.textures_skipped) {
    notes.emplace_back("--memory all in double precision is global and shared: textures hold single precision");
  }
  for (const PoissonMemory memory : options.memory) {
    for (const PoissonPreconditioner kind : options.preconditioner) {
      if (allowed(memory, kind)) continue;
      notes.emplace_back("multigrid works in storage buffers: it is left out for the textures");
      return notes;
    }
  }
  return notes;
}

}  // namespace

int run_poisson(const ModeInvocation& invocation) {
  const MpiSession& session = *invocation.session;
  PoissonOptions options = parse_alike(invocation.arguments, parse_poisson_options);
  std::vector<std::string> notes = notes_of(options);
  for (std::string& note : adapt_to_ranks(options, session.size())) notes.push_back(std::move(note));
  return options.precision == Precision::double_
             ? run_mode(Poisson<double>(options, session, notes), options, poisson_table, invocation)
             : run_mode(Poisson<float>(options, session, notes), options, poisson_table, invocation);
}

}  // namespace glinpack::app
