#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "app/papers/problem.hpp"
#include "app/papers/studies.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/device/texture_matrix.hpp"
#include "solvers/lu_study/lu_drawing.hpp"
#include "solvers/lu_study/lu_unpivoted.hpp"

namespace glinpack::app {

namespace {

using solvers::LuCounts;
using solvers::LuDrawing;
using solvers::LuSettings;
using solvers::LuStrategy;

// How the times of device, host and copies are separated.
constexpr const char* by_timer_queries = "timer queries";  // device timestamps around passes and copies
constexpr const char* by_differences = "differences";      // of runs with and without copies, and of commands alone

/// Table 3 in seconds: A = G + C + T. Each is the minimum over the repetitions, since other load only adds time. By
/// differences, C is a run without drawing, T is the time saved by a run without copies, and G is the rest. A
/// difference smaller than the noise can be negative.
struct LuBreakdown {
  double whole = 0;               // A, total
  double device = 0;              // G
  double host = 0;                // C
  std::optional<double> copying;  // T; empty if the strategy does not copy
};

/// The texels that a pass draws, relative to those that M1 or M2 draw. Table 1 calls this the weight.
double weight_of(Index drawn_texels, Index n) {
  Index one_row_a_texel = 0;
  for (Index i = 0; i < n; ++i) one_row_a_texel += (n - i - 1) * (n - i);
  return one_row_a_texel > 0 ? static_cast<double>(drawn_texels) / static_cast<double>(one_row_a_texel) : 0;
}

/// OpenGL calls as they were made, and those of Table 1.
nlohmann::json counts_json(const LuSettings& settings, Index n, const LuCounts& counts) {
  const std::optional<LuCounts> paper = solvers::lu_table1(settings, n);
  const auto of_paper = [&](Index LuCounts::*member) {
    return paper ? nlohmann::json((*paper).*member) : nlohmann::json();
  };
  return {{"method", name_of(settings.method)},
          {"strategy", name_of(settings.strategy)},
          {"passes", counts.passes},
          {"passes_of_table_1", of_paper(&LuCounts::passes)},
          {"passes_with_texels", counts.passes_with_texels},
          {"weight", weight_of(counts.drawn_texels, n)},
          {"weight_of_table_1", solvers::lu_table1_weight(settings.method)},
          {"copies", counts.copies},
          {"copies_of_table_1", of_paper(&LuCounts::copies)},
          {"copied_bytes", counts.copied_bytes},
          {"copied_bytes_of_table_1", of_paper(&LuCounts::copied_bytes)},
          {"drawn_texels", counts.drawn_texels}};
}

}  // namespace

std::string lu_tables(std::span<const ModeRecord> records, double fetch_rate) {
  const Column method{"method", -12, [](const ModeRecord& r) { return r.series(); }};
  const Column size{"n", 6, [](const ModeRecord& r) { return r.size; }};
  const auto table = [&](std::vector<Column> columns) {
    columns.insert(columns.begin(), {method, size});
    return records_table(records, "passes", columns);
  };
  const std::string counts = table({{"passes", 10, parameter("/passes")},
                                    {"Table 1", 10, parameter("/passes_of_table_1")},
                                    {"with texels", 12, parameter("/passes_with_texels")},
                                    {"weight", 9, parameter("/weight", "{:.3f}")},
                                    {"Table 1", 9, parameter("/weight_of_table_1")},
                                    {"copies", 10, parameter("/copies")},
                                    {"Table 1", 10, parameter("/copies_of_table_1")},
                                    {"bytes copied", 16, parameter("/copied_bytes")},
                                    {"Table 1", 16, parameter("/copied_bytes_of_table_1")}});
  if (counts.empty()) return {};
  const auto milliseconds = [](const char* pointer) { return parameter(pointer, "{:.2f}", 1e3); };
  const std::string times = table({{"A", 12, milliseconds("/breakdown/whole_seconds")},
                                   {"G", 12, milliseconds("/breakdown/device_seconds")},
                                   {"C", 12, milliseconds("/breakdown/host_seconds")},
                                   {"T", 12, milliseconds("/breakdown/copy_seconds")}});
  const std::string access = table({{"GB", 12, parameter("/access/bytes", "{:.4f}", 1e-9)},
                                    {"ms", 12, milliseconds("/access/seconds")},
                                    {"GB/s", 12, parameter("/access/bytes_per_second", "{:.2f}", 1e-9)},
                                    {"share", 12, parameter("/access/share", "{:.0f}%", 100)}});
  const bool timed_by_device = std::any_of(records.begin(), records.end(), [](const ModeRecord& r) {
    return parameter("/breakdown/source")(r) == by_timer_queries;
  });
  return "\nPasses and copies as they were called for, beside the paper's Table 1 (whose formula for M3 and M4 is that "
         "of "
         "multiples of 4).\nweight: texels drawn, over those of M1 and M2\n" +
         counts +
         "\nBreakdown as the paper's Table 3, milliseconds, the least of the repetitions: A all, G the device "
         "computes, "
         "C the\nprocessor gives commands, T copies; " +
         (timed_by_device
              ? "G and T are between timestamps of the device, C = A - G - T\n"
              : "by differences, since the device's timer queries measure nothing: C is a run of\nnothing but "
                "commands, "
                "T what a run without copies takes less, G = A - C - T; what is less than runs vary by may be\nbelow "
                "0\n") +
         times +
         fmt::format(
             "\nAccesses alone, without arithmetic and copies: 16 bytes a texel that a fragment fetches, and the "
             "share of what the device\nfetches at most from a texture in cache, {:.1f} GB/s\n",
             1e-9 * fetch_rate) +
         access;
}

namespace {

constexpr const char* lu_methods_examples =
    "  glinpack-papers lu-methods --n 64,128,256 --methods all\n"
    "  glinpack-papers lu-methods --n 256 --methods M1,M3 --strategy switch\n"
    "  glinpack-papers lu-methods --n 32,64,128,256,512,1024,2048 --repeat 1 --warm-up 0  # the paper's sizes\n"
    "  glinpack-papers lu-methods --input A.npy --methods M3 --strategy switch --output LU.npy\n";

/// A, its last computed factors, and the reference factors of plain loops in double precision. Row-major, n x n.
struct LuProblem {
  Index n = 0;
  std::vector<float> a = {};
  std::vector<float> factors = {};
  std::vector<double> exact = {};  // empty if a pivot is 0
  solvers::DenseSystem system = {};

