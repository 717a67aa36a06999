#include "app/papers/paranoia.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "app/papers/problem.hpp"
#include "app/record/text.hpp"
#include "backend/registry.hpp"
#include "base/scaled_residual.hpp"
#include "lu/factorize.hpp"
#include "matrix/matrix_source.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/accuracy.hpp"
#include "solvers/elimination/elimination.hpp"

namespace glinpack::app {

namespace {

constexpr Index largest_samples = 10'000'000;

const Footer paranoia_footer{
    .examples =
        "glinpack-papers paranoia\n"
        "glinpack-papers paranoia --part arithmetic --variant compute,cpu --samples 1000000 --seed 7\n"
        "glinpack-papers paranoia --part lu --n 64,128,256,512,1024 --matrix uniform --json paranoia.json",
    .notes = {"Errors of operations are in units in the last place (ULP), of solutions in epsilon (2^-24 single, 2^-53 "
              "double)."},
    .exit_codes = {{0, "all results meet the GLSL specification, and all factors pass HPL's test"},
                   {1, "otherwise"},
                   {2, "unusable input"},
                   {3, "an error while running"}}};

constexpr std::array measured_precisions{Precision::single, Precision::double_};

constexpr Index block_columns = 32;

/// The system A x = b in one precision, and its exact solution in double precision.
template <class Real>
struct TestedSystem {
  Index n = 0;
  std::vector<Real> a, b;  // row-major
  std::vector<double> a_in_double, b_in_double;
  std::vector<double> exact;  // x; empty if unknown

  RowMajorView<const double> view_in_double() const { return {a_in_double.data(), n, n, n}; }
};

template <class Real>
TestedSystem<Real> problem_of(const ParanoiaOptions& options, Index n) {
  TestedSystem<Real> problem{.n = n, .a = {}, .b = {}, .a_in_double = {}, .b_in_double = {}, .exact = {}};
  std::vector<double> augmented(static_cast<std::size_t>(n * (n + 1)));
  const RowMajorView<double> view{augmented.data(), n, n + 1, n + 1};
  make_source(options.matrix, n, options.seed)->fill(Distribution(n, n, {1, 1}), {0, 0}, LocalIndex(0), view);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) problem.a.push_back(static_cast<Real>(view(i, j)));
    problem.b.push_back(static_cast<Real>(view(i, n)));
  }
  problem.a_in_double.assign(problem.a.begin(), problem.a.end());
  problem.b_in_double.assign(problem.b.begin(), problem.b.end());
  problem.exact = accurate_solution(problem.view_in_double(), problem.b_in_double);
  return problem;
}

/// Column-major factors in LAPACK's layout.
template <class Real>
struct Factors {
  std::vector<Real> elements;
  std::vector<Index> pivots;

  ColumnMajorView<Real> view() {
    const auto n = static_cast<Index>(pivots.size());
    return {elements.data(), n, n, n};
  }
};

/// Empty for a singular matrix.
template <class Real>
std::optional<Factors<Real>> factorize_on_device(Backend<Real>& backend, const TestedSystem<Real>& problem) {
  const Index n = problem.n;
  const auto matrix = backend.allocate(n, n);
  const auto buffer = backend.allocate_host(n * n);
  const HostBlock<Real> on_host_side{buffer.get(), 0, n, n, n};
  std::ranges::copy(problem.a, buffer->data());
  backend.wait(backend.upload(on_host_side, whole(*matrix)));
  std::vector<Index> pivots(problem.b.size());
  const RunParameters parameters{.nb = block_columns, .panel = PanelPlace::device};
  if (factorize_on_one_rank<Real>(backend, *matrix, parameters, pivots)) return std::nullopt;
  backend.wait(backend.download(whole(*matrix), on_host_side));
  const std::vector<Real> rows(buffer->data(), buffer->data() + n * n);
  return Factors<Real>{transposed(rows, n, n), std::move(pivots)};
}

template <class Real>
std::optional<Factors<Real>> factorize_by_lapack(const TestedSystem<Real>& problem) {
  Factors<Real> factors{transposed(problem.a, problem.n, problem.n), std::vector<Index>(problem.b.size())};
  if (factorize_on_host(factors.view(), factors.pivots) != 0) return std::nullopt;
  return factors;
}

template <class Real>
void judge(ModeRecord& record, const TestedSystem<Real>& problem, const std::vector<Real>& solution) {
  const double epsilon = epsilon_of(precision_of<Real>);
  const std::vector<double> x(solution.begin(), solution.end());
  const RowMajorView<const double> a = problem.view_in_double();
  const double x_norm = largest_magnitude(x);
  if (!std::isfinite(x_norm)) {
    record.failure = "the solution is not finite";
    return;
  }
  const double residual = largest_magnitude(accurate_residual(a, x, {}, problem.b_in_double));
  const double backward = scaled_residual(
      {.residual = residual, .a = row_sum_norm(a), .x = x_norm, .b = largest_magnitude(problem.b_in_double)}, epsilon,
      1);
  record.parameters["backward_error"] = backward;
  record.check = ModeCheck{"A and b", backward / static_cast<double>(problem.n), solvers::largest_scaled_residual};
  if (problem.exact.empty()) return;
  std::vector<double> difference(x);
  for (std::size_t i = 0; i < x.size(); ++i) difference[i] -= problem.exact[i];
  record.parameters["forward_error"] = largest_magnitude(difference) / largest_magnitude(problem.exact) / epsilon;
}

