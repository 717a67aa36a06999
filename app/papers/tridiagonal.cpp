#include <algorithm>
#include <limits>

#include "app/input/values.hpp"
#include "app/papers/studies.hpp"
#include "app/program/topology.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::app {

namespace {

using solvers::TridiagonalSettings;
using solvers::TridiagonalSystems;
using solvers::TridiagonalVariant;

constexpr const char* tridiagonal_name = "tridiagonal";
constexpr Index largest_steps = 64;

constexpr const char* tridiagonal_examples =
    "  glinpack-papers tridiagonal --systems 1024 --n 512\n"
    "  glinpack-papers tridiagonal --variant all --systems 64,1024 --n 128,512 --csv times.csv\n"
    "  glinpack-papers tridiagonal --variant cyclic-reduction,lapack --systems 1 --n 1000000 --steps auto\n"
    "  glinpack-papers tridiagonal --input A.mtx --input-b B.npy --output X.npy\n";

/// The files of --input and --input-b; empty without them.
struct TridiagonalFiles {
  CoordinateMatrix matrix;
  DenseMatrix right;
};

// Refuses elements that overflow single precision or are off the three diagonals.
void check_entry(const CoordinateMatrix::Entry& entry, const TridiagonalOptions& o) {
  check_on_diagonals(o.input, entry.row, entry.column);
  if (o.precision == Precision::single &&
      std::abs(entry.value) > static_cast<double>(std::numeric_limits<float>::max())) {
    throw InputError("--input " + o.input + ": row " + std::to_string(entry.row + 1) + ", column " +
                     std::to_string(entry.column + 1) +
                     ": the element is beyond single precision, 3.4e38 at most; use --precision double");
  }
}

TridiagonalFiles read_tridiagonal(const TridiagonalOptions& o) {
  TridiagonalFiles files;
  if (o.input.empty()) return files;
  files.matrix = read_coordinates(o.input, view_node().available_memory, MatrixShape::square);
  for (const CoordinateMatrix::Entry& entry : files.matrix.entries) check_entry(entry, o);
  if (o.input_b.empty()) return files;
  files.right = read_elements(o.input_b, o.precision, MatrixShape::any);
  check_same_rows(o, "the matrix", files.matrix.rows, "the right-hand sides", files.right.rows);
  return files;
}

/// The systems, LAPACK's solutions and a variant's, system after system.
template <class Real>
struct SolvedSystems {
  TridiagonalSystems<Real> systems = {};
  std::vector<Real> expected = {}, computed = {};
  solvers::TridiagonalOperands<Real> operands = {};  // computed

