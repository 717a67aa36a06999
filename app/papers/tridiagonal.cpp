#include "app/papers/tridiagonal.hpp"

#include <algorithm>
#include <limits>

#include "app/input/values.hpp"
#include "app/papers/problem.hpp"
#include "app/program/topology.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::app {

namespace {

using solvers::TridiagonalSettings;
using solvers::TridiagonalSystems;
using solvers::TridiagonalVariant;

constexpr Index largest_steps = 64;

constexpr const char* tridiagonal_examples =
    "  glinpack-papers tridiagonal --systems 1024 --n 512\n"
    "  glinpack-papers tridiagonal --variant all --systems 64,1024 --n 128,512 --csv times.csv\n"
    "  glinpack-papers tridiagonal --variant cyclic-reduction,lapack --systems 1 --n 1000000 --steps auto\n"
    "  glinpack-papers tridiagonal --input A.mtx --input-b B.npy --output X.npy\n";

/// LAPACK first, then every variant on the device.
template <class Real>
class Tridiagonal final : public Mode {
 public:
  explicit Tridiagonal(const TridiagonalOptions& options)
      : options_(options), variants_(kinds_among(options.variant, solvers::all_tridiagonal_variants)) {}

  void prepare() override {
    if (options_.input.empty()) return;
    matrix_ = read_coordinates(options_.input, view_node().available_memory, MatrixShape::square);
    for (const CoordinateMatrix::Entry& entry : matrix_.entries) check_entry(entry);
    if (options_.input_b.empty()) return;
    right_ = read_elements(options_.input_b, options_.precision, MatrixShape::any);
    check_same_rows(options_, "the matrix", matrix_.rows, "the right-hand sides", right_.rows);
  }

  std::vector<Index> sizes() const override {
    std::vector<Index> orders;
    for (const Extents& e : all_extents()) orders.push_back(e.n);
    return orders;
  }
  std::optional<int> fit_degree() const override { return 1; }
  bool needs_device() const override { return !variants_.empty(); }

  void check_size(std::size_t size, const ModeMachine& machine) const override {
    const auto [count, n] = all_extents()[size];
    const std::string what = std::to_string(count) + " systems of " + std::to_string(n) + " equations";
    // the systems, LAPACK's copy, two solutions, and the staging buffer: four numbers per equation
    constexpr double numbers_of_an_equation = 4 + 4 + 2 + 4;
    check_host_memory(what,
                      numbers_of_an_equation * sizeof(Real) * static_cast<double>(count) * static_cast<double>(n));
    for (const TridiagonalVariant variant : variants_) {
      check_obstacle(what + ", variant " + std::string(name_of(variant)),
                     tridiagonal_obstacle(machine.device->description(), options_.settings_of(variant),
                                          options_.precision, count, n));
    }
  }

  void measure(std::size_t size, ModeRun& run) override {
    make_systems(all_extents()[size]);
    measure_on_host(run);
    for (const TridiagonalVariant variant : variants_) measure_on_device(options_.settings_of(variant), run);
  }

  std::optional<DenseMatrix> result() const override {
    return DenseMatrix{systems_.n, systems_.count,
                       transposed(converted<double>(computed_), systems_.count, systems_.n)};
  }

 private:
  struct Extents {
    Index count = 0;
    Index n = 0;
  };

  // Refuses elements that overflow single precision or are off the three diagonals.
  void check_entry(const CoordinateMatrix::Entry& entry) const {
    check_on_diagonals(options_.input, entry.row, entry.column);
    if (options_.precision == Precision::single &&
        std::abs(entry.value) > static_cast<double>(std::numeric_limits<float>::max())) {
      throw InputError("--input " + options_.input + ": row " + std::to_string(entry.row + 1) + ", column " +
                       std::to_string(entry.column + 1) +
                       ": the element is beyond single precision, 3.4e38 at most; use --precision double");
    }
  }

  std::vector<Extents> all_extents() const {
    std::vector<Index> counts = options_.systems, orders = options_.n;
    if (!options_.input.empty()) orders = {matrix_.rows};
    if (!options_.input_b.empty()) counts = {right_.columns};
    if (counts.empty()) counts = {1};
    std::vector<Extents> all;
    for (const Index count : counts) {
      for (const Index n : orders) all.push_back({count, n});
    }
    return all;
  }

  void make_systems(const Extents& e) {
    systems_ = {};
    systems_ = solvers::random_tridiagonal_systems<Real>(e.count, e.n, options_.seed);
    if (options_.input.empty()) return;
    for (std::vector<Real>* diagonal : {&systems_.lower, &systems_.diagonal, &systems_.upper}) {
      std::fill(diagonal->begin(), diagonal->end(), Real{0});
    }
    for (Index s = 0; s < e.count; ++s) {
      for (const CoordinateMatrix::Entry& entry : matrix_.entries) {
        std::vector<Real>& diagonal = entry.column < entry.row   ? systems_.lower
                                      : entry.column > entry.row ? systems_.upper
                                                                 : systems_.diagonal;
        diagonal[static_cast<std::size_t>(s * e.n + entry.row)] = static_cast<Real>(entry.value);
      }
    }
    if (!options_.input_b.empty()) systems_.right = converted<Real>(transposed(right_.elements, e.n, e.count));
  }

