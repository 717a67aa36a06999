#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>

#include "app/input/values.hpp"
#include "app/papers/studies.hpp"
#include "base/timeline.hpp"
#include "kernels/tuning.hpp"
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

/// "257", "33x21x18".
std::string size_text(const ProductExtents& e) {
  return e.rows == e.depth && e.depth == e.columns ? std::to_string(e.rows) : text_of(e);
}

/// "2x2, pass 1"; empty for compute.
std::string settings_text(const MatmulSettings& settings) {
  if (!draws(settings.variant)) return {};
  std::string text(name_of(settings.packing));
  if (has_passes(settings.variant)) text += ", pass " + std::to_string(settings.pass_length);
  if (settings.variant == MatmulVariant::many_quads) text += ", side " + std::to_string(settings.quad_side);
  return text;
}

std::vector<MatmulVariant> variants_of(const MatmulOptions& o) {
  if (o.variant.empty()) return {solvers::all_matmul_variants.begin(), solvers::all_matmul_variants.end()};
  return kinds_among(o.variant, solvers::all_matmul_variants);
}

/// The given lengths. With --tune, powers of eight up to the first that needs a single pass.
std::vector<Index> pass_lengths_of(const MatmulOptions& o, const ProductExtents& e, Packing packing) {
  if (!o.pass_length.empty()) return o.pass_length;
  if (!o.tune) return {1};
  const Index steps = round_up(e.depth, step_depth(packing)) / step_depth(packing);
  std::vector<Index> lengths{1};
  while (lengths.back() < steps) lengths.push_back(std::min(8 * lengths.back(), steps));
  return lengths;
}

/// The device variants of a size in the order of measurement. Without --variant: the saved result of --tune for the
/// device and the nearest size, else compute. With --tune: the named variants, packings and pass lengths, by default
/// all variants and packings and several pass lengths.
std::vector<MatmulSettings> settings_of(const MatmulOptions& o, const ProductExtents& e,
                                        const DeviceDescription& device) {
  if (o.variant.empty() && !o.tune) {
    MatmulSettings settings = solvers::MatmulChoices().load(device, o.precision, e).value_or(MatmulSettings{});
    settings.tile = o.tile;
    return {settings};
  }
  std::vector<Packing> packings = o.packing;
  if (packings.empty() && o.tune) packings.assign(solvers::all_packings.begin(), solvers::all_packings.end());
  if (packings.empty()) packings = {Packing::p2x2};
  std::vector<MatmulSettings> all;
  for (const MatmulVariant variant : variants_of(o)) {
    if (!draws(variant)) {
      all.push_back({.variant = variant, .tile = o.tile});
      continue;
    }
    for (const Packing packing : packings) {
      const std::vector<Index> lengths = has_passes(variant) ? pass_lengths_of(o, e, packing) : std::vector<Index>{1};
      for (const Index length : lengths) {
        all.push_back({.variant = variant, .packing = packing, .pass_length = length, .quad_side = o.quad_side});
      }
    }
  }
  return all;
}

/// Shares of the peaks, texels fetched for an element of C, and seconds with the read-back of C alone.
void describe_access(ModeRecord& record, const ProductExtents& e, const MatmulSettings& settings,
                     const DevicePeaks& peaks) {
  const double seconds = record.times.compute.median;
  record.parameters["share_of_peak"] = record.flops / seconds / peaks.flops;
  record.parameters["with_read_back_seconds"] = seconds + record.times.of(solvers::Stage::download).median;
  const double texels = solvers::texels_fetched(e, settings);
  if (texels <= 0) return;
  const double bytes = texels * static_cast<double>(channels(settings.packing) *
                                                    (settings.variant == MatmulVariant::larsen_mcallister_bytes
                                                         ? Index{1}
                                                         : static_cast<Index>(sizeof(float))));
  record.parameters["texels_per_element"] = texels / (static_cast<double>(e.rows) * static_cast<double>(e.columns));
  record.parameters["share_of_fetches"] = bytes / seconds / peaks.fetch_rate;
}

std::string analysis_text(std::span<const ModeRecord> records, const DevicePeaks& peaks) {
  const std::string rows = records_table(records, "share_of_peak",
                                         {{"variant", -40, [](const ModeRecord& r) { return r.series(); }},
                                          {"size", 14, [](const ModeRecord& r) { return r.size; }},
                                          {"of peak", 11, parameter("/share_of_peak", "{:.2f}%", 100)},
                                          {"texels/element", 16, parameter("/texels_per_element", "{:.1f}")},
                                          {"of fetches", 12, parameter("/share_of_fetches", "{:.1f}%", 100)},
                                          {"+read-back", 12, parameter("/with_read_back_seconds", "{:.4g}")},
                                          {"set-up", 11, parameter("/set_up_seconds", "{:.4g}")}});
  if (rows.empty()) return {};
  return fmt::format(
             "\nof peak: of the device's multiply-adds alone, {:.1f} GFLOPS; texels/element: fetched for an element of "
             "C; of fetches: their\nbytes, of what fragments fetch from a texture in cache, {:.1f} GB/s; +read-back: "
             "seconds with the transfer of C alone; set-up:\nseconds to allocate and compile, and what the first run "
             "takes longer\n",
             1e-9 * peaks.flops, 1e-9 * peaks.fetch_rate) +
         rows;
}