/// The system of one size, and the device's backend, which is made once.
template <class Real>
struct LuErrors {
  explicit LuErrors(const ParanoiaOptions& of) : options(of) {}

  const ParanoiaOptions& options;
  std::string on_device{automatic_backend(MemorySpace::device).name};
  Timeline timeline = {};
  std::unique_ptr<Backend<Real>> backend = {};
  TestedSystem<Real> problem = {};
  std::optional<Factors<Real>> factors = {};

  Backend<Real>& made_backend(ModeRun& run) {
    if (backend) return *backend;
    BackendOptions of_backend;
    of_backend.threads = run.machine().threads;
    of_backend.device = run.device().description().index;
    // a shader folder with only the arithmetic lacks the backend's shaders
    if (std::filesystem::is_directory(std::filesystem::path(options.shader_dir) / "compute")) {
      of_backend.values = {{"shader-dir", options.shader_dir}};
    }
    backend = make_backend<Real>(on_device, of_backend, timeline);
    return *backend;
  }

  /// `factorize` returns no factors of a singular matrix.
  template <class Factorize>
  Steps steps(const Factorize& factorize) {
    return {.compute = [this, factorize] {
      factors = factorize();
      if (!factors) throw NoResult("the matrix is singular");
    }};
  }

  void check(ModeRecord& record) {
    std::vector<Real> x = problem.b;
    substitute_on_host<Real>(factors->view(), factors->pivots, {x.data(), problem.n, 1, problem.n});
    judge(record, problem, x);
  }
};

/// LU of a matrix of order n in one precision: on the device, then by LAPACK, the rival.
template <class Real>
Problem lu_problem(const std::shared_ptr<LuErrors<Real>>& p, Index n) {
  const auto variants = [p, n](const ModeMachine&) {
    std::vector<Variant> all;
    const auto check = [p](ModeRecord& record) { p->check(record); };
    if (p->options.has_variant("compute")) {
      all.push_back({.name = p->on_device,
                     .make =
                         [p](ModeRun& run) {
                           Backend<Real>& backend = p->made_backend(run);
                           return p->steps([p, &backend] { return factorize_on_device(backend, p->problem); });
                         },
                     .check = check,
                     .refusal =
                         [n](const DeviceDescription& device) {
                           const bool fits = device.free_memory <= 0 ||
                                             square(n) * sizeof(double) <= static_cast<double>(device.free_memory);
                           return fits ? std::string()
                                       : "the matrix does not fit the memory that " + device.renderer +
                                             " has free; use a smaller N";
                         }});
    }
    if (p->options.has_variant("cpu")) {
      all.push_back({.name = std::string(openblas_record.name),
                     .is_reference = true,
                     .make = [p](ModeRun&) { return p->steps([p] { return factorize_by_lapack(p->problem); }); },
                     .check = check});
    }
    return all;
  };
  // in double precision: [A | b], A, its factors, those of the exact solution, buffers
  constexpr double matrices = 6;
  return {
      .n = n,
      .what = "--n " + std::to_string(n),
      .precision = precision_of<Real>,
      .parameters = {{"matrix", name_of(p->options.matrix)}, {"forward_error", nullptr}, {"backward_error", nullptr}},
      .bytes = matrices * square(n) * sizeof(double),
      .fill = [p, n] { p->problem = problem_of<Real>(p->options, n); },
      .variants = variants};
}

std::string lu_errors_text(std::span<const ModeRecord> records) {
  if (records.empty()) return {};
  constexpr const char* row = "  {:<10}{:>8}  {:<12}{:>14}{:>14}{:>14}  {}";
  std::string text =
      "\nLU of the same matrix: forward error |x - x*| / |x*|, backward error |b - A x| / (|A| |x| + |b|), in\n"
      "epsilon, norms of largest magnitudes and row sums; HPL's residual is the backward error over n\n" +
      table_line(fmt::format(row, "precision", "n", "on", "forward", "backward", "residual", ""));
  for (const ModeRecord& r : records) {
    if (!r.failure.empty()) {
      text += fmt::format("  {:<10}{:>8}  {:<12}FAILED: {}\n", name_of(r.precision), r.n, r.variant, r.failure);
      continue;
    }
    const auto value = [&](const char* name) {
      const nlohmann::json& found = r.parameters.at(name);
      return found.is_null() ? std::string("-") : fmt::format("{:.4g}", found.get<double>());
    };
    text += table_line(fmt::format(row, name_of(r.precision), r.n, r.variant, value("forward_error"),
                                   value("backward_error"), fmt::format("{:.4g}", r.check->error),
                                   r.check->passed() ? "passed" : "FAILED: above HPL's 16"));
  }
  return text;
}

