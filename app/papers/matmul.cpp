#include "app/papers/matmul.hpp"

#include <algorithm>
#include <limits>

#include "app/input/values.hpp"
#include "app/papers/problem.hpp"
#include "backend/timeline.hpp"
#include "gl/compute/tuning.hpp"
#include "openblas/blas_library.hpp"
#include "openblas/host_solvers.hpp"

namespace glinpack::app {

namespace {

using solvers::MatmulSettings;
using solvers::MatmulVariant;
using solvers::Packing;
using solvers::ProductExtents;

constexpr const char* matmul_examples =
    "  glinpack-papers matmul --variant multi-pass --packing 2x2 --n 64,100,257\n"
    "  glinpack-papers matmul --variant all --packing all --n 128 --json matmul.json\n"
    "  glinpack-papers matmul --variant single-pass,openblas --n 64,96,128,192,256 --fit\n"
    "  glinpack-papers matmul --variant compute --precision double --shape 300x200x100\n"
    "  glinpack-papers matmul --tune --n 128\n"
    "  glinpack-papers matmul --input A.npy --input-b B.mtx --output C.npy\n";

// "33x21x18": rows, depth, columns.
ProductExtents parse_shape(const std::string& text) {
  const std::string expected = " is not a shape; MxKxN is expected, A being M x K and B K x N, for example 300x200x100";
  std::vector<Index> extents;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of("xX", begin), text.size());
    try {
      extents.push_back(parse_whole(std::string_view(text).substr(begin, end - begin), 1, largest_n));
    } catch (const InputError& error) {
      throw InputError(in_quotes(text) + expected + ": " + error.what());
    }
    begin = end + 1;
  }
  if (extents.size() != 3) throw InputError(in_quotes(text) + expected);
  return {extents[0], extents[1], extents[2]};
}

std::string text_of(const ProductExtents& e) {
  return std::to_string(e.rows) + "x" + std::to_string(e.depth) + "x" + std::to_string(e.columns);
}

FieldValue shapes_value(std::vector<ProductExtents>& option) {
  const auto read = [&option](const Texts& values) {
    option.clear();
    for (const std::string& value : values) option.push_back(parse_shape(value));
  };
  const auto print = [&option] {
    Texts texts;
    for (const ProductExtents& extents : option) texts.push_back(text_of(extents));
    return texts;
  };
  return list_value("MxKxN,...", read, print);
}

// Only some variants have double precision: those that draw do not.
void check_matmul_precision(const MatmulOptions& o) {
  if (o.precision == Precision::single) return;
  if (o.tune) throw InputError("--tune: in double precision there is one variant, compute; use --precision single");
  for (const MatmulVariant variant : kinds_among(o.variant, solvers::all_matmul_variants)) {
    if (!draws(variant)) continue;
    throw InputError("--precision double: the variant " + std::string(name_of(variant)) +
                     " draws into single-precision textures; use --variant compute,openblas or --precision single");
  }
}

/// "257", "33x21x18".
std::string size_text(const ProductExtents& e) {
  return e.rows == e.depth && e.depth == e.columns ? std::to_string(e.rows) : text_of(e);
}

/// "2x2, pass 1"; empty for compute.
std::string settings_text(const MatmulSettings& settings) {
  if (!draws(settings.variant)) return {};
  std::string text(name_of(settings.packing));
  if (has_passes(settings.variant)) text += ", pass " + std::to_string(settings.pass_length);
  return text;
}

/// A, B, the host's C, and a variant's C; row-major.
template <class Real>
struct MatmulProblem {
  ProductExtents extents;
  std::vector<Real> a = {}, b = {}, expected = {}, computed = {};