  /// The system with factors of zeros.
  solvers::DenseSystem& begin() {
    factors.assign(a.size(), 0.0F);
    return system = {.a = square_view(std::as_const(a), n), .factors = square_view(factors, n)};
  }
  /// The factors' largest error relative to the largest exact element; null if it is unknown or not finite.
  nlohmann::json difference() const {
    if (exact.empty()) return {};
    return number_or_null(largest_difference(factors, exact) / largest_magnitude(exact));
  }
};

/// The problem that is measured, and the drawing that solves it.
struct LuStudy {
  using Work = LuDrawing::Work;

  const LuMethodsOptions& options;
  std::string clock = by_differences;
  double fetch_rate = 0;
  LuProblem problem = {};
  std::shared_ptr<LuDrawing> drawing = {};

  /// Random elements in [-0.5, 0.5), with n added to the diagonal, unless they are a file's. Such a matrix needs no
  /// pivoting, because U does not grow.
  void fill(Index n, const DenseMatrix& input) {
    problem = {};
    problem.n = n;
    if (options.input.empty()) {
      std::mt19937_64 random(options.seed);
      problem.a = random_elements<float>(n * n, random);
      for (Index i = 0; i < n; ++i) problem.a[static_cast<std::size_t>(i * n + i)] += static_cast<float>(n);
    } else {
      problem.a = converted<float>(input.elements);
    }
    problem.exact = converted<double>(problem.a);
    if (factorize_without_pivoting<double>(square_view(problem.exact, n))) problem.exact.clear();
  }

  void check(ModeRecord& record) const {
    record.check =
        ModeCheck{"A = L U, element by element", elementwise_residual(problem.system.a, problem.system.factors),
                  solvers::largest_scaled_residual};
    record.parameters["difference"] = problem.difference();
  }

  double seconds_of(const std::string& label, Work work, ModeRun& run) const {
    const MeasuredStages times = run.measure(run.device().clock(), label, 0, [&] {
      drawing->load();
      drawing->compute(work);
    });
    return times.compute.least;
  }

  LuDrawing::DeviceSeconds device_seconds_of(Work work) const {
    std::vector<double> passes, copies;
    for (int round = 0; round < options.repeat; ++round) {
      drawing->load();
      const LuDrawing::DeviceSeconds seconds = drawing->compute_timed(work);
      passes.push_back(seconds.passes);
      copies.push_back(seconds.copies);
    }
    return {spread_of(std::move(passes)).least, spread_of(std::move(copies)).least};
  }