  void fill(Index count, Index n, const TridiagonalOptions& o, const TridiagonalFiles& files) {
    systems = {};
    systems = solvers::random_tridiagonal_systems<Real>(count, n, o.seed);
    if (o.input.empty()) return;
    for (std::vector<Real>* diagonal : {&systems.lower, &systems.diagonal, &systems.upper}) {
      std::ranges::fill(*diagonal, Real{0});
    }
    for (Index s = 0; s < count; ++s) {
      for (const CoordinateMatrix::Entry& entry : files.matrix.entries) {
        std::vector<Real>& diagonal = entry.column < entry.row   ? systems.lower
                                      : entry.column > entry.row ? systems.upper
                                                                 : systems.diagonal;
        diagonal[static_cast<std::size_t>(s * n + entry.row)] = static_cast<Real>(entry.value);
      }
    }
    if (!o.input_b.empty()) systems.right = converted<Real>(transposed(files.right.elements, n, count));
  }
  ModeCheck check_residual() const {
    constexpr double threshold = 16;  // HPL's, for three elements per row instead of N
    return {"the equations, by their residual", solvers::largest_tridiagonal_residual<Real>(systems, computed),
            threshold};
  }
  /// Random systems are well conditioned, so their solutions must agree.
  ModeCheck check_against_lapack() const {
    const double largest = largest_magnitude(expected), difference = largest_difference(computed, expected);
    return {"LAPACK gtsv", largest > 0 ? difference / largest : difference,
            solvers::random_tridiagonal_condition * tolerance<Real>(systems.n)};
  }
};

template <class Real>
Variant solution_by_gtsv(const std::shared_ptr<SolvedSystems<Real>>& p, int threads) {
  const auto make = [p, threads](ModeRun&) {
    const auto copy = std::make_shared<TridiagonalSystems<Real>>();
    return Steps{.load = [=] { *copy = p->systems; },
                 .compute =
                     [=] {
                       const std::optional<solvers::ZeroPivot> zero = solve_tridiagonal_on_host(*copy, threads);
                       p->expected = std::move(copy->right);
                       check_pivots(zero);
                     }};
  };
  const auto check = [p](ModeRecord& record) {
    p->computed = p->expected;
    record.check = p->check_residual();
  };
  return {.name = "lapack",
          .settings = std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
          .is_reference = true,
          .make = make,
          .check = check};
}

template <class Real>
Variant solution_of_systems(const std::shared_ptr<SolvedSystems<Real>>& p, const TridiagonalSettings& settings,
                            Index count, Index n, bool are_random) {
  const auto make = [=](ModeRun& run) {
    p->computed.assign(p->systems.right.size(), Real{0});
    p->operands = {&p->systems, p->computed};
    return make_tridiagonal(run.device(), p->operands, settings);
  };
  const auto check = [=](ModeRecord& record) {
    record.check = are_random ? p->check_against_lapack() : p->check_residual();
  };
  const auto refusal = [=](const DeviceDescription& device) {
    return tridiagonal_obstacle(device, settings, precision_of<Real>, count, n);
  };
  return {.name = std::string(name_of(settings.variant)), .make = make, .check = check, .refusal = refusal};
}

template <class Real>
Problem tridiagonal_problem(const TridiagonalOptions& o, const std::shared_ptr<SolvedSystems<Real>>& p,
                            const std::shared_ptr<const TridiagonalFiles>& files, Index count, Index n) {
  const double numbers = static_cast<double>(count) * static_cast<double>(n) * sizeof(Real);
  const auto variants = [=, &o](const ModeMachine& machine) {
    std::vector<Variant> all{solution_by_gtsv(p, machine.threads)};
    for (const TridiagonalVariant each : kinds_among(o.variant, solvers::all_tridiagonal_variants)) {
      TridiagonalSettings settings = o.settings_of(each);
      const DeviceDescription& device = machine.device->description();
      std::vector<std::optional<Index>> groups{std::nullopt};
      if (each != TridiagonalVariant::raster) {
        groups = groups_of(o.group, tridiagonal_name, name_of(each), o.precision, device);
      }
      for (const std::optional<Index> group : groups) {
        settings.group = group;
        all.push_back(solution_of_systems(p, settings, count, n, o.input.empty()));
        all.back().settings = describe(device, settings, count, n);
        if (!group) continue;
        all.back().settings += ", group " + std::to_string(*group);
        all.back().parameters["group"] = *group;
      }
    }
    for (Variant& variant : all) {
      if (o.systems.size() > 1) variant.settings += ", " + std::to_string(count) + " systems";
    }
    return all;
  };
  return {.n = n,
          .size = std::to_string(count) + "x" + std::to_string(n),
          .what = std::to_string(count) + " systems of " + std::to_string(n) + " equations",
          .precision = o.precision,
          .parameters = {{"systems", count}, {"least_bytes", 5 * numbers}},
          .flops = solvers::tridiagonal_flops(count, n),
          // the systems, LAPACK's copy, two solutions, and the staging buffer: four numbers per equation
          .bytes = (4 + 4 + 2 + 4) * numbers,
          .fill = [=, &o] { p->fill(count, n, o, *files); },
          .variants = variants};
}

template <class Real>
Study systems_study(const TridiagonalOptions& o) {
  const auto files = std::make_shared<const TridiagonalFiles>(read_tridiagonal(o));
  const auto p = std::make_shared<SolvedSystems<Real>>();
  std::vector<Index> counts = o.systems, orders = o.n;
  if (!o.input.empty()) orders = {files->matrix.rows};
  if (!o.input_b.empty()) counts = {files->right.columns};
  if (counts.empty()) counts = {1};
  Study study{.fit_degree = 1,
              .needs_device = !kinds_among(o.variant, solvers::all_tridiagonal_variants).empty(),
              .notes = o.notes};
  for (const Index count : counts) {
    for (const Index n : orders) study.problems.push_back(tridiagonal_problem(o, p, files, count, n));
  }
  study.end = [&o](ModeRun& run) {
    if (o.group.size() > 1) keep_fastest_groups(tridiagonal_name, run);
  };
  study.result = [p] {
    const TridiagonalSystems<Real>& s = p->systems;
    return DenseMatrix{s.n, s.count, transposed(converted<double>(p->computed), s.count, s.n)};
  };
  return study;
}

}  // namespace