  RowMajorView<const Real> view_a() const { return {a.data(), extents.rows, extents.depth, extents.depth}; }
  RowMajorView<const Real> view_b() const { return {b.data(), extents.depth, extents.columns, extents.columns}; }
  RowMajorView<Real> view_of(std::vector<Real>& c) const {
    return {c.data(), extents.rows, extents.columns, extents.columns};
  }
  /// An error relative to the largest possible product: tolerance(), c k epsilon, bounds it.
  double relative(double difference) const {
    const double scale = largest_magnitude(a) * largest_magnitude(b);
    return difference / (scale > 0 ? scale : 1);
  }
  /// Checks the host's own product: some elements, summed here in double precision.
  double sampled_error(std::uint64_t seed) const {
    constexpr int samples = 256;
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<Index> rows(0, extents.rows - 1), columns(0, extents.columns - 1);
    std::vector<double> sums;
    std::vector<Real> products;
    for (int sample = 0; sample < samples; ++sample) {
      const Index i = rows(random), j = columns(random);
      double sum = 0;
      for (Index k = 0; k < extents.depth; ++k) {
        sum += static_cast<double>(view_a()(i, k)) * static_cast<double>(view_b()(k, j));
      }
      sums.push_back(sum);
      products.push_back(expected[static_cast<std::size_t>(i * extents.columns + j)]);
    }
    return relative(largest_difference(sums, products));
  }
};

template <class Real>
class Matmul final : public Mode {
 public:
  explicit Matmul(const MatmulOptions& options) : options_(options) {}

  void prepare() override {
    if (options_.input.empty()) return;
    const std::string& path_b = options_.input_b.empty() ? options_.input : options_.input_b;
    a_ = read_elements(options_.input, options_.precision, MatrixShape::any);
    b_ = read_elements(path_b, options_.precision, MatrixShape::any);
    if (a_.columns != b_.rows) {
      throw InputError("--input " + options_.input + ", --input-b " + path_b + ": A has " + std::to_string(a_.columns) +
                       " columns, but B " + std::to_string(b_.rows) + " rows; they must be as many");
    }
  }

  std::vector<Index> sizes() const override {
    std::vector<Index> depths;
    for (const ProductExtents& e : all_extents()) depths.push_back(e.depth);
    return depths;
  }
  std::optional<int> fit_degree() const override { return 3; }  // as in the paper
  bool needs_device() const override { return !variants().empty(); }

  void check_size(std::size_t size, const ModeMachine& machine) const override {
    const ProductExtents e = all_extents()[size];
    const std::string what = "a product of size " + size_text(e);
    const auto count = [](Index rows, Index columns) {
      return static_cast<double>(rows) * static_cast<double>(columns);
    };
    const double elements = count(e.rows, e.depth) + count(e.depth, e.columns) + 2 * count(e.rows, e.columns);
    // staging buffers are in host memory; software OpenGL also has its matrices there
    const bool software = machine.device && machine.device->description().software;
    check_host_memory(what, sizeof(Real) * elements * (software ? 2 : 1.5));
    if (!machine.device) return;
    const gl::DeviceDescription& device = machine.device->description();
    for (const MatmulSettings& settings : all_settings(e, device)) {
      check_obstacle(what + ", variant " + std::string(name_of(settings.variant)),
                     matmul_obstacle(device, e, settings, options_.precision));
    }
  }

  void measure(std::size_t size, ModeRun& run) override {
    make_problem(all_extents()[size]);
    measure_on_host(run);
    if (!run.machine().device) return;
    std::optional<MatmulSettings> best;
    double least = std::numeric_limits<double>::infinity();
    for (const MatmulSettings& settings : all_settings(problem_.extents, run.device().description())) {
      measure_on_device(settings, run);
      const ModeRecord& record = run.records().back();
      if (!record.passed() || record.times.compute.median >= least) continue;
      least = record.times.compute.median;
      best = settings;
    }
    if (options_.tune && best) keep(*best, run);
  }

  std::optional<DenseMatrix> result() const override {
    return DenseMatrix{problem_.extents.rows, problem_.extents.columns, converted<double>(problem_.computed)};
  }

 private:
  std::vector<ProductExtents> all_extents() const {
    if (!options_.input.empty()) return {{a_.rows, a_.columns, b_.columns}};
    if (!options_.shape.empty()) return options_.shape;
    std::vector<ProductExtents> sizes;
    for (const Index n : options_.n) sizes.push_back({n, n, n});
    return sizes;
  }