  /// The parameters of a record: counts, Table 3, and a run whose shaders do the same reads without arithmetic and
  /// copies.
  nlohmann::json figures_of(const ModeRecord& record, const LuSettings& settings, ModeRun& run) const {
    const LuCounts counts = drawing->counts();
    const std::string label = record.label();
    const bool copying = settings.strategy == LuStrategy::copying;
    LuBreakdown b{.whole = record.times.compute.least, .copying = {}};
    double access_seconds = 0;
    if (clock == by_timer_queries) {
      const LuDrawing::DeviceSeconds seconds = device_seconds_of(Work::whole);
      b.device = seconds.passes;
      if (copying) b.copying = seconds.copies;
      b.host = b.whole - b.device - b.copying.value_or(0);
      access_seconds = device_seconds_of(Work::access).passes;
    } else {
      b.host = seconds_of(label + ", commands alone", Work::commands, run);
      if (copying) b.copying = b.whole - seconds_of(label + ", without copies", Work::without_copies, run);
      b.device = b.whole - b.host - b.copying.value_or(0);
      access_seconds = seconds_of(label + ", accesses alone", Work::access, run) - b.host;
    }
    const auto bytes = static_cast<double>(counts.read_bytes);
    std::optional<double> rate;  // empty if the time is too short
    if (access_seconds > 0 && bytes > 0) rate = bytes / access_seconds;
    nlohmann::json figures = counts_json(settings, problem.n, counts);
    figures["breakdown"] = {{"source", clock},
                            {"whole_seconds", b.whole},
                            {"device_seconds", b.device},
                            {"host_seconds", b.host},
                            {"copy_seconds", number_or_null(b.copying)}};
    figures["access"] = {{"bytes", bytes},
                         {"seconds", access_seconds},
                         {"bytes_per_second", number_or_null(rate)},
                         {"share", rate ? nlohmann::json(*rate / fetch_rate) : nlohmann::json()}};
    return figures;
  }
};
using SharedStudy = std::shared_ptr<LuStudy>;

// LAPACK has no LU without pivoting, so the rival is getrf, which swaps rows.
Variant factors_by_getrf(const SharedStudy& s) {
  const auto make = [s](ModeRun&) {
    const auto a = std::make_shared<std::vector<float>>();
    return Steps{.load = [=] { *a = s->problem.a; },
                 .compute =
                     [=] {
                       solve_on_host<float>(square_view(*a, s->problem.n), {nullptr, 0, 0, 1});
                     }};
  };
  return {.name = "openblas", .settings = "pivoting", .is_reference = true, .make = make};
}

Variant factors_by_drawing(const SharedStudy& s, const LuSettings& settings, Index n) {
  const auto make = [=](ModeRun& run) {
    s->drawing.reset();
    s->drawing = std::make_shared<LuDrawing>(run.device(), s->problem.begin(), settings);
    return steps_of(run.device().clock(), s->drawing);
  };
  const auto check = [=](ModeRecord& record, ModeRun& run) {
    s->check(record);
    record.parameters.update(s->figures_of(record, settings, run));
    s->drawing.reset();
  };
  const auto refusal = [=](const DeviceDescription& device) { return LuDrawing::obstacle(device, n, settings); };
  return {.name = std::string(name_of(settings.method)),
          .settings = std::string(name_of(settings.strategy)),
          .make = make,
          .check = check,
          .refusal = refusal};
}

Variant factors_by_blocks(const SharedStudy& s, Index n) {
  const auto make = [=](ModeRun& run) {
    s->drawing.reset();
    return solvers::make_unpivoted_lu(run.device().description().index, run.machine().threads, s->options.shader_dir,
                                      s->problem.begin());
  };
  const auto check = [s](ModeRecord& record, ModeRun&) { s->check(record); };
  const auto refusal = [n](const DeviceDescription& device) {
    return device.software ? std::string() : solvers::memory_obstacle(device, "it takes", 4 * square(n));
  };
  return {.name = blocked_lu_name,
          .settings = "blocks of " + std::to_string(solvers::unpivoted_block),
          .make = make,
          .check = check,
          .refusal = refusal};
}

}  // namespace

std::vector<LuSettings> LuMethodsOptions::drawn() const {
  std::vector<LuSettings> all;
  for (const LuStrategy each : strategy) {
    for (const solvers::LuMethod method : kinds_among(methods, solvers::all_lu_methods)) all.push_back({method, each});
  }
  return all;
}

bool LuMethodsOptions::blocked() const {
  return std::find(methods.begin(), methods.end(), blocked_lu_name) != methods.end();
}

OptionTable lu_methods_table(LuMethodsOptions& o) {
  Texts methods = names_of(solvers::all_lu_methods);
  methods.emplace_back(blocked_lu_name);
  const std::vector<Field> variants{
      {"methods", names_value(o.methods, methods),
       "M1: two passes per step; M2: one pass, with a branch in the shader; M3, M4: the same with four rows per texel; "
       "compute: blocked, on compute shaders; all: every method",
       "all"},
      {"strategy", kinds_value(o.strategy, solvers::all_lu_strategies),
       "For M1 to M4: copy (draw, then copy to the texture that is read) or switch (alternate between two textures); "
       "all: both",
       "all"},
  };
  return {
      .program = papers_name,
      .command = "lu-methods",
      .description =
          "Factorises A = L U without pivoting by the methods of a study of 2005, four ways of drawing, each with "
          "copies\nand with two textures that take turns; counts passes and bytes, splits the time, and compares "
          "with\ncompute shaders and LAPACK. Tables have milliseconds.",
      .footer = mode_footer(lu_methods_examples),
      .groups = mode_groups(
          o,
          {{"Problem",
            problem_fields(o, "A from a .npy or Matrix Market file instead of a random diagonally dominant matrix",
                           "L and U of the last result in one matrix, L's diagonal of ones left out, as .npy or .mtx")},
           {"Variants", variants}})};
}

LuMethodsOptions parse_lu_methods_options(const Texts& arguments) {
  const Parsed<LuMethodsOptions> parsed = parse(arguments, lu_methods_table);
  check_sources(parsed);
  return parsed.options;
}

Study lu_methods_study(const LuMethodsOptions& o) {
  const auto input = std::make_shared<const DenseMatrix>(o.input.empty() ? DenseMatrix{} : read_elements(o.input));
  const auto s = std::make_shared<LuStudy>(LuStudy{.options = o});
  Study study;
  for (const Index n : o.input.empty() ? o.n : std::vector<Index>{input->rows}) {
    const double elements = square(n), order = static_cast<double>(n);
    const double blocked = o.blocked() ? 4 * elements : 0;
    const double drawn = o.drawn().empty() ? 0 : elements * 2 * solvers::lu_texel_bytes;
    const auto variants = [&o, s, n](const ModeMachine&) {
      std::vector<Variant> all{factors_by_getrf(s)};
      for (const LuSettings& settings : o.drawn()) all.push_back(factors_by_drawing(s, settings, n));
      if (o.blocked()) all.push_back(factors_by_blocks(s, n));
      return all;
    };
    // A, its factors, LAPACK's copy, the staging buffer, exact factors, and four matrices of the residual
    study.problems.push_back({.n = n,
                              .size = std::to_string(n),
                              .what = "a matrix of order " + std::to_string(n),
                              .flops = 2 * order * order * order / 3,
                              .bytes = elements * (3 * 4 + 4 + solvers::lu_texel_bytes + 5 * 8),
                              .device_bytes = std::max(blocked, drawn),
                              .names_device_first = true,
                              .fill = [=] { s->fill(n, *input); },
                              .variants = variants});
  }
  study.begin = [&o, s](ModeRun& run) {
    if (!run.device().description().software) s->clock = by_timer_queries;
    if (o.drawn().empty()) return;
    s->fetch_rate = solvers::texel_fetch_rate(run.device(), {.repeat = 5, .seconds = 0.25}).most;
    run.add_to_json("texel_fetch_bytes_per_second", s->fetch_rate);
  };
  study.end = [s](ModeRun& run) {
    const std::string errors = errors_table(run.records(), "difference", "-", 24, "n", 10);
    run.print(lu_tables(run.records(), s->fetch_rate));
    if (errors.empty()) return;
    run.print(
        "\nErrors: the residual, the largest element of |A - L U| over that of eps n |L| |U|, which is judged, eps = "
        "2^-24;\nand the largest difference from the factors of plain loops in double precision, over the largest "
        "element of these\n" +
        errors);
  };
  study.result = [s] { return DenseMatrix{s->problem.n, s->problem.n, converted<double>(s->problem.factors)}; };
  return study;
}

}  // namespace glinpack::app
