#include "app/papers/poisson.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/options/option_text.hpp"
#include "app/papers/problem.hpp"
#include "app/papers/study.hpp"
#include "app/program/agreement.hpp"
#include "app/program/mpi_command.hpp"
#include "compute/ceilings.hpp"
#include "gl/gl_compute.hpp"
#include "mpi/communication.hpp"
#include "mpi/session.hpp"
#include "mpi/strip_exchange.hpp"
#include "openblas/host_ceilings.hpp"
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

// Removes those that cannot be computed if `all` named them; throws if they were named. Returns whether there were any.
template <class Kind, class CannotBe>
bool leave_out(std::vector<Kind>& kinds, bool by_all, CannotBe cannot_be, const std::string& option,
               const std::string& reason) {
  const auto first = std::find_if(kinds.begin(), kinds.end(), cannot_be);
  if (first == kinds.end()) return false;
  if (!by_all) throw InputError(option + " " + std::string(name_of(*first)) + reason);
  std::erase_if(kinds, cannot_be);
  return true;
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
  PoissonOptions& o = parsed.options;
  const auto lacks_precision = [&](PoissonMemory memory) {
    return o.precision == Precision::double_ && !solvers::has_double_precision(memory);
  };
  o.textures_skipped = leave_out(o.memory, o.all_memories, lacks_precision, "--memory",
                                 ": textures hold single precision; use --precision single, or --memory global,shared");
  check_preconditioner(o);
  return o;
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
  const auto is_multigrid = [](PoissonPreconditioner kind) { return kind == PoissonPreconditioner::multigrid; };
  if (leave_out(o.preconditioner, o.all_preconditioners, is_multigrid, "--preconditioner",
                " is for one process, but " + std::to_string(ranks) +
                    " were started; start one, or use --preconditioner none,jacobi")) {
    notes.emplace_back("--preconditioner all of several ranks is none and jacobi: multigrid is for one process");
  }
  const auto is_square = [](PoissonMemory memory) { return memory == PoissonMemory::texture2d; };
  if (leave_out(o.memory, o.all_memories, is_square, "--memory",
                ": 2D textures hold the whole square, not strips; start one process, or use "
                "--memory global,texture1d,shared")) {
    notes.emplace_back(
        "--memory all of several ranks is global, texture1d and shared: 2D textures hold the whole square");
  }
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

std::string number_of(Index value) { return fmt::format("{}", value); }

std::string poisson_results_table(std::span<const ModeRecord> records) {
  return "\n" + records_table(
                    records, "iterations",
                    {{"N", 7, [](const ModeRecord& r) { return number_of(r.n); }},
                     {"DOF", 12, [](const ModeRecord& r) { return number_of(r.n * r.n); }},
                     {"", 2, [](const ModeRecord&) { return std::string(); }},
                     {"variant", -12, [](const ModeRecord& r) { return r.variant; }},
                     {"precond.", -11, parameter("/preconditioner")},
                     {"", -8, [](const ModeRecord& r) { return std::string(name_of(r.precision)); }},
                     {"L_inf", 13, parameter("/largest_error", "{:.4e}")},
                     {"#iter", 8, parameter("/iterations")},
                     {"residual", 12, parameter("/true_residual", "{:.2e}")},
                     {"seconds", 12, [](const ModeRecord& r) { return fmt::format("{:.4g}", r.times.compute.median); }},
                     {"us/iteration", 14, parameter("/seconds_per_iteration", "{:.4g}", 1e6)},
                     {"GB/s", 10, parameter("/bytes_per_second", "{:.2f}", 1e-9)},
                     {"of copy", 8, parameter("/share_of_copy", "{:.2f}")}});
}

std::string poisson_ranks_table(std::span<const ModeRecord> records) {
  const auto of_iteration = [](const char* pointer) {
    return [pointer](const ModeRecord& r) {
      return parameter(pointer, "{:.4g}", 1e6 / std::max(1.0, r.parameters.at("iterations").get<double>()))(r);
    };
  };
  return "\nus/iteration\n" +
         records_table(records, "iterations",
                       {{"N", 7, [](const ModeRecord& r) { return number_of(r.n); }},
                        {"", 2, [](const ModeRecord&) { return std::string(); }},
                        {"variant", -12, [](const ModeRecord& r) { return r.variant; }},
                        {"ranks", 6, parameter("/ranks")},
                        {"whole", 12, parameter("/seconds_per_iteration", "{:.4g}", 1e6)},
                        {"ghost rows", 14, of_iteration("/exchange_seconds")},
                        {"exposed", 11, of_iteration("/exposed_seconds")},
                        {"sums", 11, of_iteration("/sums_seconds")}}) +
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

/// The strip of this rank, which has the whole square if it is alone, and its last solution.
template <class Real>
struct PoissonStudy {
  const PoissonOptions& options;
  const MpiSession& session;
  CopyRates copies = {};
  PoissonExtents extents = {};
  std::unique_ptr<PoissonStrip<Real>> strip = {};  // one solver at a time is in memory
  CgOutcome outcome = {};
  std::vector<Real> u = {};

  bool is_alone() const { return session.size() == 1; }
  bool has(PoissonPreconditioner kind) const {
    return std::count(options.preconditioner.begin(), options.preconditioner.end(), kind) > 0;
  }

  void measure_copies(const ModeMachine& machine) {
    constexpr MeasuringOptions measuring{};
    if (machine.device) {
      const int device = machine.device->description().index;
      copies.device = compute::measure_device_copy(gl::open_device({.device = device}), ShaderSource(options.shader_dir), measuring)
                          .rate.median;
    }
    for (const std::string& name : options.host) {
      const bool serial = name == "serial";
      (serial ? copies.host_serial : copies.host_threads) =
          measure_host_copy(serial ? 1 : machine.threads, measuring).median;
    }
  }

  /// "2" for threads; "4 ranks x 2" or "4 ranks" for several ranks; with the preconditioner "2 multigrid".
  std::string settings_of(const std::string& variant, PoissonPreconditioner preconditioner, int threads) const {
    std::string settings = is_alone() ? "" : fmt::format("{} ranks", session.size());
    if (variant == "threads") settings += (settings.empty() ? "" : " x ") + std::to_string(threads);
    if (preconditioner == PoissonPreconditioner::none) return settings;
    return (settings.empty() ? "" : settings + " ") + std::string(name_of(preconditioner));
  }

  void describe(ModeRecord& record, PoissonPreconditioner preconditioner, double copy_rate,
                StripExchange<Real>& exchange) const {
    const PoissonProblem problem(extents.n);
    const double least_bytes =
        solvers::poisson_vectors_of_an_iteration(record.n, preconditioner) * square(record.n) * sizeof(Real);
    const double seconds = record.times.compute.median / static_cast<double>(std::max<Index>(1, outcome.iterations));
    const double rate = seconds > 0 ? least_bytes / seconds : 0;
    double error = problem.largest_error(std::span<const Real>(u), extents.first_row);
    all_reduce(MPI_COMM_WORLD, &error, 1, MPI_DOUBLE, MPI_MAX);
    record.parameters = {{"preconditioner", name_of(preconditioner)},
                         {"iterations", outcome.iterations},
                         {"relative_residual", outcome.relative_residual},
                         {"true_residual", true_residual(problem, exchange)},
                         {"largest_error", error},
                         {"seconds_per_iteration", seconds},
                         {"least_bytes_per_iteration", least_bytes},
                         {"bytes_per_second", rate},
                         {"share_of_copy", copy_rate > 0 ? nlohmann::json(rate / copy_rate) : nlohmann::json()},
                         {"ranks", session.size()}};
    if (!outcome.converged) {
      record.failure = fmt::format("not converged after {} iterations: relative residual {:.2e}", outcome.iterations,
                                   outcome.relative_residual);
      return;
    }
    record.check = check_poisson({record.n, record.precision, preconditioner, outcome.iterations, error});
  }

  double true_residual(const PoissonProblem& problem, StripExchange<Real>& exchange) const {
    const std::span<const Real> values(u);
    const auto n = static_cast<std::size_t>(problem.n());
    const GhostRows<Real> ghosts = exchange.exchange({values.first(n), values.last(n)});
    const auto squares = problem.residual_squares(values, extents.first_row, ghosts.above, ghosts.below);
    const double right = sum_over_ranks(MPI_COMM_WORLD, squares.right);
    return std::sqrt(sum_over_ranks(MPI_COMM_WORLD, squares.residual) / right);
  }

  /// "8", "8, with multigrid 20.7".
  std::string vectors_text() const {
    const auto vectors = [&](PoissonPreconditioner kind) {
      return fmt::format("{:.3g}", solvers::poisson_vectors_of_an_iteration(options.n.back(), kind));
    };
    const bool others = has(PoissonPreconditioner::none) || has(PoissonPreconditioner::jacobi);
    if (!has(PoissonPreconditioner::multigrid)) return vectors(PoissonPreconditioner::none);
    const std::string multigrid = vectors(PoissonPreconditioner::multigrid);
    return others ? vectors(PoissonPreconditioner::none) + ", with multigrid " + multigrid : multigrid;
  }

  /// The sum over all ranks of their concurrent copy rates.
  void begin(ModeRun& run) {
    world().barrier();
    run.on_all_ranks([&] { measure_copies(run.machine()); });
    for (double* rate : {&copies.device, &copies.host_serial, &copies.host_threads}) {
      *rate = sum_over_ranks(MPI_COMM_WORLD, *rate);
    }
  }
};
template <class Real>
using SharedPoisson = std::shared_ptr<PoissonStudy<Real>>;

/// `make_strip`: of the host, or of a memory of the device. `copy_rate` is known when the variant is made.
template <class Real>
Variant poisson_variant(const SharedPoisson<Real>& p, const std::string& name, PoissonPreconditioner preconditioner,
                        bool on_host, double CopyRates::*copy_rate, int threads,
                        std::function<std::unique_ptr<PoissonStrip<Real>>(ModeRun&)> make_strip) {
  struct Exchange {
    StripExchange<Real> strips;
    PoissonNeighbours<Real> none = {};
    ExchangeRounds rounds = {};
    solvers::StageClock clock = {};  // of the host
  };
  const auto shared = std::make_shared<std::unique_ptr<Exchange>>();
  const auto make = [=](ModeRun& run) {
    p->strip.reset();
    p->strip = make_strip(run);
    p->u.assign(static_cast<std::size_t>(p->extents.rows * p->extents.n), Real{0});
    *shared = std::unique_ptr<Exchange>(new Exchange{.strips = StripExchange<Real>(MPI_COMM_WORLD, p->extents.n)});
    Exchange& exchange = **shared;
    solvers::StageClock& clock = on_host ? exchange.clock : run.device().clock();
    const CgLimits limits{.most_iterations = poisson_most_iterations(p->extents.n)};
    return Steps{.load =
                     [=, &clock] {
                       const PoissonProblem problem(p->extents.n);
                       if (on_host) {
                         clock.measure(solvers::Stage::pack, [&] { p->strip->begin(problem, limits); });
                       } else {
                         p->strip->begin(problem, limits);
                       }
                     },
                 .compute =
                     [=, &clock, &exchange] {
                       if (!p->is_alone()) world().barrier();
                       exchange.strips.forget_times();
                       const WatchedSection watched;
                       clock.measure(solvers::Stage::compute, [&] {
                         p->outcome =
                             conjugate_gradients(*p->strip, p->is_alone() ? exchange.none : exchange.strips, limits);
                       });
                       exchange.rounds.add(exchange.strips.times());
                     },
                 .store = [p] { p->strip->store(p->u); },
                 .clock = &clock};
  };
  const auto check = [=](ModeRecord& record, ModeRun&) {
    Exchange& exchange = **shared;
    p->describe(record, preconditioner, p->copies.*copy_rate, exchange.strips);
    if (p->is_alone()) return;
    record.parameters.update(exchange.rounds.of_slowest_rank(static_cast<std::size_t>(p->options.warm_up)));
  };
  return {.name = name,
          .settings = p->settings_of(name, preconditioner, threads),
          .is_reference = on_host,
          .make = make,
          .check = check};
}

/// The loops of the host first, then every memory of the device.
template <class Real>
std::vector<Variant> poisson_variants(const SharedPoisson<Real>& p, const PoissonExtents& extents, int threads) {
  std::vector<Variant> all;
  for (const PoissonPreconditioner kind : p->options.preconditioner) {
    for (const std::string& name : p->options.host) {
      const bool serial = name == "serial";
      all.push_back(poisson_variant<Real>(
          p, name, kind, true, serial ? &CopyRates::host_serial : &CopyRates::host_threads, threads,
          [=](ModeRun&) { return make_host_poisson_strip<Real>(extents, serial ? 1 : threads, kind); }));
    }
    for (const PoissonMemory memory : p->options.memory) {
      if (!allowed(memory, kind)) continue;
      all.push_back(poisson_variant<Real>(
          p, std::string(name_of(memory)), kind, false, &CopyRates::device, threads,
          [=](ModeRun& run) { return solvers::make_poisson_strip<Real>(run.device(), extents, memory, kind); }));
      all.back().refusal = [=](const DeviceDescription& device) {
        return solvers::poisson_obstacle<Real>(device, extents, memory, kind);
      };
    }
  }
  return all;
}

template <class Real>
Study poisson_study(const PoissonOptions& o, const MpiSession& session, std::vector<std::string> notes) {
  const auto p = std::make_shared<PoissonStudy<Real>>(PoissonStudy<Real>{.options = o, .session = session});
  Study study{.needs_device = !o.memory.empty(), .notes = std::move(notes)};  // N^2 points; iterations grow with N
  for (const Index n : o.n) {
    const PoissonExtents extents = strip_of_rank(n, session.rank(), session.size());
    // u, its staging buffer, the vectors of the host or of software OpenGL (u, r, p twice), and multigrid's
    const double vectors = 2 + 4 + (p->has(PoissonPreconditioner::multigrid) ? 3 : 0);
    const auto points = static_cast<double>(extents.rows) * static_cast<double>(n);
    double bytes = session.local_size() * vectors * points * sizeof(Real);
    if (!p->is_alone() && session.rank() == 0 && !o.output.empty())
      bytes += square(n) * (sizeof(Real) + sizeof(double));
    study.problems.push_back(
        {.n = n,
         .size = std::to_string(n),
         .what = p->is_alone() ? fmt::format("--n {}: {} x {} points", n, n, n)
                               : fmt::format("--n {}: {} strips of about {} x {} points", n, session.local_size(),
                                             extents.rows, n),
         .precision = precision_of<Real>,
         .bytes = bytes,
         .fill = [p, extents] { p->extents = extents; },
         .variants = [p, extents](const ModeMachine& m) { return poisson_variants(p, extents, m.threads); }});
  }
  study.begin = [p](ModeRun& run) { p->begin(run); };
  study.end = [p](ModeRun& run) {
    p->strip.reset();
    run.print(poisson_results_table(run.records()) + "\nresidual: ||b - A u|| / ||b||, of u itself\nGB/s: of " +
              p->vectors_text() + " vectors of N^2 elements that an iteration reads or writes at least\n" +
              copies_text(p->copies, p->session.size()) + (p->is_alone() ? "" : poisson_ranks_table(run.records())));
  };
  study.result = [p] {  // on rank 0
    const Index n = p->extents.n;
    const std::vector<Real> u = p->is_alone() ? p->u : gather_strips<Real>(MPI_COMM_WORLD, n, p->u);
    return DenseMatrix{n, n, converted<double>(u)};
  };
  return study;
}

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
  const auto make = [&] {
    return options.precision == Precision::double_ ? poisson_study<double>(options, session, notes)
                                                   : poisson_study<float>(options, session, notes);
  };
  return run_study(make, "poisson", options, to_json(options, poisson_table), invocation);
}

}  // namespace glinpack::app