  std::vector<MatmulVariant> variants() const {
    if (options_.variant.empty()) return {solvers::all_matmul_variants.begin(), solvers::all_matmul_variants.end()};
    return kinds_among(options_.variant, solvers::all_matmul_variants);
  }

  std::vector<Packing> packings() const {
    if (!options_.packing.empty()) return options_.packing;
    if (options_.tune) return {solvers::all_packings.begin(), solvers::all_packings.end()};
    return {Packing::p2x2};
  }

  /// The given lengths. With --tune, powers of eight up to the first that needs a single pass.
  std::vector<Index> pass_lengths(const ProductExtents& e, Packing packing) const {
    if (!options_.pass_length.empty()) return options_.pass_length;
    if (!options_.tune) return {1};
    const Index steps = round_up(e.depth, step_depth(packing)) / step_depth(packing);
    std::vector<Index> lengths{1};
    while (lengths.back() < steps) lengths.push_back(std::min(8 * lengths.back(), steps));
    return lengths;
  }

  /// The device variants of a size in the order of measurement. Without --variant: the saved result of --tune for the
  /// device and the nearest size, else compute. With --tune: the named variants, packings and pass lengths, by default
  /// all variants and packings and several pass lengths.
  std::vector<MatmulSettings> all_settings(const ProductExtents& e, const gl::DeviceDescription& device) const {
    if (options_.variant.empty() && !options_.tune) {
      MatmulSettings settings = solvers::MatmulChoices().load(device, options_.precision, e).value_or(MatmulSettings{});
      settings.tile = options_.tile;
      return {settings};
    }
    std::vector<MatmulSettings> all;
    for (const MatmulVariant variant : variants()) {
      if (!draws(variant)) {
        all.push_back({.variant = variant, .tile = options_.tile});
        continue;
      }
      for (const Packing packing : packings()) {
        const std::vector<Index> lengths = has_passes(variant) ? pass_lengths(e, packing) : std::vector<Index>{1};
        for (const Index length : lengths) {
          all.push_back({.variant = variant, .packing = packing, .pass_length = length});
        }
      }
    }
    return all;
  }

  void make_problem(const ProductExtents& e) {
    problem_ = {};
    problem_ = {.extents = e};
    if (options_.input.empty()) {
      std::mt19937_64 random(options_.seed);
      problem_.a = random_elements<Real>(e.rows * e.depth, random);
      problem_.b = random_elements<Real>(e.depth * e.columns, random);
    } else {
      problem_.a = converted<Real>(a_.elements);
      problem_.b = converted<Real>(b_.elements);
    }
    problem_.expected.resize(static_cast<std::size_t>(e.rows * e.columns));
  }

  ModeRecord record_of(std::string variant) const {
    const ProductExtents& e = problem_.extents;
    return {.variant = std::move(variant),
            .size = size_text(e),
            .n = e.depth,
            .precision = options_.precision,
            .parameters = {{"rows", e.rows}, {"depth", e.depth}, {"columns", e.columns}},
            .flops = product_flops(e.rows, e.columns, e.depth)};
  }

  void measure_on_host(ModeRun& run) {
    ModeRecord record = record_of("openblas");
    record.is_rival = true;
    solvers::StageClock clock;
    run.time(record, clock, [&] {
      clock.measure(solvers::Stage::compute, [&] {
        multiply_on_host<Real>(problem_.view_a(), problem_.view_b(), problem_.view_of(problem_.expected));
      });
    });
    problem_.computed = problem_.expected;
    record.check = ModeCheck{"sums in double precision", problem_.sampled_error(options_.seed),
                             tolerance<Real>(problem_.extents.depth)};
    run.add(std::move(record));
  }

  void measure_on_device(const MatmulSettings& settings, ModeRun& run) {
    ModeRecord record = record_of(std::string(name_of(settings.variant)));
    record.settings = settings_text(settings);
    if (draws(settings.variant)) record.parameters["packing"] = name_of(settings.packing);
    if (has_passes(settings.variant)) record.parameters["pass_length"] = settings.pass_length;
    const auto product = solvers::make_matrix_product<Real>(run.device(), problem_.extents, settings);
    std::fill(problem_.computed.begin(), problem_.computed.end(), Real{0});
    run.time(record, run.device().clock(), [&] {
      product->load(problem_.view_a(), problem_.view_b());
      product->compute();
      product->store(problem_.view_of(problem_.computed));
    });
    const double error = problem_.relative(largest_difference(problem_.computed, problem_.expected));
    const std::string version = blas_version();  // "OpenBLAS 0.3.21"
    record.check =
        ModeCheck{version.substr(0, version.find(' ')) + " gemm", error, tolerance<Real>(problem_.extents.depth)};
    run.add(std::move(record));
  }

