#include "app/papers/poisson.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "app/input/values.hpp"
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

using solvers::PoissonKernel;
using solvers::PoissonMemory;

constexpr double papers_tolerance = 1e-6;
constexpr Index largest_iterations = 1'000'000'000;
constexpr Index largest_tile = 4096;

double parse_tolerance(std::string_view text) {
  const double tolerance = parse_real(text);
  if (tolerance > 0 && tolerance < 1) return tolerance;
  throw InputError(in_quotes(text) + " is not a tolerance: a number above 0 and below 1 is expected");
}

constexpr const char* poisson_examples =
    "  glinpack-papers poisson\n"
    "  glinpack-papers poisson --n 32,64,128,256 --memory all --json poisson.json\n"
    "  glinpack-papers poisson --n 256 --precision single --memory all --kernel all --host none\n"
    "  glinpack-papers poisson --n 512 --kernel paper --memory shared --tile 32\n"
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
  const auto read_kernel = [&o, all](const Texts& values) {
    o.all_kernels = values == all;
    o.kernel = parse_kinds(values, solvers::all_poisson_kernels);
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
      {"kernel",
       list_value(some_of(names_of(solvers::all_poisson_kernels), {"all"}), read_kernel,
                  [&o] { return names_of(o.kernel); }),
       "paper: its kernels, A p apart from level 1 of the BLAS, for one process without preconditioner; walk: an "
       "iteration in two kernels, whose invocations go down columns"},
      {"tile", whole(o.tile, 1, largest_tile, "P"),
       "Kernel paper, memory shared: points a side of a block; the device's shared memory bounds it by the paper's "
       "equation 7",
       "the largest power of two"},
      {"host", list_value(some_of(hosts, {"all", "none"}), read_host, [&o] { return o.host; }),
       "Loops on the processor: serial, with one thread; threads, with all; none"},
      {"preconditioner", list_value("NAME,...", read_preconditioner, [&o] { return names_of(o.preconditioner); }),
       enumerate(names_of(all_poisson_preconditioners)) +
           "; all: both. multigrid: V-cycles, few iterations for any N, only in one process and in storage buffers"},
      precision_field(o, "Of the vectors; partial sums of scalar products are added in double"),
  };
}

/// A kernel, a memory and a preconditioner among the options that cannot be combined; empty if there are none.
std::string impossible_combination(const PoissonOptions& o) {
  for (const PoissonKernel kernel : o.kernel) {
    for (const PoissonMemory memory : o.memory) {
      for (const PoissonPreconditioner kind : o.preconditioner) {
        if (allowed(kernel, memory, kind)) continue;
        return fmt::format("--preconditioner {}, --memory {}, --kernel {}", name_of(kind), name_of(memory),
                           name_of(kernel));
      }
    }
  }
  return {};
}

// Removes those that cannot be computed, with a note, if `all` named them; throws if they were named.
template <class Kind, class CannotBe>
void leave_out(std::vector<Kind>& kinds, bool by_all, CannotBe cannot_be, const std::string& option,
               const std::string& reason, const char* note, Texts& notes) {
  const auto first = std::ranges::find_if(kinds, cannot_be);
  if (first == kinds.end()) return;
  if (!by_all) throw InputError(option + " " + std::string(name_of(*first)) + reason);
  std::erase_if(kinds, cannot_be);
  notes.emplace_back(note);
}

}  // namespace

