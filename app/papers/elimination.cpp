#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/input/values.hpp"
#include "app/papers/studies.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/accuracy.hpp"

namespace glinpack::app {

namespace {

using solvers::EliminationPivoting;
using solvers::EliminationSettings;
using solvers::EliminationVariant;
using solvers::PivotMeasure;

constexpr const char* gauss_jordan_name = "gauss-jordan";
constexpr const char* plu_packed_name = "plu-packed";
constexpr const char* rref_name = "rref";  // of Gauss-Jordan elimination on the processor

constexpr const char* gauss_jordan_examples =
    "  glinpack-papers gauss-jordan --n 100,256 --rhs 3\n"
    "  glinpack-papers gauss-jordan --n 255 --inverse --variant all\n"
    "  glinpack-papers gauss-jordan --n 128 --variant double-rows,plain --pivoting all --measure all\n"
    "  glinpack-papers gauss-jordan --n 256 --precision double --variant compute,rref\n"
    "  glinpack-papers gauss-jordan --input A.npy --input-b B.mtx --output X.npy\n";
constexpr const char* plu_packed_examples =
    "  glinpack-papers plu-packed --n 255,512\n"
    "  glinpack-papers plu-packed --n 1000 --rhs 0 --variant all  # the factors alone, as in the paper\n"
    "  glinpack-papers plu-packed --n 64,96,128,192,256 --fit\n"
    "  glinpack-papers plu-packed --input A.npy --rhs 0 --output LU.npy --json P.json\n"
    "  glinpack-papers plu-packed --input A.npy --input-b B.mtx --output X.npy\n";

/// The fields from --n to --rhs; `fewest_right_hand_sides`: 0 or 1.
std::vector<Field> system_fields(EliminationOptions& o, Index fewest_right_hand_sides) {
  return joined(
      problem_fields(o, "A from a .npy or Matrix Market file instead of random numbers",
                     fewest_right_hand_sides > 0
                         ? "X of the last result, as .npy or .mtx by the name"
                         : "X of the last result, as .npy or .mtx by the name; with --rhs 0 L and U in one matrix, L's "
                           "diagonal of ones left out, and the rows of P as row_order in --json"),
      std::vector<Field>{
          input_b_field(o, "Right-hand sides, with --input: N x any number of columns", "random numbers"),
          {"rhs", whole(o.right_hand_sides, fewest_right_hand_sides, largest_n),
           std::string("Right-hand sides") + (fewest_right_hand_sides == 0 ? "; 0: factors alone" : "")},
      });
}

std::vector<Field> elimination_variant_fields(EliminationOptions& o, const char* on_host = nullptr) {
  Texts variants = names_of(solvers::all_elimination_variants);
  if (on_host) variants.emplace_back(on_host);
  return {
      variant_field(o.variant, std::move(variants), "openblas"),
      {"measure", kinds_value(o.measure, solvers::all_pivot_measures),
       "Pivot measure of double-rows and compute, q11 q22 / (q11 + q22): of the magnitudes of q11 and q22, or with "
       "their signs as in the paper; all: both"},
      group_field(o.group, "compute: invocations of a work group", "128"),
      tune_field(o.tune, "compute"),
      precision_field(o, "double: without double-rows and plain; compute if no variant is named"),
  };
}

/// The options of a mode, with the default variant of the precision. `doubles`: its variants in double precision.
/// Throws InputError.
EliminationOptions checked(const Parsed<EliminationOptions>& parsed, const Texts& doubles) {
  check_sources(parsed);
  EliminationOptions o = parsed.options;
  if (!o.input_b.empty() && parsed.given("rhs")) refuse_both("--rhs", "--input-b " + o.input_b);
  const std::string compute(name_of(EliminationVariant::compute));
  if (o.precision == Precision::double_ && !parsed.given("variant")) o.variant = {compute};
  take_groups(parsed, o, {compute});
  constexpr std::size_t drawing = 2;
  leave_out_drawing(o, o.variant, drawing + doubles.size(), doubles);
  return o;
}

/// The requested result.
enum class Wanted { solutions, inverse, factors };

/// A is n x n, B and X n x columns; row-major.
template <class Real>
struct SolvedSystem {
  Index n = 0;
  Index columns = 0;
  std::vector<Real> a = {}, b = {}, x = {};
  std::vector<double> exact = {};  // X in double precision; empty if unknown
  std::vector<Real> factors = {};  // of plu-packed without right-hand sides
  solvers::DenseSystem<Real> system = {};

