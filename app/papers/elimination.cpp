#include "app/papers/elimination.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "app/input/values.hpp"
#include "app/papers/problem.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/elimination/gauss_jordan.hpp"
#include "solvers/elimination/plu_packed.hpp"

namespace glinpack::app {

namespace {

using solvers::EliminationPivoting;
using solvers::EliminationSettings;
using solvers::EliminationVariant;
using solvers::GaussJordan;
using solvers::PivotMeasure;
using solvers::PluPacked;

constexpr const char* gauss_jordan_examples =
    "  glinpack-papers gauss-jordan --n 100,256 --rhs 3\n"
    "  glinpack-papers gauss-jordan --n 255 --inverse --variant all\n"
    "  glinpack-papers gauss-jordan --n 128 --variant double-rows,plain --pivoting all --measure all\n"
    "  glinpack-papers gauss-jordan --input A.npy --input-b B.mtx --output X.npy\n";
constexpr const char* plu_packed_examples =
    "  glinpack-papers plu-packed --n 255,512\n"
    "  glinpack-papers plu-packed --n 1000 --rhs 0 --variant all  # the factors alone, as in the paper\n"
    "  glinpack-papers plu-packed --n 64,96,128,192,256 --fit\n"
    "  glinpack-papers plu-packed --input A.npy --input-b B.mtx --output X.npy\n";

/// The fields from --n to --rhs; `fewest_right_hand_sides`: 0 or 1.
std::vector<Field> system_fields(EliminationOptions& o, Index fewest_right_hand_sides) {
  return joined(problem_fields(o, "A from a .npy or Matrix Market file instead of random numbers",
                               "X of the last result, as .npy or .mtx by the name"),
                std::vector<Field>{
                    input_b_field(o, "Right-hand sides, with --input: N x any number of columns", "random numbers"),
                    {"rhs", whole(o.right_hand_sides, fewest_right_hand_sides, largest_n),
                     std::string("Right-hand sides") + (fewest_right_hand_sides == 0 ? "; 0: factors alone" : "")},
                });
}

std::vector<Field> elimination_variant_fields(EliminationOptions& o) {
  return {
      variant_field(o.variant, names_of(solvers::all_elimination_variants), "openblas"),
      {"measure", kinds_value(o.measure, solvers::all_pivot_measures),
       "Pivot measure of double-rows and compute, q11 q22 / (q11 + q22): of the magnitudes of q11 and q22, or with "
       "their signs as in the paper; all: both"},
  };
}

void check_system_sources(const Parsed<EliminationOptions>& parsed) {
  check_sources(parsed);
  const EliminationOptions& o = parsed.options;
  if (!o.input_b.empty() && parsed.given("rhs")) refuse_both("--rhs", "--input-b " + o.input_b);
}

/// The requested result.
enum class Wanted { solutions, inverse, factors };

/// A is n x n, B and X n x columns; row-major.
struct DenseSystem {
  Index n = 0;
  Index columns = 0;
  std::vector<float> a = {}, b = {}, x = {};