OptionTable poisson_table(PoissonOptions& o) {
  const std::vector<Field> problem{
      size_field(o),
      {"tolerance", real(o.tolerance, "TOLERANCE", parse_tolerance), "Iterations end at ||r|| <= TOLERANCE ||b||"},
      {"max-iterations", whole(o.max_iterations, 0, largest_iterations), "They also end after so many, with a warning",
       "10 N + 10, where it is an error"},
      {"first-guess", text(o.first_guess, "FILE"), "u to begin with, N x N, from a .npy or Matrix Market file", "zero"},
      {"output", text(o.output, "FILE"), "u of the last result, as .npy or .mtx by the name"}};
  OptionTable table = mode_table(
      o, "poisson",
      "Solves the Poisson equation on the unit square by conjugate gradients, without a matrix, with each kind\n"
      "of a device's memory; checks by the exact solution and compares with the processor. Under a launcher the\n"
      "processes share the square, each having a strip of it.",
      poisson_examples, {{"Problem", problem}, {"Variants", variant_fields(o)}});
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
  leave_out(o.memory, o.all_memories, lacks_precision, "--memory",
            ": textures hold single precision; use --precision single, or --memory global,shared",
            "--memory all in double precision is global and shared: textures hold single precision", o.notes);
  if (const std::string impossible = impossible_combination(o); !impossible.empty()) {
    if (!o.all_memories && !o.all_preconditioners && !o.all_kernels) {
      throw InputError(impossible +
                       ": multigrid works in storage buffers by kernel walk; use --memory global,shared --kernel walk");
    }
    o.notes.emplace_back("multigrid works in storage buffers by kernel walk: it is left out for others");
  }
  const auto has = [](const auto& kinds, auto kind) { return std::ranges::count(kinds, kind) > 0; };
  if (o.tile && !(has(o.kernel, PoissonKernel::paper) && has(o.memory, PoissonMemory::shared))) {
    throw InputError("--tile: only --kernel paper with --memory shared has tiles of any size; name both");
  }
  return o;
}

bool allowed(PoissonKernel kernel, PoissonMemory memory, PoissonPreconditioner preconditioner) {
  return preconditioner != PoissonPreconditioner::multigrid ||
         (kernel == PoissonKernel::walk && solvers::allows_multigrid(memory));
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
  const auto is = [](auto kind) { return [kind](auto other) { return other == kind; }; };
  const std::string is_alone = fmt::format(" is for one process, but {} were started; start one, or use ", ranks);
  leave_out(o.preconditioner, o.all_preconditioners, is(PoissonPreconditioner::multigrid), "--preconditioner",
            is_alone + "--preconditioner none",
            "--preconditioner all of several ranks is none: multigrid is for one process", notes);
  leave_out(o.kernel, o.all_kernels, is(PoissonKernel::paper), "--kernel", is_alone + "--kernel walk",
            "--kernel all of several ranks is walk: the paper's kernels are for one process", notes);
  leave_out(o.memory, o.all_memories, is(PoissonMemory::texture2d), "--memory",
            ": 2D textures hold the whole square, not strips; start one process, or use "
            "--memory global,texture1d,shared",
            "--memory all of several ranks is global, texture1d and shared: 2D textures hold the whole square", notes);
  return notes;
}

// ---- Check

namespace {

constexpr double says_nothing = 0.1;  // error bounds above it are useless: u is at most 1

/// Half a unit in the fifth digit.
double half_digit(double printed) { return 0.5 * std::pow(10.0, std::floor(std::log10(printed)) - 4); }

/// What ||r|| <= tolerance ||b|| leaves of the error: ||b|| is at most sqrt(2) pi^2 h^2 (n + 1), the norm of f, and the
/// least eigenvalue of A is 8 sin^2(pi h / 2). 0 for the paper's tolerance, whose part the other bounds hold.
double tolerance_bound(Index n, double tolerance) {
  if (tolerance <= papers_tolerance) return 0;
  constexpr double pi = std::numbers::pi;
  const double intervals = static_cast<double>(n + 1), sine = std::sin(pi / (2 * intervals));
  return tolerance * std::sqrt(2.0) * pi * pi / intervals / (8 * sine * sine);
}

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
  const auto row = std::ranges::find(table, result.n, &PaperPoisson::n);
  const bool papers_steps = result.preconditioner != PoissonPreconditioner::multigrid;
  const bool papers_limits = result.tolerance == papers_tolerance && result.from_zero;
  if (result.precision == Precision::double_ && papers_steps && papers_limits && row != table.end()) {
    if (result.iterations != row->iterations) {
      return ModeCheck{fmt::format("the paper's {} iterations", row->iterations),
                       std::abs(static_cast<double>(result.iterations - row->iterations)), 0.5};
    }
    return ModeCheck{"the paper's error", std::abs(result.largest_error - row->largest_error),
                     half_digit(row->largest_error)};
  }
  const double rounding = poisson_rounding_bound(result.n, result.precision);
  const double left = tolerance_bound(result.n, result.tolerance);
  if (rounding + left > says_nothing) return std::nullopt;
  return ModeCheck{rounding > 0 ? "the bounds of discretisation and rounding" : "the bound of the discretisation",
                   result.largest_error, poisson_discretisation_bound(result.n) + rounding + left};
}