  /// The system with results of zeros.
  solvers::DenseSystem<Real>& begin(Wanted wanted) {
    x.assign(b.size(), 0);
    factors.assign(wanted == Wanted::factors ? a.size() : 0, 0);
    system = {.a = square_view(std::as_const(a), n), .b = {b.data(), n, columns, columns}};
    system.x = {x.data(), n, columns, columns};
    if (wanted == Wanted::factors) system.factors = square_view(factors, n);
    return system;
  }
};
template <class Real>
using SharedSystem = std::shared_ptr<SolvedSystem<Real>>;

/// Solves with LAPACK: getrf and getrs, getrf and getri for the inverse, only getrf for factors. `a` is A, `b` is B
/// column-major. X replaces B; the inverse replaces A, row-major. Returns LAPACK's info.
template <class Real, class Given>
Index solve_by_lapack(const SolvedSystem<Given>& system, Wanted wanted, std::vector<Real>& a, std::vector<Real>& b) {
  const RowMajorView<Real> matrix = square_view(a, system.n);
  if (wanted == Wanted::inverse) return invert_on_host<Real>(matrix);
  return solve_on_host<Real>(matrix, {b.data(), system.n, system.columns, system.n});
}

/// Solves in double precision with A and B as they are; X is row-major. Empty if A is singular or X is not
/// requested.
template <class Real>
std::vector<double> exact_solution(const SolvedSystem<Real>& system, Wanted wanted) {
  if (system.columns == 0) return {};
  std::vector<double> a = converted<double>(system.a);
  std::vector<double> b = transposed(converted<double>(system.b), system.n, system.columns);
  if (solve_by_lapack<double>(system, wanted, a, b) != 0) return {};
  return wanted == Wanted::inverse ? a : transposed(b, system.columns, system.n);
}

/// The error of X relative to the largest element of the exact solution; the maximum over the columns. NaN if an
/// element is not finite.
template <class Real>
double error_of_solution(const SolvedSystem<Real>& system, const std::vector<double>& exact) {
  double error = 0;
  for (Index j = 0; j < system.columns; ++j) {
    double difference = 0, largest = 0;
    for (Index i = 0; i < system.n; ++i) {
      const auto e = static_cast<std::size_t>(i * system.columns + j);
      const double of_element = std::abs(static_cast<double>(system.x[e]) - exact[e]);
      if (!std::isfinite(of_element)) return std::numeric_limits<double>::quiet_NaN();
      difference = std::max(difference, of_element);
      largest = std::max(largest, std::abs(exact[e]));
    }
    if (difference > 0) error = std::max(error, difference / largest);
  }
  return error;
}

/// "256", "256, rhs 3", "256, inverse", "256, factors"
std::string size_text(Index n, Index columns, Wanted wanted) {
  const std::string order = std::to_string(n);
  if (wanted == Wanted::inverse) return order + ", inverse";
  if (wanted == Wanted::factors) return order + ", factors";
  return columns == 1 ? order : order + ", rhs " + std::to_string(columns);
}

/// X by its residual; for factors on a device, P A = L U. The distance to the solution in double precision is reported
/// but not checked: it depends on the condition of A.
template <class Real>
void check_solution(const SolvedSystem<Real>& p, Wanted wanted, ModeRecord& record) {
  if (wanted == Wanted::factors) {
    if (record.is_rival) return;
    record.check = ModeCheck{"P A = L U, by its scaled residual",
                             factors_residual<Real>(p.system.a, p.system.factors, p.system.row_order),
                             solvers::largest_scaled_residual};
    return;
  }
  record.check = ModeCheck{"the equations, by their scaled residual",
                           scaled_residual<Real>(p.system.a, p.system.x, p.system.b), solvers::largest_scaled_residual};
  if (!p.exact.empty()) record.parameters["error"] = number_or_null(error_of_solution(p, p.exact));
}

template <class Real>
Variant solution_by_lapack(const SharedSystem<Real>& p, Wanted wanted) {
  const auto make = [=](ModeRun&) {
    struct Copies {
      std::vector<Real> a, b;
    };
    const auto copies = std::make_shared<Copies>();
    p->begin(Wanted::solutions);
    return Steps{.load =
                     [=] {
                       copies->a = p->a;
                       copies->b = transposed(p->b, p->n, p->columns);
                     },
                 .compute = [=] { check_regular(solve_by_lapack<Real>(*p, wanted, copies->a, copies->b), p->n); },
                 .store =
                     [=] {
                       const std::vector<Real> x =
                           wanted == Wanted::inverse ? std::move(copies->a) : transposed(copies->b, p->columns, p->n);
                       std::ranges::copy(x, p->x.begin());
                     }};
  };
  const auto check = [=](ModeRecord& record) { check_solution(*p, wanted, record); };
  return {.name = "openblas", .is_reference = true, .make = make, .check = check};
}

/// MATLAB's rref of [A | B], by plain loops on all threads.
template <class Real>
Variant solution_by_rref(const SharedSystem<Real>& p, Wanted wanted) {
  const auto make = [=](ModeRun& run) {
    const auto both = std::make_shared<std::vector<Real>>();
    const int threads = run.machine().threads;
    p->begin(wanted);
    const Index n = p->n, columns = n + p->columns;
    const auto row = [=](Index i) { return both->data() + i * columns; };
    return Steps{
        .load =
            [=] {
              both->resize(static_cast<std::size_t>(n * columns));
              for (Index i = 0; i < n; ++i) {
                std::copy_n(p->system.a.row(i), n, row(i));
                std::copy_n(p->system.b.row(i), columns - n, row(i) + n);
              }
            },
        .compute =
            [=] {
              const std::vector<Index> pivots =
                  reduce_to_echelon_form<Real>({both->data(), n, columns, columns}, threads);
              for (std::size_t step = 0; static_cast<Index>(step) < n; ++step) {
                if (step < pivots.size() && pivots[step] == static_cast<Index>(step)) continue;
                throw solvers::NoResult(fmt::format("singular: rref finds no pivot at step {} of {}", step + 1, n));
              }
            },
        .store =
            [=] {
              for (Index i = 0; i < n; ++i) std::copy_n(row(i) + n, columns - n, p->system.x.row(i));
            }};
  };
  const auto check = [=](ModeRecord& record) { check_solution(*p, wanted, record); };
  return {.name = rref_name, .make = make, .check = check};
}

template <class Real>
Variant solution_on_device(const SharedSystem<Real>& p, const solvers::Elimination& method, Wanted wanted,
                           const EliminationSettings& settings, Index n, Index columns) {
  Variant variant{.name = std::string(name_of(settings.variant)),
                  .settings = std::string(name_of(settings.pivoting)),
                  .parameters = {{"pivoting", name_of(settings.pivoting)}}};
  if (solvers::block_size(settings.variant) > 1) {
    variant.parameters["measure"] = name_of(settings.measure);
    if (settings.measure == PivotMeasure::as_signed) variant.settings += ", signed";
  }
  if (settings.group) {
    variant.settings += ", group " + std::to_string(*settings.group);
    variant.parameters["group"] = *settings.group;
  }
  const Index block = solvers::block_size(settings.variant);
  variant.parameters["steps"] = (n + block - 1) / block;
  variant.make = [=](ModeRun& run) { return method.make(run.device(), p->begin(wanted), settings); };
  variant.check = [=](ModeRecord& record) {
    check_solution(*p, wanted, record);
    if (wanted == Wanted::factors) record.parameters["row_order"] = p->system.row_order;
  };
  variant.refusal = [=](const DeviceDescription& device) { return method.obstacle(device, n, columns, settings); };
  return variant;
}

/// A and B of the files; empty without them.
struct SystemFiles {
  DenseMatrix a, b;
};

SystemFiles read_system(const EliminationOptions& o) {
  SystemFiles files;
  if (!o.input.empty()) files.a = read_elements(o.input, o.precision);
  if (o.input_b.empty()) return files;
  files.b = read_elements(o.input_b, o.precision, MatrixShape::any);
  check_same_rows(o, "A", files.a.rows, "B", files.b.rows);
  return files;
}

/// The files' elements, or random ones. For the inverse, B is the identity.
template <class Real>
void fill_system(SolvedSystem<Real>& p, Index n, Index columns, const EliminationOptions& o, const SystemFiles& files,
                 Wanted wanted) {
  p = {};
  p.n = n;
  p.columns = columns;
  std::mt19937_64 random(o.seed);
  p.a = random_elements<Real>(n * n, random);
  p.b = random_elements<Real>(n * columns, random);
  if (!o.input.empty()) p.a = converted<Real>(files.a.elements);
  if (!o.input_b.empty()) p.b = converted<Real>(files.b.elements);
  for (Index e = 0; e < n * n && wanted == Wanted::inverse; ++e) {
    p.b[static_cast<std::size_t>(e)] = e % (n + 1) == 0;
  }
  p.exact = exact_solution(p, wanted);
}

template <class Real>
Study elimination_study(const std::string& mode, const EliminationOptions& o, const solvers::Elimination& method) {
  const bool factors_alone = o.right_hand_sides == 0 && o.input_b.empty();
  const Wanted wanted = o.inverse ? Wanted::inverse : factors_alone ? Wanted::factors : Wanted::solutions;
  const auto files = std::make_shared<const SystemFiles>(read_system(o));
  const auto p = std::make_shared<SolvedSystem<Real>>();
  const std::vector<EliminationSettings> settings = settings_of(o);
  Study study{.needs_device = !settings.empty(), .notes = o.notes};
  for (const Index n : o.input.empty() ? o.n : std::vector<Index>{files->a.rows}) {
    const Index columns = o.inverse ? n : o.input_b.empty() ? o.right_hand_sides : files->b.columns;
    const std::string size = size_text(n, columns, wanted);
    const auto rows = static_cast<double>(n), right = static_cast<double>(columns);
    const auto variants = [=, &o](const ModeMachine& machine) {
      std::vector<Variant> all{solution_by_lapack(p, wanted)};
      if (std::ranges::count(o.variant, rref_name) > 0) all.push_back(solution_by_rref(p, wanted));
      for (EliminationSettings each : settings) {
        if (each.variant != EliminationVariant::compute) {
          all.push_back(solution_on_device(p, method, wanted, each, n, columns));
          continue;
        }
        for (const std::optional<Index> group :
             groups_of(o.group, mode, name_of(each.variant), o.precision, machine.device->description())) {
          each.group = group;
          all.push_back(solution_on_device(p, method, wanted, each, n, columns));
        }
      }
      return all;
    };
    study.problems.push_back(
        {.n = n,
         .size = size,
         .what = "a system of size " + size,
         .precision = o.precision,
         .parameters = {{"right_hand_sides", columns}, {"inverse", o.inverse}},
         // LAPACK's count; Gauss-Jordan elimination does 1.5 times as many for A
         .flops = o.inverse ? 2 * rows * rows * rows : rows * rows * (2 * rows / 3 + 2 * right),
         // A, LAPACK's copy, the padded copy, the staging buffer; A and its factors in double precision
         .bytes = rows * (sizeof(Real) * (4 * rows + 5 * right) + 8 * (2 * rows + 3 * right)),
         .device_bytes = 2 * sizeof(Real) * rows * (rows + right),
         .fill = [&o, p, files, n, columns, wanted] { fill_system(*p, n, columns, o, *files, wanted); },
         .variants = variants});
  }
  study.end = [=, &o](ModeRun& run) {
    if (o.group.size() > 1) keep_fastest_groups(mode, run);
    const std::string errors =
        errors_table(run.records(), "error", "inf", 40, "size", 14, {{"steps", 8, parameter("/steps")}});
    if (errors.empty()) return;
    run.print(fmt::format(
        "\nErrors: the residual ||A x - b|| / (eps (||A|| ||x|| + ||b||) n), which is judged, eps = 2^{}; and the "
        "difference\nfrom LAPACK's solution in double precision, over its largest element\n{}",
        o.precision == Precision::single ? -24 : -53, errors));
  };
  study.result = [p, wanted]() -> std::optional<DenseMatrix> {
    if (wanted != Wanted::factors) return DenseMatrix{p->n, p->columns, converted<double>(p->x)};
    if (p->factors.empty()) return std::nullopt;  // LAPACK alone
    return DenseMatrix{p->n, p->n, converted<double>(p->factors)};
  };
  return study;
}

Study study_of(const std::string& mode, const EliminationOptions& o, const solvers::Elimination& method) {
  return o.precision == Precision::double_ ? elimination_study<double>(mode, o, method)
                                           : elimination_study<float>(mode, o, method);
}

}  // namespace

std::vector<EliminationSettings> settings_of(const EliminationOptions& o) {
  std::vector<EliminationSettings> all;
  for (const EliminationPivoting pivoting : o.pivoting) {
    for (const EliminationVariant variant : kinds_among(o.variant, solvers::all_elimination_variants)) {
      if (solvers::block_size(variant) == 1) {
        all.push_back({.variant = variant, .pivoting = pivoting, .precision = o.precision});
        continue;
      }
      for (const PivotMeasure measure : solvers::all_pivot_measures) {
        if (std::ranges::count(o.measure, measure) == 0) continue;
        all.push_back({variant, pivoting, measure, o.precision});
      }
    }
  }
  return all;
}

OptionTable gauss_jordan_table(EliminationOptions& o) {
  const Field inverse{"inverse", flag(o.inverse), "Compute the inverse of A: the right-hand sides are the identity"};
  const Field pivoting{"pivoting", kinds_value(o.pivoting, solvers::all_elimination_pivotings),
                       "partial: search the column for the pivot; full: search the remaining matrix; all: both"};
  return mode_table(
      o, gauss_jordan_name,
      "Solves A X = B, or inverts A, by Gauss-Jordan elimination on a device, two rows and columns a step as "
      "the\npaper has it, and by single rows; judges X by its residual and compares with LAPACK.",
      gauss_jordan_examples,
      {{"Problem", joined(system_fields(o, 1), std::vector{inverse})},
       {"Variants", joined(elimination_variant_fields(o, rref_name), std::vector{pivoting})}});
}

OptionTable plu_packed_table(EliminationOptions& o) {
  return mode_table(
      o, plu_packed_name,
      "Factorises P A = L U on a device, two rows of U a step, and solves A X = B with the factors, as the "
      "paper\nhas it, and by single rows; judges by residuals and compares with LAPACK.",
      plu_packed_examples, {{"Problem", system_fields(o, 0)}, {"Variants", elimination_variant_fields(o)}});
}

EliminationOptions parse_gauss_jordan_options(const Texts& arguments) {
  const Parsed<EliminationOptions> parsed = parse(arguments, gauss_jordan_table);
  EliminationOptions o = checked(parsed, {"compute", rref_name, "openblas"});
  if (o.inverse && !o.input_b.empty()) refuse_both("--inverse", "--input-b " + o.input_b);
  if (o.inverse && parsed.given("rhs")) refuse_both("--inverse", "--rhs");
  return o;
}

EliminationOptions parse_plu_packed_options(const Texts& arguments) {
  return checked(parse(arguments, plu_packed_table), {"compute", "openblas"});
}

Study gauss_jordan_study(const EliminationOptions& options) {
  return study_of(gauss_jordan_name, options, solvers::gauss_jordan);
}

Study plu_packed_study(const EliminationOptions& options) {
  return study_of(plu_packed_name, options, solvers::plu_packed);
}

}  // namespace glinpack::app