  RowMajorView<const float> view_a() const { return {a.data(), n, n, n}; }
  RowMajorView<const float> view_b() const { return {b.data(), n, columns, columns}; }
  RowMajorView<const float> view_x() const { return {x.data(), n, columns, columns}; }
  RowMajorView<float> view_x() { return {x.data(), n, columns, columns}; }
};

/// Solves with LAPACK: getrf and getrs, getrf and getri for the inverse, only getrf for factors. `a` is A, `b` is B
/// column-major. X replaces B; the inverse replaces A, row-major. Returns LAPACK's info.
template <class Real>
Index solve_by_lapack(const DenseSystem& system, Wanted wanted, std::vector<Real>& a, std::vector<Real>& b) {
  const RowMajorView<Real> matrix = square_view(a, system.n);
  if (wanted == Wanted::inverse) return invert_on_host<Real>(matrix);
  return solve_on_host<Real>(matrix, {b.data(), system.n, system.columns, system.n});
}

/// Solves in double precision with the single precision A and B; X is row-major. Empty if A is singular or X is not
/// requested.
std::vector<double> exact_solution(const DenseSystem& system, Wanted wanted) {
  if (system.columns == 0) return {};
  std::vector<double> a = converted<double>(system.a);
  std::vector<double> b = transposed(converted<double>(system.b), system.n, system.columns);
  if (solve_by_lapack<double>(system, wanted, a, b) != 0) return {};
  return wanted == Wanted::inverse ? a : transposed(b, system.columns, system.n);
}

/// The error of X relative to the largest element of the exact solution; the maximum over the columns. NaN if an
/// element is not finite.
double error_of_solution(const DenseSystem& system, const std::vector<double>& exact) {
  const std::vector<float> x = transposed(system.x, system.n, system.columns);
  const std::vector<double> columns = transposed(exact, system.n, system.columns);
  double error = 0;
  for (Index j = 0; j < system.columns; ++j) {
    const auto column = [&](const auto& of) {
      return std::vector(of.begin() + j * system.n, of.begin() + (j + 1) * system.n);
    };
    const double difference = largest_difference(column(x), column(columns));
    if (std::isnan(difference)) return difference;
    if (difference > 0) error = std::max(error, difference / largest_magnitude(column(columns)));
  }
  return error;
}

/// LAPACK first, then every variant on the device. Checks X by its residual. Reports the distance to the solution in
/// double precision, but does not check it: it depends on the condition of A.
template <class Solver>
class Elimination final : public Mode {
 public:
  Elimination(const EliminationOptions& options, Wanted wanted)
      : options_(options), wanted_(wanted), settings_(settings_of(options)) {}

  void prepare() override {
    if (!options_.input.empty()) a_ = read_elements(options_.input);
    if (options_.input_b.empty()) return;
    b_ = read_elements(options_.input_b, Precision::single, MatrixShape::any);
    check_same_rows(options_, "A", a_.rows, "B", b_.rows);
  }

  std::vector<Index> sizes() const override {
    return options_.input.empty() ? options_.n : std::vector<Index>{a_.rows};
  }
  std::optional<int> fit_degree() const override { return 3; }  // as in the paper
  bool needs_device() const override { return !settings_.empty(); }

  void check_size(std::size_t size, const ModeMachine& machine) const override {
    const DenseSystem system = empty_system(size);
    const std::string what = "a system of size " + size_text(system);
    const auto n = static_cast<double>(system.n), columns = static_cast<double>(system.columns);
    // A, LAPACK's copy, the padded copy, the staging buffer; A and its factors in double precision
    double bytes = n * (4 * (4 * n + 5 * columns) + 8 * (2 * n + 3 * columns));
    if (machine.device && machine.device->description().software) bytes += 2 * 4 * n * (n + columns);  // in host memory
    check_host_memory(what, bytes);
    for (const EliminationSettings& each : settings_) {
      check_obstacle(what + ", variant " + std::string(name_of(each.variant)),
                     Solver::obstacle(machine.device->description(), system.n, system.columns, each));
    }
  }

  void measure(std::size_t size, ModeRun& run) override {
    system_ = {};
    system_ = empty_system(size);
    fill();
    exact_ = exact_solution(system_, wanted_);
    measure_on_host(run);
    for (const EliminationSettings& settings : settings_) measure_on_device(settings, run);
  }

  std::optional<DenseMatrix> result() const override {
    return DenseMatrix{system_.n, system_.columns, converted<double>(system_.x)};
  }

  void end(ModeRun& run) override {
    run.print(errors_table(
        run.records(), "error", {.series_width = 40, .size_width = 14, .size = "size", .unknown = "inf"},
        "\nErrors: the residual ||A x - b|| / (eps (||A|| ||x|| + ||b||) n), which is judged, eps = 2^-24; and the "
        "difference\nfrom LAPACK's solution in double precision, over its largest element\n"));
  }

 private:
  DenseSystem empty_system(std::size_t size) const {
    const Index n = sizes()[size];
    const Index columns = wanted_ == Wanted::inverse ? n
                          : options_.input_b.empty() ? options_.right_hand_sides
                                                     : b_.columns;
    return {.n = n, .columns = columns};
  }

  /// "256", "256, rhs 3", "256, inverse", "256, factors"
  std::string size_text(const DenseSystem& system) const {
    const std::string order = std::to_string(system.n);
    if (wanted_ == Wanted::inverse) return order + ", inverse";
    if (wanted_ == Wanted::factors) return order + ", factors";
    return system.columns == 1 ? order : order + ", rhs " + std::to_string(system.columns);
  }