  ModeRecord record_of(std::string_view variant, std::string settings) const {
    const Index count = systems_.count, n = systems_.n;
    if (options_.systems.size() > 1) settings += ", " + std::to_string(count) + " systems";
    const double numbers = 5 * static_cast<double>(count) * static_cast<double>(n);
    return {.variant = std::string(variant),
            .settings = std::move(settings),
            .size = std::to_string(count) + "x" + std::to_string(n),
            .n = n,
            .precision = options_.precision,
            .parameters = {{"systems", count}, {"least_bytes", numbers * sizeof(Real)}},
            .flops = solvers::tridiagonal_flops(count, n)};
  }

  void measure_on_host(ModeRun& run) {
    const int threads = run.machine().threads;
    ModeRecord record = record_of("lapack", std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
    record.is_rival = true;
    solvers::StageClock clock;
    run.time(record, clock, [&] {
      TridiagonalSystems<Real> copy;
      std::optional<solvers::ZeroPivot> zero;
      clock.measure(solvers::Stage::pack, [&] { copy = systems_; });
      clock.measure(solvers::Stage::compute, [&] { zero = solve_tridiagonal_on_host(copy, threads); });
      expected_ = std::move(copy.right);
      check_pivots(zero);
    });
    computed_ = expected_;
    judge(std::move(record), false, run);
  }

  void measure_on_device(const TridiagonalSettings& settings, ModeRun& run) {
    solvers::Device& device = run.device();
    ModeRecord record =
        record_of(name_of(settings.variant), describe(device.description(), settings, systems_.count, systems_.n));
    const auto solver = solvers::make_tridiagonal_solver<Real>(device, systems_.count, systems_.n, settings);
    computed_.assign(expected_.size(), Real{0});
    run.time(record, device.clock(), [&] {
      solver->load(systems_);
      solver->compute();
      check_pivots(solver->store(computed_));
    });
    judge(std::move(record), options_.input.empty(), run);
  }

  // Random systems are well conditioned, so their solutions must agree. For other systems, only the residual is
  // checked.
  void judge(ModeRecord record, bool against_lapack, ModeRun& run) const {
    constexpr double residual_threshold = 16;  // HPL's, for three elements per row instead of N
    if (record.failure.empty() && against_lapack) {
      const double largest = largest_magnitude(expected_), difference = largest_difference(computed_, expected_);
      record.check = ModeCheck{"LAPACK gtsv", largest > 0 ? difference / largest : difference,
                               solvers::random_tridiagonal_condition * tolerance<Real>(systems_.n)};
    } else if (record.failure.empty()) {
      record.check = ModeCheck{"the equations, by their residual",
                               solvers::largest_tridiagonal_residual<Real>(systems_, computed_), residual_threshold};
    }
    run.add(std::move(record));
  }

  const TridiagonalOptions& options_;
  std::vector<TridiagonalVariant> variants_;
  CoordinateMatrix matrix_;  // the files'
  DenseMatrix right_;
  TridiagonalSystems<Real> systems_;
  std::vector<Real> expected_, computed_;  // system after system
};

}  // namespace

void check_pivots(const std::optional<solvers::ZeroPivot>& zero) {
  if (!zero) return;
  throw NoResult("zero pivot: system " + std::to_string(zero->system + 1) + ", row " +
                 std::to_string(zero->equation + 1));
}

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
      precision_field(o, "double: all variants except raster"),
  };
  return {.program = papers_name,
          .command = "tridiagonal",
          .description =
              "Solves many tridiagonal systems side by side, on fragment shaders as the paper has it, and on compute\n"
              "shaders; checks and compares with LAPACK's gtsv.",
          .footer = mode_footer(tridiagonal_examples),
          .groups = mode_groups(
              o, {{"Problem",
                   joined(problem_fields(o, "The matrix of all systems, tridiagonal, from a Matrix Market or .npy file",
                                         "Solutions of the last result, one a column, as .npy or .mtx by the name"),
                          more_problem)},
                  {"Variants", variants}})};
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
  const Texts& names = o.variant;
  if (o.precision == Precision::double_ && std::find(names.begin(), names.end(), "raster") != names.end()) {
    throw InputError(
        "--precision double: the variant raster draws into single-precision textures; use --variant "
        "compute,cyclic-reduction,lapack or --precision single");
  }
  if (o.systems.empty() && o.input.empty()) o.systems = {1024};
  return o;
}

int run_tridiagonal(const ModeInvocation& invocation) {
  const TridiagonalOptions options = parse_tridiagonal_options(invocation.arguments);
  return options.precision == Precision::double_
             ? run_mode(Tridiagonal<double>(options), options, tridiagonal_table, invocation)
             : run_mode(Tridiagonal<float>(options), options, tridiagonal_table, invocation);
}

}  // namespace glinpack::app