/// A, B, the host's C, and a variant's C; row-major.
template <class Real>
struct Products {
  ProductExtents extents = {};
  std::vector<Real> a = {}, b = {}, expected = {}, computed = {};
  solvers::Product<Real> product = {};  // computed
  std::optional<MatmulSettings> fastest = {};
  double fastest_seconds = std::numeric_limits<double>::infinity();
  DevicePeaks peaks = {};

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
Variant host_product(const std::shared_ptr<Products<Real>>& p, std::uint64_t seed) {
  return {
      .name = "openblas",
      .is_reference = true,
      .make =
          [p](ModeRun&) {
            return Steps{.compute = [p] { multiply_on_host<Real>(p->view_a(), p->view_b(), p->view_of(p->expected)); }};
          },
      .check =
          [p, seed](ModeRecord& record) {
            p->computed = p->expected;
            record.check =
                ModeCheck{"sums in double precision", p->sampled_error(seed), tolerance<Real>(p->extents.depth)};
          }};
}

template <class Real>
Variant device_product(const std::shared_ptr<Products<Real>>& p, const ProductExtents& extents,
                       const MatmulSettings& settings) {
  Variant variant{.name = std::string(name_of(settings.variant)), .settings = settings_text(settings)};
  if (draws(settings.variant)) variant.parameters["packing"] = name_of(settings.packing);
  if (has_passes(settings.variant)) variant.parameters["pass_length"] = settings.pass_length;
  variant.refusal = [extents, settings](const DeviceDescription& device) {
    return matmul_obstacle(device, extents, settings, precision_of<Real>);
  };
  variant.make = [p, settings](ModeRun& run) {
    p->computed.assign(p->expected.size(), Real{0});
    p->product = {p->view_a(), p->view_b(), p->view_of(p->computed)};
    return make_product(run.device(), p->product, settings);
  };
  variant.check = [p, settings](ModeRecord& record) {
    describe_access(record, p->extents, settings, p->peaks);
    const std::string version = blas_version();  // "OpenBLAS 0.3.21"
    const bool bytes = settings.variant == MatmulVariant::larsen_mcallister_bytes;
    record.check = ModeCheck{
        version.substr(0, version.find(' ')) + " gemm", p->relative(largest_difference(p->computed, p->expected)),
        bytes ? solvers::byte_error_bound(p->extents, settings.packing) : tolerance<Real>(p->extents.depth)};
    if (bytes) return;  // no choice for a user of products
    if (!record.passed() || record.times.compute.median >= p->fastest_seconds) return;
    p->fastest_seconds = record.times.compute.median;
    p->fastest = settings;
  };
  return variant;
}

void keep(const MatmulSettings& fastest, const ProductExtents& extents, Precision precision, ModeRun& run) {
  const DeviceDescription& device = run.device().description();
  const solvers::MatmulChoices choices;
  const bool kept = choices.store(device, precision, extents, fastest);
  const std::string settings = settings_text(fastest);
  run.print(
      "fastest at " + size_text(extents) + ": " + std::string(name_of(fastest.variant)) +
      (settings.empty() ? "" : " " + settings) +
      (kept ? "; kept in " + choices.path_of(device, precision) : "; not kept: the cache folder cannot be written") +
      "\n");
}

/// A and B of --input; empty without it.
std::pair<DenseMatrix, DenseMatrix> read_factors(const MatmulOptions& o) {
  if (o.input.empty()) return {};
  const std::string& path_b = o.input_b.empty() ? o.input : o.input_b;
  DenseMatrix a = read_elements(o.input, o.precision, MatrixShape::any);
  DenseMatrix b = read_elements(path_b, o.precision, MatrixShape::any);
  if (a.columns != b.rows) {
    throw InputError("--input " + o.input + ", --input-b " + path_b + ": A has " + std::to_string(a.columns) +
                     " columns, but B " + std::to_string(b.rows) + " rows; they must be equal");
  }
  return {std::move(a), std::move(b)};
}

template <class Real>
Study products_study(const MatmulOptions& o) {
  const auto files = std::make_shared<const std::pair<DenseMatrix, DenseMatrix>>(read_factors(o));
  const auto p = std::make_shared<Products<Real>>();
  const auto peaks = std::make_shared<DevicePeaks>();
  const auto fill = [&o, files, p, peaks](const ProductExtents& e) {
    *p = {};
    p->peaks = *peaks;
    p->extents = e;
    std::mt19937_64 random(o.seed);
    p->a = o.input.empty() ? random_elements<Real>(e.rows * e.depth, random) : converted<Real>(files->first.elements);
    p->b =
        o.input.empty() ? random_elements<Real>(e.depth * e.columns, random) : converted<Real>(files->second.elements);
    p->expected.resize(static_cast<std::size_t>(e.rows * e.columns));
  };
  std::vector<ProductExtents> sizes = o.shape;
  if (!o.input.empty()) sizes = {{files->first.rows, files->first.columns, files->second.columns}};
  if (sizes.empty()) {
    for (const Index n : o.n) sizes.push_back({n, n, n});
  }
  constexpr int cubic = 3;
  Study study{.fit_degree = cubic, .needs_device = !variants_of(o).empty(), .notes = o.notes};
  for (const ProductExtents& e : sizes) {
    const auto count = [](Index rows, Index columns) {
      return static_cast<double>(rows) * static_cast<double>(columns);
    };
    const double bytes =
        sizeof(Real) * (count(e.rows, e.depth) + count(e.depth, e.columns) + 2 * count(e.rows, e.columns));
    study.problems.push_back({.n = e.depth,
                              .size = size_text(e),
                              .what = "a product of size " + size_text(e),
                              .precision = o.precision,
                              .parameters = {{"rows", e.rows}, {"depth", e.depth}, {"columns", e.columns}},
                              .flops = product_flops(e.rows, e.columns, e.depth),
                              .bytes = 1.5 * bytes,         // with staging buffers
                              .device_bytes = 0.5 * bytes,  // its matrices
                              .fill = [fill, e] { fill(e); },
                              .variants =
                                  [&o, p, e](const ModeMachine& machine) {
                                    std::vector<Variant> variants{host_product(p, o.seed)};
                                    if (!machine.device) return variants;
                                    for (const MatmulSettings& settings :
                                         settings_of(o, e, machine.device->description())) {
                                      variants.push_back(device_product(p, e, settings));
                                    }
                                    return variants;
                                  },
                              .end =
                                  [&o, p](ModeRun& run) {
                                    if (o.tune && p->fastest) keep(*p->fastest, p->extents, o.precision, run);
                                  }});
  }
  study.begin = [peaks](ModeRun& run) {
    if (run.machine().device) *peaks = measure_peaks(run, precision_of<Real>);
  };
  study.end = [&o, peaks](ModeRun& run) {
    run.print(analysis_text(run.records(), *peaks));
    if (o.fit) run.print(one_coefficient_text(run.records(), fit_series(run.records(), cubic)));
  };
  study.result = [p] { return DenseMatrix{p->extents.rows, p->extents.columns, converted<double>(p->computed)}; };
  return study;
}

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
      {"quad-side", whole(o.quad_side, 1, largest_n, "TEXELS"), "many-quads: texels of a rectangle a side"},
      {"tune", flag(o.tune),
       "Find the fastest of the given variants, packings and pass lengths, or of all. Later runs without --variant "
       "use it for this device and size"},
      precision_field(o, "double: only the variants compute and openblas"),
      {"tile", text(o.tile, "NAME"), "compute: its tile, of those that `glinpack tune` lists",
       "what that has chosen, or the first of them"},
  };
  return mode_table(
      o, "matmul",
      "Multiplies matrices, C = A B, on fragment shaders as the papers have it, and on compute shaders; checks "
      "and\ncompares with OpenBLAS.",
      matmul_examples,
      {{"Problem", joined(problem_fields(o, "A from a .npy or Matrix Market file instead of random numbers",
                                         "C of the last result, as .npy or .mtx by the name"),
                          more_problem)},
       {"Variants", variants}});
}

MatmulOptions parse_matmul_options(const Texts& arguments) {
  const Parsed<MatmulOptions> parsed = parse(arguments, matmul_table);
  MatmulOptions o = parsed.options;
  check_sources(parsed);
  for (const char* name : {"n", "input"}) {
    if (!o.shape.empty() && parsed.given(name)) refuse_both("--shape", "--" + std::string(name));
  }
  if (o.precision == Precision::double_ && o.tune) {
    throw InputError("--tune: in double precision there is one variant, compute; use --precision single");
  }
  leave_out_drawing(o, o.variant, solvers::all_matmul_variants.size() + 1, {"compute", "openblas"});
  if (o.tune && o.variant == Texts{"openblas"}) {
    throw InputError("--tune: --variant openblas leaves nothing to choose from; name others, or none");
  }
  if (o.tile.empty()) return o;
  try {
    compute::update_tile(o.tile, o.precision);
  } catch (const std::runtime_error& error) {
    throw InputError("--tile: " + std::string(error.what()));
  }
  return o;
}

Study matmul_study(const MatmulOptions& o) {
  return o.precision == Precision::double_ ? products_study<double>(o) : products_study<float>(o);
}

}  // namespace glinpack::app