  /// The files' elements, or random ones. For the inverse, B is the identity.
  void fill() {
    const Index n = system_.n;
    std::mt19937_64 random(options_.seed);
    system_.a = random_elements<float>(n * n, random);
    system_.b = random_elements<float>(n * system_.columns, random);
    system_.x.resize(system_.b.size());
    if (!options_.input.empty()) system_.a = converted<float>(a_.elements);
    if (!options_.input_b.empty()) system_.b = converted<float>(b_.elements);
    if (wanted_ != Wanted::inverse) return;
    for (Index e = 0; e < n * n; ++e) system_.b[static_cast<std::size_t>(e)] = e % (n + 1) == 0 ? 1.0F : 0.0F;
  }

  ModeRecord record_of(std::string variant) const {
    const auto n = static_cast<double>(system_.n), columns = static_cast<double>(system_.columns);
    const bool inverse = wanted_ == Wanted::inverse;
    return {.variant = std::move(variant),
            .size = size_text(system_),
            .n = system_.n,
            .parameters = {{"right_hand_sides", system_.columns}, {"inverse", inverse}},
            // LAPACK's count; Gauss-Jordan elimination does 1.5 times as many for A
            .flops = inverse ? 2 * n * n * n : n * n * (2 * n / 3 + 2 * columns)};
  }

  ModeCheck check_solution() const {
    const DenseSystem& system = system_;
    return {"the equations, by their scaled residual",
            scaled_residual<float>(system.view_a(), system.view_x(), system.view_b()),
            solvers::largest_scaled_residual};
  }

  void add(ModeRecord record, ModeRun& run) const {
    if (record.failure.empty() && !exact_.empty()) {
      record.parameters["error"] = number_or_null(error_of_solution(system_, exact_));
    }
    run.add(std::move(record));
  }

  void measure_on_host(ModeRun& run) {
    ModeRecord record = record_of("openblas");
    record.is_rival = true;
    solvers::StageClock clock;
    run.time(record, clock, [&] {
      std::vector<float> a, b;
      clock.measure(solvers::Stage::pack, [&] {
        a = system_.a;
        b = transposed(system_.b, system_.n, system_.columns);
      });
      Index info = 0;
      clock.measure(solvers::Stage::compute, [&] { info = solve_by_lapack<float>(system_, wanted_, a, b); });
      check_regular(info, system_.n);
      clock.measure(solvers::Stage::unpack, [&] {
        system_.x = wanted_ == Wanted::inverse ? std::move(a) : transposed(b, system_.columns, system_.n);
      });
    });
    if (record.failure.empty() && wanted_ != Wanted::factors) record.check = check_solution();
    add(std::move(record), run);
  }

  void measure_on_device(const EliminationSettings& settings, ModeRun& run) {
    ModeRecord record = record_of(std::string(name_of(settings.variant)));
    record.settings = name_of(settings.pivoting);
    record.parameters["pivoting"] = name_of(settings.pivoting);
    if (solvers::block_size(settings.variant) > 1) {
      record.parameters["measure"] = name_of(settings.measure);
      if (settings.measure == PivotMeasure::as_signed) record.settings += ", signed";
    }
    std::fill(system_.x.begin(), system_.x.end(), 0.0F);
    Solver solver(run.device(), system_.n, system_.columns, settings);
    if (wanted_ == Wanted::factors) {
      factorize(solver, record, run);
    } else {
      run.time(record, run.device().clock(),
               [&] { solver.solve(system_.view_a(), system_.view_b(), system_.view_x()); });
      if (record.failure.empty()) record.check = check_solution();
    }
    add(std::move(record), run);
  }

  void factorize(Solver& solver, ModeRecord& record, ModeRun& run) {
    if constexpr (std::is_same_v<Solver, PluPacked>) {
      std::vector<float> factors(system_.a.size());
      run.time(record, run.device().clock(), [&] {
        solver.load(system_.view_a());
        solver.factorize();
        solver.store_factors(square_view(factors, system_.n));
      });
      if (!record.failure.empty()) return;
      record.check = ModeCheck{
          "P A = L U, by its scaled residual",
          factors_residual(system_.view_a(), square_view(std::as_const(factors), system_.n), solver.row_order()),
          solvers::largest_scaled_residual};
    }
  }

