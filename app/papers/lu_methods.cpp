#include "app/papers/lu_methods.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "app/papers/problem.hpp"
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
using Table1 = std::optional<LuCounts>;

std::string series_of(const LuFigures& f) {
  return fmt::format("{} {}", name_of(f.settings.method), name_of(f.settings.strategy));
}

std::string or_dash(const Table1& table, Index LuCounts::*member) {
  return table ? fmt::format("{}", (*table).*member) : std::string("-");
}

/// The texels that a pass draws, relative to those that M1 or M2 draw. Table 1 calls this the weight.
double weight_of(const LuFigures& f) {
  Index one_row_a_texel = 0;
  for (Index i = 0; i < f.n; ++i) one_row_a_texel += (f.n - i - 1) * (f.n - i);
  return one_row_a_texel > 0 ? static_cast<double>(f.counts.drawn_texels) / static_cast<double>(one_row_a_texel) : 0;
}

std::string table1(const std::vector<LuFigures>& figures) {
  constexpr const char* columns = "{:<12}{:>6}{:>10}{:>10}{:>12}{:>9}{:>9}{:>10}{:>10}{:>16}{:>16}\n";
  std::string text =
      "\nPasses and copies as they were called for, beside the paper's Table 1 (whose formula for M3 and M4 is that of "
      "multiples of 4).\nweight: texels drawn, over those of M1 and M2\n" +
      fmt::format(columns, "method", "n", "passes", "Table 1", "with texels", "weight", "Table 1", "copies", "Table 1",
                  "bytes copied", "Table 1");
  for (const LuFigures& f : figures) {
    const Table1 paper = solvers::lu_table1(f.settings, f.n);
    text += fmt::format(
        columns, series_of(f), f.n, f.counts.passes, or_dash(paper, &LuCounts::passes), f.counts.passes_with_texels,
        fmt::format("{:.3f}", weight_of(f)), solvers::lu_table1_weight(f.settings.method), f.counts.copies,
        or_dash(paper, &LuCounts::copies), f.counts.copied_bytes, or_dash(paper, &LuCounts::copied_bytes));
  }
  return text;
}

std::string table3(const std::vector<LuFigures>& figures, LuClock clock) {
  constexpr const char* columns = "{:<12}{:>6}{:>12}{:>12}{:>12}{:>12}\n";
  const auto milliseconds = [](double seconds) { return fmt::format("{:.2f}", 1e3 * seconds); };
  std::string text =
      "\nBreakdown as the paper's Table 3, milliseconds, the least of the repetitions: A all, G the device computes, C "
      "the\nprocessor gives commands, T copies; ";
  text +=
      clock == LuClock::timer_queries
          ? "G and T are between timestamps of the device, C = A - G - T\n"
          : "by differences, since the device's timer queries measure nothing: C is a run of\nnothing but commands, T "
            "what a run without copies takes less, G = A - C - T; what is less than runs vary by may be\nbelow 0\n";
  text += fmt::format(columns, "method", "n", "A", "G", "C", "T");
  for (const LuFigures& f : figures) {
    const LuBreakdown& b = f.breakdown;
    text += fmt::format(columns, series_of(f), f.n, milliseconds(b.whole), milliseconds(b.device), milliseconds(b.host),
                        b.copying ? milliseconds(*b.copying) : "-");
  }
  return text;
}

std::string access_table(const std::vector<LuFigures>& figures, double fetch_rate) {
  constexpr const char* columns = "{:<12}{:>6}{:>12}{:>12}{:>12}{:>12}\n";
  std::string text = fmt::format(
      "\nAccesses alone, without arithmetic and copies: 16 bytes a texel that a fragment fetches, and the "
      "share of what the device\nfetches at most from a texture in cache, {:.1f} GB/s\n",
      1e-9 * fetch_rate);
  text += fmt::format(columns, "method", "n", "GB", "ms", "GB/s", "share");
  for (const LuFigures& f : figures) {
    const LuAccess& a = f.access;
    text += fmt::format(columns, series_of(f), f.n, fmt::format("{:.4f}", 1e-9 * a.bytes),
                        fmt::format("{:.2f}", 1e3 * a.seconds),
                        a.bytes_per_second ? fmt::format("{:.2f}", 1e-9 * *a.bytes_per_second) : "-",
                        a.share ? fmt::format("{:.0f}%", 100 * *a.share) : "-");
  }
  return text;
}

}  // namespace