// ---- Tables

namespace {

/// The rows of N, the variant and `more`.
std::string rows_of(std::span<const ModeRecord> records, const std::string& key, const std::vector<Column>& more) {
  std::vector<Column> columns{{"N", 7, [](const ModeRecord& r) { return std::to_string(r.n); }},
                              {"", 2, [](const ModeRecord&) { return std::string(); }},
                              {"variant", -12, [](const ModeRecord& r) { return r.variant; }}};
  columns.insert(columns.end(), more.begin(), more.end());
  return records_table(records, key, columns);
}

std::string poisson_results_table(std::span<const ModeRecord> records) {
  return "\n" + records_table(
                    records, "iterations",
                    {{"N", 7, [](const ModeRecord& r) { return std::to_string(r.n); }},
                     {"DOF", 12, [](const ModeRecord& r) { return std::to_string(r.n * r.n); }},
                     {"", 2, [](const ModeRecord&) { return std::string(); }},
                     {"variant", -12, [](const ModeRecord& r) { return r.variant; }},
                     {"precond.", -11, parameter("/preconditioner")},
                     {"kernel", -8, parameter("/kernel")},
                     {"", -8, [](const ModeRecord& r) { return std::string(name_of(r.precision)); }},
                     {"L_inf", 13, parameter("/largest_error", "{:.4e}")},
                     {"#iter", 8, parameter("/iterations")},
                     {"residual", 12, parameter("/true_residual", "{:.2e}")},
                     {"seconds", 12, [](const ModeRecord& r) { return fmt::format("{:.4g}", r.times.compute.median); }},
                     {"us/iteration", 14, parameter("/seconds_per_iteration", "{:.4g}", 1e6)},
                     {"GB/s", 10, parameter("/bytes_per_second", "{:.2f}", 1e-9)},
                     {"of copy", 8, parameter("/share_of_copy", "{:.2f}")}});
}

/// Iterations that --max-iterations ended.
std::string warnings_text(std::span<const ModeRecord> records) {
  std::string text;
  for (const ModeRecord& r : records) {
    if (r.parameters.value("converged", true)) continue;
    text += fmt::format("warning: {}: ended by --max-iterations {}, relative residual {}\n", r.label(),
                        parameter("/iterations")(r), parameter("/relative_residual", "{:.2e}")(r));
  }
  return text;
}

/// The cost of binding p as a texture in each iteration.
std::string bindings_text(std::span<const ModeRecord> records) {
  const std::string rows = rows_of(records, "binding_seconds",
                                   {{"us/binding", 12, parameter("/binding_seconds", "{:.4g}", 1e6)},
                                    {"us/iteration", 14, parameter("/seconds_per_iteration", "{:.4g}", 1e6)}});
  return rows.empty() ? rows : "\nBinding p as a texture, once an iteration\n" + rows;
}

std::string poisson_ranks_table(std::span<const ModeRecord> records) {
  const auto of_iteration = [](const char* pointer) {
    return [pointer](const ModeRecord& r) {
      return parameter(pointer, "{:.4g}", 1e6 / std::max(1.0, r.parameters.at("iterations").get<double>()))(r);
    };
  };
  return "\nus/iteration\n" +
         rows_of(records, "iterations",
                 {{"ranks", 6, parameter("/ranks")},
                  {"whole", 12, parameter("/seconds_per_iteration", "{:.4g}", 1e6)},
                  {"ghost rows", 14, of_iteration("/exchange_seconds")},
                  {"exposed", 11, of_iteration("/exposed_seconds")},
                  {"sums", 11, of_iteration("/sums_seconds")}}) +
         "ghost rows: from their sending until the neighbours' have come; exposed: the part of it after a rank's own "
         "work;\nsums: scalar products of all ranks added up, after ghost rows; slower ranks are waited for in either; "
         "the slowest rank's times\n";
}

}  // namespace