/// The forward and the backward error of every record.
std::string lu_errors_csv(std::span<const ModeRecord> records) {
  std::string text;
  for (const ModeRecord& r : records) {
    for (const auto& [what, key] :
         {std::pair{"lu forward error", "forward_error"}, {"lu backward error", "backward_error"}}) {
      const nlohmann::json value = r.parameters.value(key, nlohmann::json());
      text +=
          csv_line({what, r.variant, std::string(name_of(r.precision)), std::to_string(r.n), "",
                    value.is_null() ? "" : csv_number(value.get<double>()), "epsilon", r.passed() ? "true" : "false"});
    }
  }
  return text;
}

}  // namespace

bool ParanoiaOptions::has_part(const std::string& name) const { return std::ranges::find(part, name) != part.end(); }
bool ParanoiaOptions::has_variant(const std::string& name) const {
  return std::ranges::find(variant, name) != variant.end();
}

OptionTable paranoia_table(ParanoiaOptions& o) {
  const std::vector<Field> problem{
      size_field(o),
      seed_field(o),
      {"matrix", choice(o.matrix, matrix_formulas), "Matrix of part lu"},
      {"samples", whole(o.samples, 0, largest_samples),
       "Random operands of each operation, in addition to chosen ones"},
  };
  const std::vector<Field> variants{
      {"part", names_value(o.part, {"arithmetic", "lu"}), "Parts to measure; all: both", "all"},
      {"variant", names_value(o.variant, {"compute", "fragment", "cpu"}),
       "compute: compute shaders; fragment: fragment shaders, only arithmetic in single precision; cpu: the processor; "
       "all: every variant",
       "all"},
      {"precision", kinds_value(o.precisions, measured_precisions), "Precisions of the operands; all: both", "all"},
  };
  OptionTable table = mode_table(
      o, "paranoia",
      "Measures the errors of +, -, x, /, fma and 1/x on a device and on the processor, against exact results\n"
      "and what GLSL demands, and how the error of LU grows with N on both.",
      "", {{"Problem", problem}, {"Variants", variants}}, false);
  table.footer = paranoia_footer;
  return table;
}

ParanoiaOptions parse_paranoia_options(const Texts& arguments) {
  const Parsed<ParanoiaOptions> parsed = parse(arguments, paranoia_table);
  const ParanoiaOptions& o = parsed.options;
  if (o.variant == Texts{"fragment"}) {
    if (!o.has_part("arithmetic")) throw InputError("--variant fragment: --part lu has compute and cpu only");
    if (o.precisions == std::vector<Precision>{Precision::double_}) {
      throw InputError(
          "--variant fragment: fragment shaders draw in single precision only; --precision double needs "
          "--variant compute or cpu");
    }
  }
  return parsed.options;
}

/// Arithmetic first, then LU: of every size in one precision, then in the other.
Study paranoia_study(const ParanoiaOptions& o) {
  constexpr double bytes_of_a_sample = 2 * 4 * sizeof(double);  // three operands and a result, twice while they grow
  check_host_memory("--samples " + std::to_string(o.samples), bytes_of_a_sample * static_cast<double>(o.samples));
  const auto findings = std::make_shared<ParanoiaFindings>();
  const bool fragment = o.has_variant("fragment") && o.has_part("arithmetic");
  Study study{.fit_degree = std::nullopt, .needs_device = o.has_variant("compute") || fragment};
  const auto add_problems = [&]<class Real>(const std::shared_ptr<LuErrors<Real>>& errors) {
    for (const Index n : o.n) study.problems.push_back(lu_problem(errors, n));
  };
  for (const Precision precision : o.has_part("lu") ? o.precisions : std::vector<Precision>{}) {
    if (precision == Precision::single) {
      add_problems(std::make_shared<LuErrors<float>>(o));
    } else {
      add_problems(std::make_shared<LuErrors<double>>(o));
    }
  }
  study.begin = [&o, findings](ModeRun& run) {
    if (!o.has_part("arithmetic")) return;
    for (const Precision precision : o.precisions) measure_arithmetic(o, precision, run, *findings);
  };
  study.end = [findings](ModeRun& run) {
    run.print(lu_errors_text(run.records()));
    add_to_json(*findings, run);
    run.replace_csv("what,on,precision,n,least,most,unit,passed\n" + operations_csv(*findings) +
                    lu_errors_csv(run.records()));
  };
  study.passed = [findings] { return findings->passed(); };
  return study;
}

}  // namespace glinpack::app