std::string_view name_of(LuClock clock) { return clock == LuClock::timer_queries ? "timer queries" : "differences"; }

nlohmann::json to_json(const LuFigures& f, LuClock clock) {
  const Table1 paper = solvers::lu_table1(f.settings, f.n);
  const auto of_paper = [&](Index LuCounts::*member) {
    return paper ? nlohmann::json((*paper).*member) : nlohmann::json();
  };
  return {{"method", name_of(f.settings.method)},
          {"strategy", name_of(f.settings.strategy)},
          {"passes", f.counts.passes},
          {"passes_of_table_1", of_paper(&LuCounts::passes)},
          {"passes_with_texels", f.counts.passes_with_texels},
          {"weight", weight_of(f)},
          {"weight_of_table_1", solvers::lu_table1_weight(f.settings.method)},
          {"copies", f.counts.copies},
          {"copies_of_table_1", of_paper(&LuCounts::copies)},
          {"copied_bytes", f.counts.copied_bytes},
          {"copied_bytes_of_table_1", of_paper(&LuCounts::copied_bytes)},
          {"drawn_texels", f.counts.drawn_texels},
          {"breakdown",
           {{"source", name_of(clock)},
            {"whole_seconds", f.breakdown.whole},
            {"device_seconds", f.breakdown.device},
            {"host_seconds", f.breakdown.host},
            {"copy_seconds", number_or_null(f.breakdown.copying)}}},
          {"access",
           {{"bytes", f.access.bytes},
            {"seconds", f.access.seconds},
            {"bytes_per_second", number_or_null(f.access.bytes_per_second)},
            {"share", number_or_null(f.access.share)}}}};
}

std::string lu_tables(const std::vector<LuFigures>& figures, LuClock clock, double fetch_rate) {
  if (figures.empty()) return {};
  return table1(figures) + table3(figures, clock) + access_table(figures, fetch_rate);
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

  RowMajorView<const float> view_a() const { return square_view(a, n); }
  /// The factors' largest error relative to the largest exact element; null if it is unknown or not finite.
  nlohmann::json difference() const {
    if (exact.empty()) return {};
    return number_or_null(largest_difference(factors, exact) / largest_magnitude(exact));
  }
};

/// The problem that is measured, the drawing that solves it, and the figures of those that did.
struct LuStudy {
  using Work = LuDrawing::Work;