std::string memory_order_text(std::span<const ModeRecord> records) {
  struct Series {
    std::string name;
    std::vector<const ModeRecord*> records = {};
  };
  std::vector<Series> all;
  for (const ModeRecord& r : records) {
    const nlohmann::json kernel = r.parameters.value("kernel", nlohmann::json());
    if (!kernel.is_string() || !r.failure.empty()) continue;
    const std::string name =
        fmt::format("N = {}, kernel {}, {}{}", r.n, kernel.get<std::string>(), name_of(r.precision),
                    r.parameters.at("preconditioner") == "multigrid" ? ", multigrid" : "");
    auto series = std::ranges::find(all, name, &Series::name);
    if (series == all.end()) series = all.insert(all.end(), {name});
    series->records.push_back(&r);
  }
  const auto seconds = [](const ModeRecord* r) { return r->parameters.at("seconds_per_iteration").get<double>(); };
  std::string text;
  for (Series& series : all) {
    if (series.records.size() < 2) continue;
    std::ranges::stable_sort(series.records, {}, seconds);
    text += series.name + ":";
    for (const ModeRecord* r : series.records) {
      text += fmt::format("{} {} {:.4g}", r == series.records.front() ? "" : ",", r->variant, 1e6 * seconds(r));
    }
    text += "\n";
  }
  if (text.empty()) return text;
  return "\nMemories in the order of us/iteration (the paper's: global, texture2d, texture1d, shared)\n" + text;
}

// ---- Run

namespace {

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
  DenseMatrix guess = {};  // empty: zero
  CopyRates copies = {};
  PoissonExtents extents = {};
  std::unique_ptr<PoissonStrip<Real>> strip = {};  // one solver at a time is in memory
  CgOutcome outcome = {};
  std::vector<Real> u = {};

  bool is_alone() const { return session.size() == 1; }
  static bool is_among(const auto& kinds, auto kind) { return std::ranges::count(kinds, kind) > 0; }
  bool has(PoissonPreconditioner kind) const { return is_among(options.preconditioner, kind); }
  bool has(PoissonKernel kind) const { return is_among(options.kernel, kind); }

  void measure_copies(const ModeMachine& machine) {
    constexpr MeasuringOptions measuring{};
    if (machine.device) {
      const int device = machine.device->description().index;
      copies.device =
          compute::measure_device_copy(gl::open_device({.device = device}), ShaderSource(options.shader_dir), measuring)
              .rate.median;
    }
    for (const std::string& name : options.host) {
      const bool serial = name == "serial";
      (serial ? copies.host_serial : copies.host_threads) =
          measure_host_copy(serial ? 1 : machine.threads, measuring).median;
    }
  }

  CgLimits limits() const {
    return {.tolerance = options.tolerance,
            .max_iterations = options.max_iterations.value_or(poisson_max_iterations(extents.n))};
  }
  /// A e = b - A u of the first guess u.
  PoissonProblem problem_of_guess() const {
    PoissonProblem problem(extents.n);
    return guess.elements.empty() ? problem : PoissonProblem(extents.n, problem.residual(guess.elements));
  }
  /// The norm of b - A u of the first guess, over that of b.
  double first_residual() const {
    if (guess.elements.empty()) return 1;
    const auto squares = PoissonProblem(extents.n).residual_squares<double>(guess.elements, 0, {}, {});
    return std::sqrt(squares.residual / squares.right);
  }
  void add_guess() {
    const Index first = extents.first_row * extents.n;
    for (std::size_t e = 0; e < u.size() && !guess.elements.empty(); ++e) {
      u[e] = static_cast<Real>(guess.elements[static_cast<std::size_t>(first) + e] + static_cast<double>(u[e]));
    }
  }