  const EliminationOptions& options_;
  Wanted wanted_;
  std::vector<EliminationSettings> settings_;
  DenseMatrix a_, b_;  // the files'
  DenseSystem system_;
  std::vector<double> exact_;  // X; empty if unknown
};

}  // namespace

std::vector<EliminationSettings> settings_of(const EliminationOptions& o) {
  std::vector<EliminationSettings> all;
  for (const EliminationPivoting pivoting : o.pivoting) {
    for (const EliminationVariant variant : kinds_among(o.variant, solvers::all_elimination_variants)) {
      if (solvers::block_size(variant) == 1) {
        all.push_back({variant, pivoting});
        continue;
      }
      for (const PivotMeasure measure : solvers::all_pivot_measures) {
        if (std::count(o.measure.begin(), o.measure.end(), measure) > 0) all.push_back({variant, pivoting, measure});
      }
    }
  }
  return all;
}

OptionTable gauss_jordan_table(EliminationOptions& o) {
  const Field inverse{"inverse", flag(o.inverse), "Compute the inverse of A: the right-hand sides are the identity"};
  const Field pivoting{"pivoting", kinds_value(o.pivoting, solvers::all_elimination_pivotings),
                       "partial: search the column for the pivot; full: search the remaining matrix; all: both"};
  return {.program = papers_name,
          .command = "gauss-jordan",
          .description =
              "Solves A X = B, or inverts A, by Gauss-Jordan elimination on a device, two rows and columns a step as "
              "the\npaper has it, and by single rows; judges X by its residual and compares with LAPACK.",
          .footer = mode_footer(gauss_jordan_examples),
          .groups = mode_groups(o, {{"Problem", joined(system_fields(o, 1), std::vector{inverse})},
                                    {"Variants", joined(elimination_variant_fields(o), std::vector{pivoting})}})};
}

OptionTable plu_packed_table(EliminationOptions& o) {
  return {.program = papers_name,
          .command = "plu-packed",
          .description =
              "Factorises P A = L U on a device, two rows of U a step, and solves A X = B with the factors, as the "
              "paper\nhas it, and by single rows; judges by residuals and compares with LAPACK.",
          .footer = mode_footer(plu_packed_examples),
          .groups = mode_groups(o, {{"Problem", system_fields(o, 0)}, {"Variants", elimination_variant_fields(o)}})};
}

EliminationOptions parse_gauss_jordan_options(const Texts& arguments) {
  const Parsed<EliminationOptions> parsed = parse(arguments, gauss_jordan_table);
  check_system_sources(parsed);
  const EliminationOptions& o = parsed.options;
  if (o.inverse && !o.input_b.empty()) refuse_both("--inverse", "--input-b " + o.input_b);
  if (o.inverse && parsed.given("rhs")) refuse_both("--inverse", "--rhs");
  return o;
}

EliminationOptions parse_plu_packed_options(const Texts& arguments) {
  const Parsed<EliminationOptions> parsed = parse(arguments, plu_packed_table);
  check_system_sources(parsed);
  const EliminationOptions& o = parsed.options;
  if (o.right_hand_sides == 0 && !o.output.empty()) {
    throw InputError("--output " + o.output + ": with --rhs 0 there is no solution to be written");
  }
  return o;
}

int run_gauss_jordan(const ModeInvocation& invocation) {
  const EliminationOptions options = parse_gauss_jordan_options(invocation.arguments);
  const Wanted wanted = options.inverse ? Wanted::inverse : Wanted::solutions;
  return run_mode(Elimination<GaussJordan>(options, wanted), options, gauss_jordan_table, invocation);
}

int run_plu_packed(const ModeInvocation& invocation) {
  const EliminationOptions options = parse_plu_packed_options(invocation.arguments);
  const bool factors_alone = options.right_hand_sides == 0 && options.input_b.empty();
  const Wanted wanted = factors_alone ? Wanted::factors : Wanted::solutions;
  return run_mode(Elimination<PluPacked>(options, wanted), options, plu_packed_table, invocation);
}

}  // namespace glinpack::app