OptionTable tridiagonal_table(TridiagonalOptions& o) {
  const std::vector<Field> more_problem{
      {"systems", wholes(o.systems, 1, largest_n, "COUNT,..."), "Numbers of systems",
       "1024; with --input 1, or as many as --input-b has"},
      input_b_field(o, "Right-hand sides, one a column, with --input", "random numbers"),
  };
  FieldValue equations = choice(o.share, solvers::all_shares);
  equations.type = "16|all|auto";
  const std::vector<Field> variants{
      variant_field(o.variant, names_of(solvers::all_tridiagonal_variants), "lapack"),
      {"equations", equations,
       "compute: equations per invocation; auto: 16 on a GPU, all of a system on software OpenGL"},
      {"steps", or_auto(whole(o.steps, 0, largest_steps), [&o] { o.steps.reset(); }),
       "cyclic-reduction: reduction steps before the parts are solved; auto: until there are 16384 parts"},
      {"tile", whole(o.tile, 1, largest_n, "SIDE"), "raster: largest number of systems, and of equations, in a texture",
       "the largest texture"},
      group_field(o.group,
                  "compute and cyclic-reduction: invocations of a work group, at least those that a system takes",
                  "64 or 128, by the shader"),
      tune_field(o.tune, "compute and cyclic-reduction"),
      precision_field(o, "double: without raster"),
  };
  return mode_table(
      o, tridiagonal_name,
      "Solves many tridiagonal systems side by side, on fragment shaders as the paper has it, and on compute\n"
      "shaders; checks and compares with LAPACK's gtsv.",
      tridiagonal_examples,
      {{"Problem", joined(problem_fields(o, "The matrix of all systems, tridiagonal, from a Matrix Market or .npy file",
                                         "Solutions of the last result, one a column, as .npy or .mtx by the name"),
                          more_problem)},
       {"Variants", variants}});
}

TridiagonalOptions parse_tridiagonal_options(const Texts& arguments) {
  const Parsed<TridiagonalOptions> parsed = parse(arguments, tridiagonal_table);
  TridiagonalOptions o = parsed.options;
  check_sources(parsed);
  if (!o.input_b.empty() && !o.systems.empty()) refuse_both("--systems", "--input-b " + o.input_b);
  if (o.fit && o.systems.size() > 1) {
    throw InputError("--fit: the polynomial is one in N; give one number of --systems, not " +
                     std::to_string(o.systems.size()));
  }
  take_groups(parsed, o, {"compute", "cyclic-reduction"});
  leave_out_drawing(o, o.variant, solvers::all_tridiagonal_variants.size() + 1,
                    {"compute", "cyclic-reduction", "lapack"});
  if (o.systems.empty() && o.input.empty()) o.systems = {1024};
  return o;
}

Study tridiagonal_study(const TridiagonalOptions& o) {
  return o.precision == Precision::double_ ? systems_study<double>(o) : systems_study<float>(o);
}

}  // namespace glinpack::app