  void keep(const MatmulSettings& best, ModeRun& run) const {
    const gl::DeviceDescription& device = run.device().description();
    const solvers::MatmulChoices choices;
    const bool kept = choices.store(device, options_.precision, problem_.extents, best);
    const std::string settings = settings_text(best);
    run.print("fastest at " + size_text(problem_.extents) + ": " + std::string(name_of(best.variant)) +
              (settings.empty() ? "" : " " + settings) +
              (kept ? "; kept in " + choices.path_of(device, options_.precision)
                    : "; not kept: the cache folder cannot be written") +
              "\n");
  }

  const MatmulOptions& options_;
  DenseMatrix a_, b_;  // the files'
  MatmulProblem<Real> problem_;
};

}  // namespace

OptionTable matmul_table(MatmulOptions& o) {
  const std::vector<Field> more_problem{
      {"shape", shapes_value(o.shape), "Rectangular sizes instead of --n: A is M x K, B K x N"},
      input_b_field(o, "B, with --input", "A again"),
  };
  const std::vector<Field> variants{
      variant_field(o.variant, names_of(solvers::all_matmul_variants), "openblas",
                    "what --tune has chosen, or compute"),
      {"packing", kinds_value(o.packing, solvers::all_packings),
       "Rows x columns of a texel, for variants that draw; all: every packing", "2x2"},
      {"pass-length", wholes(o.pass_length, 1, largest_n, "STEPS,..."),
       "multi-pass: steps per pass; a step multiplies a texel of A by a texel of B", "1"},
      {"tune", flag(o.tune),
       "Find the fastest of the given variants, packings and pass lengths, or of all. Later runs without --variant "
       "use it for this device and size"},
      precision_field(o, "double: only the variants compute and openblas"),
      {"tile", text(o.tile, "NAME"), "compute: its tile, of those that `glinpack tune` lists",
       "what that has chosen, or the first of them"},
  };
  return {.program = papers_name,
          .command = "matmul",
          .description =
              "Multiplies matrices, C = A B, on fragment shaders as the papers have it, and on compute shaders; checks "
              "and\ncompares with OpenBLAS.",
          .footer = mode_footer(matmul_examples),
          .groups = mode_groups(
              o, {{"Problem", joined(problem_fields(o, "A from a .npy or Matrix Market file instead of random numbers",
                                                    "C of the last result, as .npy or .mtx by the name"),
                                     more_problem)},
                  {"Variants", variants}})};
}

MatmulOptions parse_matmul_options(const Texts& arguments) {
  const Parsed<MatmulOptions> parsed = parse(arguments, matmul_table);
  const MatmulOptions& o = parsed.options;
  check_sources(parsed);
  for (const char* name : {"n", "input"}) {
    if (!o.shape.empty() && parsed.given(name)) refuse_both("--shape", "--" + std::string(name));
  }
  check_matmul_precision(o);
  if (o.tune && o.variant == Texts{"openblas"}) {
    throw InputError("--tune: --variant openblas leaves nothing to choose from; name others, or none");
  }
  if (o.tile.empty()) return o;
  try {
    gl::reduce_tile(o.tile, o.precision);
  } catch (const std::runtime_error& error) {
    throw InputError("--tile: " + std::string(error.what()));
  }
  return o;
}

int run_matmul(const ModeInvocation& invocation) {
  const MatmulOptions options = parse_matmul_options(invocation.arguments);
  return options.precision == Precision::double_ ? run_mode(Matmul<double>(options), options, matmul_table, invocation)
                                                 : run_mode(Matmul<float>(options), options, matmul_table, invocation);
}

}  // namespace glinpack::app