  const LuMethodsOptions& options;
  LuClock clock = LuClock::differences;
  double fetch_rate = 0;
  LuProblem problem = {};
  std::shared_ptr<LuDrawing> drawing = {};
  std::vector<LuFigures> figures = {};

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
    problem.factors.resize(problem.a.size());
    problem.exact = converted<double>(problem.a);
    if (factorize_without_pivoting<double>(square_view(problem.exact, n))) problem.exact.clear();
  }

  void check(ModeRecord& record) const {
    record.check = ModeCheck{"A = L U, element by element",
                             elementwise_residual(problem.view_a(), square_view(problem.factors, problem.n)),
                             solvers::largest_scaled_residual};
    record.parameters["difference"] = problem.difference();
  }

  double seconds_of(const std::string& label, Work work, ModeRun& run) const {
    const MeasuredStages times = run.measure(run.device().clock(), label, 0, [&] {
      drawing->load(problem.view_a());
      drawing->run(work);
    });
    return times.compute.least;
  }

  LuDrawing::DeviceSeconds device_seconds_of(Work work) const {
    std::vector<double> passes, copies;
    for (int round = 0; round < options.repeat; ++round) {
      drawing->load(problem.view_a());
      const LuDrawing::DeviceSeconds seconds = drawing->run_timed(work);
      passes.push_back(seconds.passes);
      copies.push_back(seconds.copies);
    }
    return {spread_of(std::move(passes)).least, spread_of(std::move(copies)).least};
  }

  LuFigures figures_of(const ModeRecord& record, const LuSettings& settings, ModeRun& run) {
    LuFigures f{.settings = settings, .n = problem.n, .counts = drawing->counts(), .breakdown = {}, .access = {}};
    const std::string label = record.label();
    const bool copying = settings.strategy == LuStrategy::copying;
    LuBreakdown& b = f.breakdown;
    b.whole = record.times.compute.least;
    LuAccess& access = f.access;
    if (clock == LuClock::timer_queries) {
      const LuDrawing::DeviceSeconds seconds = device_seconds_of(Work::whole);
      b.device = seconds.passes;
      if (copying) b.copying = seconds.copies;
      b.host = b.whole - b.device - b.copying.value_or(0);
      access.seconds = device_seconds_of(Work::access).passes;
    } else {
      b.host = seconds_of(label + ", commands alone", Work::commands, run);
      if (copying) b.copying = b.whole - seconds_of(label + ", without copies", Work::without_copies, run);
      b.device = b.whole - b.host - b.copying.value_or(0);
      access.seconds = seconds_of(label + ", accesses alone", Work::access, run) - b.host;
    }
    access.bytes = static_cast<double>(f.counts.read_bytes);
    if (access.seconds > 0 && access.bytes > 0) {
      access.bytes_per_second = access.bytes / access.seconds;
      access.share = *access.bytes_per_second / fetch_rate;
    }
    return f;
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
    s->drawing = std::make_shared<LuDrawing>(run.device(), n, settings);
    std::fill(s->problem.factors.begin(), s->problem.factors.end(), 0.0F);
    return Steps{.load = [s] { s->drawing->load(s->problem.view_a()); },
                 .compute = [s] { s->drawing->run(); },
                 .store = [s] { s->drawing->store(square_view(s->problem.factors, s->problem.n)); },
                 .clock = &run.device().clock()};
  };
  const auto check = [=](ModeRecord& record, ModeRun& run) {
    s->check(record);
    s->figures.push_back(s->figures_of(record, settings, run));
    record.parameters.update(to_json(s->figures.back(), s->clock));
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
    const auto blocked = std::make_shared<solvers::LuUnpivoted>(run.device().description().index, run.machine().threads,
                                                                s->options.shader_dir, n);
    std::fill(s->problem.factors.begin(), s->problem.factors.end(), 0.0F);
    return Steps{
        .compute = [=] { blocked->factorize(s->problem.view_a(), square_view(s->problem.factors, s->problem.n)); },
        .clock = &blocked->clock()};
  };
  const auto check = [s](ModeRecord& record, ModeRun&) { s->check(record); };
  const auto refusal = [n](const DeviceDescription& device) {
    const bool fits =
        device.software || device.free_memory <= 0 || 4 * square(n) <= static_cast<double>(device.free_memory);
    return fits ? std::string()
                : "it is larger than the memory that is free on " + device.renderer + "; use a smaller N";
  };
  return {.name = blocked_lu_name,
          .settings = "blocks of " + std::to_string(solvers::LuUnpivoted::block),
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
    if (!run.device().description().software) s->clock = LuClock::timer_queries;
    if (o.drawn().empty()) return;
    s->fetch_rate = solvers::texel_fetch_rate(run.device(), {.repeat = 5, .seconds = 0.25}).most;
    run.add_to_json("texel_fetch_bytes_per_second", s->fetch_rate);
  };
  study.end = [s](ModeRun& run) {
    run.print(lu_tables(s->figures, s->clock, s->fetch_rate));
    run.print(errors_table(
        run.records(), "difference", {.series_width = 24, .size_width = 10, .size = "n", .unknown = "-"},
        "\nErrors: the residual, the largest element of |A - L U| over that of eps n |L| |U|, which is judged, eps = "
        "2^-24;\nand the largest difference from the factors of plain loops in double precision, over the largest "
        "element of these\n"));
  };
  study.result = [s] { return DenseMatrix{s->problem.n, s->problem.n, converted<double>(s->problem.factors)}; };
  return study;
}

}  // namespace glinpack::app