  /// "2" for threads; "4 ranks x 2" or "4 ranks" for several ranks; with the preconditioner "2 multigrid".
  std::string settings_of(const std::string& variant, PoissonPreconditioner preconditioner, int threads) const {
    std::string settings = is_alone() ? "" : fmt::format("{} ranks", session.size());
    if (variant == "threads") settings += (settings.empty() ? "" : " x ") + std::to_string(threads);
    if (preconditioner == PoissonPreconditioner::none) return settings;
    return (settings.empty() ? "" : settings + " ") + std::string(name_of(preconditioner));
  }

  void describe(ModeRecord& record, std::optional<PoissonKernel> kernel, PoissonPreconditioner preconditioner,
                double copy_rate, StripExchange<Real>& exchange) const {
    const PoissonProblem problem(extents.n);
    const double min_bytes =
        (kernel == PoissonKernel::paper ? solvers::paper_vectors_of_an_iteration
                                        : solvers::poisson_vectors_of_an_iteration(record.n, preconditioner)) *
        square(record.n) * sizeof(Real);
    const double seconds = record.times.compute.median / static_cast<double>(std::max<Index>(1, outcome.iterations));
    const double rate = seconds > 0 ? min_bytes / seconds : 0;
    double error = problem.largest_error(std::span<const Real>(u), extents.first_row);
    all_reduce(MPI_COMM_WORLD, &error, 1, MPI_DOUBLE, MPI_MAX);
    record.parameters = {{"preconditioner", name_of(preconditioner)},
                         {"iterations", outcome.iterations},
                         {"relative_residual", outcome.relative_residual},
                         {"true_residual", true_residual(problem, exchange)},
                         {"largest_error", error},
                         {"seconds_per_iteration", seconds},
                         {"least_bytes_per_iteration", min_bytes},
                         {"bytes_per_second", rate},
                         {"share_of_copy", copy_rate > 0 ? nlohmann::json(rate / copy_rate) : nlohmann::json()},
                         {"ranks", session.size()}};
    if (kernel) record.parameters["kernel"] = name_of(*kernel);
    if (const double binding = strip->binding_seconds(); binding > 0) record.parameters["binding_seconds"] = binding;
    if (!outcome.converged && options.max_iterations) {
      record.parameters["converged"] = false;
      return;
    }
    if (!outcome.converged) {
      record.failure = fmt::format("not converged after {} iterations: relative residual {:.2e}", outcome.iterations,
                                   outcome.relative_residual);
      return;
    }
    record.check = check_poisson({.n = record.n,
                                  .precision = record.precision,
                                  .preconditioner = preconditioner,
                                  .iterations = outcome.iterations,
                                  .largest_error = error,
                                  .tolerance = options.tolerance,
                                  .from_zero = guess.elements.empty()});
  }

  double true_residual(const PoissonProblem& problem, StripExchange<Real>& exchange) const {
    const std::span<const Real> values(u);
    const auto n = static_cast<std::size_t>(problem.n());
    const GhostRows<Real> ghosts = exchange.exchange({values.first(n), values.last(n)});
    const auto squares = problem.residual_squares(values, extents.first_row, ghosts.above, ghosts.below);
    const double right = sum_over_ranks(MPI_COMM_WORLD, squares.right);
    return std::sqrt(sum_over_ranks(MPI_COMM_WORLD, squares.residual) / right);
  }

  /// "8", "8, by kernel paper 16, with multigrid 20.7".
  std::string vectors_text() const {
    const auto vectors = [&](PoissonPreconditioner kind) {
      return fmt::format("{:.3g}", solvers::poisson_vectors_of_an_iteration(options.n.back(), kind));
    };
    std::string text = vectors(PoissonPreconditioner::none);
    if (has(PoissonKernel::paper)) text += fmt::format(", by kernel paper {}", solvers::paper_vectors_of_an_iteration);
    return has(PoissonPreconditioner::multigrid)
               ? text + ", with multigrid " + vectors(PoissonPreconditioner::multigrid)
               : text;
  }

  /// The paper's equation 7 on this device; empty without its kernel for shared memory.
  std::string equation_7(const ModeMachine& machine) const {
    if (!has(PoissonKernel::paper) || !is_among(options.memory, PoissonMemory::shared)) return {};
    const Index shared_bytes = machine.device->description().shared_memory;
    return fmt::format("\nequation 7: (2 P^2 + 4 P) {} <= {} bytes of shared memory, so P <= {}\n", sizeof(Real),
                       shared_bytes, solvers::largest_paper_tile(shared_bytes, precision_of<Real>));
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

/// `make_strip`: of the host, which has no kernel, or of a memory of the device. `copy_rate` is known when the variant
/// is made.
template <class Real>
Variant poisson_variant(const SharedPoisson<Real>& p, const std::string& name, std::optional<PoissonKernel> kernel,
                        PoissonPreconditioner preconditioner, double CopyRates::*copy_rate, int threads,
                        std::function<std::unique_ptr<PoissonStrip<Real>>(ModeRun&)> make_strip) {
  const bool on_host = !kernel;
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
    CgLimits limits = p->limits();
    const double first = p->first_residual();
    limits.tolerance = first > 0 ? std::min(1.0, limits.tolerance / first) : 1;  // of the residual to begin with
    return Steps{.load =
                     [=, &clock] {
                       const PoissonProblem problem = p->problem_of_guess();
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
                       p->outcome.relative_residual *= first;
                       exchange.rounds.add(exchange.strips.times());
                     },
                 .store =
                     [p] {
                       p->strip->store(p->u);
                       p->add_guess();
                     },
                 .clock = &clock};
  };
  const auto check = [=](ModeRecord& record) {
    Exchange& exchange = **shared;
    p->describe(record, kernel, preconditioner, p->copies.*copy_rate, exchange.strips);
    if (p->is_alone()) return;
    record.parameters.update(exchange.rounds.of_slowest_rank(static_cast<std::size_t>(p->options.warm_up)));
  };
  return {.name = name,
          .settings = p->settings_of(name, preconditioner, threads),
          .is_reference = on_host,
          .make = make,
          .check = check};
}

template <class Real>
Variant poisson_on_device(const SharedPoisson<Real>& p, const PoissonExtents& extents, PoissonKernel kernel,
                          PoissonMemory memory, PoissonPreconditioner preconditioner, const ModeMachine& machine) {
  const bool papers = kernel == PoissonKernel::paper;
  const std::optional<Index> tile = memory == PoissonMemory::shared ? p->options.tile : std::nullopt;
  const auto make = [=](ModeRun& run) -> std::unique_ptr<PoissonStrip<Real>> {
    if (papers) return solvers::make_paper_poisson_strip<Real>(run.device(), extents.n, memory, tile);
    return solvers::make_poisson_strip<Real>(run.device(), extents, memory, preconditioner);
  };
  Variant variant = poisson_variant<Real>(p, std::string(name_of(memory)), kernel, preconditioner, &CopyRates::device,
                                          machine.threads, make);
  if (papers) {
    variant.settings = "paper";
    if (memory == PoissonMemory::shared) {
      const Index shared_bytes = machine.device->description().shared_memory;
      const Index side = tile.value_or(solvers::default_paper_tile(shared_bytes, precision_of<Real>));
      variant.settings += fmt::format(", P = {}", side);
    }
  }
  variant.refusal = [=](const DeviceDescription& device) {
    return papers ? solvers::paper_poisson_obstacle<Real>(device, extents.n, memory, tile)
                  : solvers::poisson_obstacle<Real>(device, extents, memory, preconditioner);
  };
  return variant;
}

/// The loops of the host first, then every kernel and memory of the device.
template <class Real>
std::vector<Variant> poisson_variants(const SharedPoisson<Real>& p, const PoissonExtents& extents,
                                      const ModeMachine& machine) {
  std::vector<Variant> all;
  const int threads = machine.threads;
  for (const PoissonPreconditioner kind : p->options.preconditioner) {
    for (const std::string& name : p->options.host) {
      const bool serial = name == "serial";
      all.push_back(poisson_variant<Real>(
          p, name, std::nullopt, kind, serial ? &CopyRates::host_serial : &CopyRates::host_threads, threads,
          [=](ModeRun&) { return make_host_poisson_strip<Real>(extents, serial ? 1 : threads, kind); }));
    }
    for (const PoissonKernel kernel : p->options.kernel) {
      for (const PoissonMemory memory : p->options.memory) {
        if (allowed(kernel, memory, kind)) {
          all.push_back(poisson_on_device<Real>(p, extents, kernel, memory, kind, machine));
        }
      }
    }
  }
  return all;
}

DenseMatrix read_guess(const PoissonOptions& o) {
  if (o.first_guess.empty()) return {};
  DenseMatrix guess = read_elements(o.first_guess, Precision::double_);
  for (const Index n : o.n) {
    if (n == guess.rows) continue;
    throw InputError(fmt::format("--first-guess {}: it has {} rows, but --n {} needs as many; give one --n",
                                 o.first_guess, guess.rows, n));
  }
  return guess;
}

template <class Real>
Study poisson_study(const PoissonOptions& o, const MpiSession& session) {
  const auto p = std::make_shared<PoissonStudy<Real>>(
      PoissonStudy<Real>{.options = o, .session = session, .guess = read_guess(o)});
  Study study{.needs_device = !o.memory.empty(), .notes = o.notes};  // N^2 points; iterations grow with N
  for (const Index n : o.n) {
    const PoissonExtents extents = strip_of_rank(n, session.rank(), session.size());
    // u, its staging buffer, the vectors of the host or of software OpenGL (u, r, p twice), and multigrid's
    const double vectors = 2 + 4 + (p->has(PoissonPreconditioner::multigrid) ? 3 : 0);
    const auto points = static_cast<double>(extents.rows) * static_cast<double>(n);
    double bytes = session.local_size() * vectors * points * sizeof(Real);
    if (!o.first_guess.empty()) bytes += session.local_size() * 2 * square(n) * sizeof(double);
    if (!p->is_alone() && session.rank() == 0 && !o.output.empty())
      bytes += square(n) * (sizeof(Real) + sizeof(double));
    study.problems.push_back(
        {.n = n,
         .what = p->is_alone() ? fmt::format("--n {}: {} x {} points", n, n, n)
                               : fmt::format("--n {}: {} strips of about {} x {} points", n, session.local_size(),
                                             extents.rows, n),
         .precision = precision_of<Real>,
         .bytes = bytes,
         .fill = [p, extents] { p->extents = extents; },
         .variants = [p, extents](const ModeMachine& m) { return poisson_variants(p, extents, m); }});
  }
  study.begin = [p](ModeRun& run) { p->begin(run); };
  study.end = [p](ModeRun& run) {
    p->strip.reset();
    run.print(poisson_results_table(run.records()) + "\nresidual: ||b - A u|| / ||b||, of u itself\nGB/s: of " +
              p->vectors_text() + " vectors of N^2 elements that an iteration reads or writes at least\n" +
              copies_text(p->copies, p->session.size()) + bindings_text(run.records()) +
              memory_order_text(run.records()) + p->equation_7(run.machine()) + warnings_text(run.records()) +
              (p->is_alone() ? "" : poisson_ranks_table(run.records())));
  };
  study.result = [p] {  // on rank 0
    const Index n = p->extents.n;
    const std::vector<Real> u = p->is_alone() ? p->u : gather_strips<Real>(MPI_COMM_WORLD, n, p->u);
    return DenseMatrix{n, n, converted<double>(u)};
  };
  return study;
}

}  // namespace

int run_poisson(const Invocation& invocation, const MpiSession& session) {
  PoissonOptions options = parse_alike(invocation.arguments, parse_poisson_options);
  for (const std::string& note : adapt_to_ranks(options, session.size())) options.notes.push_back(note);
  const auto make = [&] {
    return options.precision == Precision::double_ ? poisson_study<double>(options, session)
                                                   : poisson_study<float>(options, session);
  };
  return run_study(make, "poisson", options, to_json(options, poisson_table), invocation, &session);
}

}  // namespace glinpack::app
