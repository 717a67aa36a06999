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

/// LAPACK first, then the paper's methods, then the blocked one on compute shaders.
class LuMethods final : public Mode {
 public:
  explicit LuMethods(const LuMethodsOptions& options) : options_(options) {}

  void prepare() override {
    if (!options_.input.empty()) input_ = read_elements(options_.input);
  }
  std::vector<Index> sizes() const override {
    return options_.input.empty() ? options_.n : std::vector<Index>{input_.rows};
  }
  std::optional<int> fit_degree() const override { return 3; }
  bool needs_device() const override { return true; }

  void check_size(std::size_t size, const ModeMachine& machine) const override {
    const Index n = sizes()[size];
    const std::string what = "a matrix of order " + std::to_string(n);
    const double elements = square(n);
    const gl::DeviceDescription& device = machine.device->description();
    for (const LuSettings& settings : options_.drawn()) {
      check_obstacle(what + ", method " + std::string(name_of(settings.method)),
                     LuDrawing::obstacle(device, n, settings));
    }
    const double blocked = options_.blocked() ? 4 * elements : 0;
    if (!device.software && device.free_memory > 0 && blocked > static_cast<double>(device.free_memory)) {
      throw InputError(what + ", method compute: it is larger than the memory that is free on " + device.renderer +
                       "; use a smaller N");
    }
    // A, its factors, LAPACK's copy, the staging buffer, exact factors, and four matrices of the residual
    double bytes = elements * (3 * 4 + 4 + solvers::lu_texel_bytes + 5 * 8);
    if (device.software)
      bytes += std::max(blocked, options_.drawn().empty() ? 0 : elements * 2 * solvers::lu_texel_bytes);
    check_host_memory(what, bytes);
  }

  void begin(ModeRun& run) override {
    if (!run.device().description().software) clock_ = LuClock::timer_queries;
    if (options_.drawn().empty()) return;
    fetch_rate_ = solvers::texel_fetch_rate(run.device(), {.repeat = 5, .seconds = 0.25}).most;
    run.add_to_json("texel_fetch_bytes_per_second", fetch_rate_);
  }

  void measure(std::size_t size, ModeRun& run) override {
    make_problem(sizes()[size]);
    measure_on_host(run);
    for (const LuSettings& settings : options_.drawn()) measure_drawn(settings, run);
    if (options_.blocked()) measure_blocked(run);
  }

  std::optional<DenseMatrix> result() const override {
    return DenseMatrix{problem_.n, problem_.n, converted<double>(problem_.factors)};
  }
  void end(ModeRun& run) override {
    run.print(lu_tables(figures_, clock_, fetch_rate_));
    run.print(errors_table(
        run.records(), "difference", {.series_width = 24, .size_width = 10, .size = "n", .unknown = "-"},
        "\nErrors: the residual, the largest element of |A - L U| over that of eps n |L| |U|, which is judged, eps = "
        "2^-24;\nand the largest difference from the factors of plain loops in double precision, over the largest "
        "element of these\n"));
  }

 private:
  using Work = LuDrawing::Work;

  /// Random elements in [-0.5, 0.5), with n added to the diagonal, unless they are a file's. Such a matrix needs no
  /// pivoting, because U does not grow.
  void make_problem(Index n) {
    problem_ = {};
    problem_.n = n;
    if (options_.input.empty()) {
      std::mt19937_64 random(options_.seed);
      problem_.a = random_elements<float>(n * n, random);
      for (Index i = 0; i < n; ++i) problem_.a[static_cast<std::size_t>(i * n + i)] += static_cast<float>(n);
    } else {
      problem_.a = converted<float>(input_.elements);
    }
    problem_.factors.resize(problem_.a.size());
    problem_.exact = converted<double>(problem_.a);
    if (factorize_without_pivoting<double>(square_view(problem_.exact, n))) problem_.exact.clear();
  }

  ModeRecord record_of(std::string variant, std::string settings) const {
    const auto n = static_cast<double>(problem_.n);
    return {.variant = std::move(variant),
            .settings = std::move(settings),
            .size = std::to_string(problem_.n),
            .n = problem_.n,
            .flops = 2 * n * n * n / 3};
  }

  /// Measures `once`, which computes the factors, and checks them.
  void factorize(ModeRecord& record, solvers::StageClock& clock, ModeRun& run, const std::function<void()>& once) {
    std::fill(problem_.factors.begin(), problem_.factors.end(), 0.0F);
    run.time(record, clock, once);
    if (!record.failure.empty()) return;
    record.check = ModeCheck{"A = L U, element by element",
                             elementwise_residual(problem_.view_a(), square_view(problem_.factors, problem_.n)),
                             solvers::largest_scaled_residual};
    record.parameters["difference"] = problem_.difference();
  }

  // LAPACK has no LU without pivoting, so the rival is getrf, which swaps rows.
  void measure_on_host(ModeRun& run) {
    ModeRecord record = record_of("openblas", "pivoting");
    record.is_rival = true;
    solvers::StageClock clock;
    run.time(record, clock, [&] {
      std::vector<float> a;
      clock.measure(solvers::Stage::pack, [&] { a = problem_.a; });
      clock.measure(solvers::Stage::compute, [&] {
        solve_on_host<float>(square_view(a, problem_.n), {nullptr, 0, 0, 1});
      });
    });
    run.add(std::move(record));
  }

  void measure_drawn(const LuSettings& settings, ModeRun& run) {
    LuDrawing drawing(run.device(), problem_.n, settings);
    ModeRecord record = record_of(std::string(name_of(settings.method)), std::string(name_of(settings.strategy)));
    factorize(record, run.device().clock(), run, [&] {
      drawing.load(problem_.view_a());
      drawing.run();
      drawing.store(square_view(problem_.factors, problem_.n));
    });
    if (record.failure.empty()) {
      figures_.push_back(figures_of(drawing, record, settings, run));
      record.parameters.update(to_json(figures_.back(), clock_));
    }
    run.add(std::move(record));
  }

  void measure_blocked(ModeRun& run) {
    solvers::LuUnpivoted blocked(run.device().description().index, run.machine().threads, options_.shader_dir,
                                 problem_.n);
    ModeRecord record = record_of(blocked_lu_name, "blocks of " + std::to_string(solvers::LuUnpivoted::block));
    factorize(record, blocked.clock(), run,
              [&] { blocked.factorize(problem_.view_a(), square_view(problem_.factors, problem_.n)); });
    run.add(std::move(record));
  }

  double seconds_of(LuDrawing& drawing, const std::string& label, Work work, ModeRun& run) const {
    const MeasuredStages times = run.measure(run.device().clock(), label, 0, [&] {
      drawing.load(problem_.view_a());
      drawing.run(work);
    });
    return times.compute.least;
  }

  LuDrawing::DeviceSeconds device_seconds_of(LuDrawing& drawing, Work work) const {
    std::vector<double> passes, copies;
    for (int round = 0; round < options_.repeat; ++round) {
      drawing.load(problem_.view_a());
      const LuDrawing::DeviceSeconds seconds = drawing.run_timed(work);
      passes.push_back(seconds.passes);
      copies.push_back(seconds.copies);
    }
    return {spread_of(std::move(passes)).least, spread_of(std::move(copies)).least};
  }

  LuFigures figures_of(LuDrawing& drawing, const ModeRecord& record, const LuSettings& settings, ModeRun& run) const {
    LuFigures figures{.settings = settings, .n = problem_.n, .counts = drawing.counts(), .breakdown = {}, .access = {}};
    const std::string label = record.label();
    const bool copying = settings.strategy == LuStrategy::copying;
    LuBreakdown& b = figures.breakdown;
    b.whole = record.times.compute.least;
    LuAccess& access = figures.access;
    if (clock_ == LuClock::timer_queries) {
      const LuDrawing::DeviceSeconds seconds = device_seconds_of(drawing, Work::whole);
      b.device = seconds.passes;
      if (copying) b.copying = seconds.copies;
      b.host = b.whole - b.device - b.copying.value_or(0);
      access.seconds = device_seconds_of(drawing, Work::access).passes;
    } else {
      b.host = seconds_of(drawing, label + ", commands alone", Work::commands, run);
      if (copying) b.copying = b.whole - seconds_of(drawing, label + ", without copies", Work::without_copies, run);
      b.device = b.whole - b.host - b.copying.value_or(0);
      access.seconds = seconds_of(drawing, label + ", accesses alone", Work::access, run) - b.host;
    }
    access.bytes = static_cast<double>(figures.counts.read_bytes);
    if (access.seconds > 0 && access.bytes > 0) {
      access.bytes_per_second = access.bytes / access.seconds;
      access.share = *access.bytes_per_second / fetch_rate_;
    }
    return figures;
  }

  const LuMethodsOptions& options_;
  DenseMatrix input_;
  LuClock clock_ = LuClock::differences;
  double fetch_rate_ = 0;
  LuProblem problem_;
  std::vector<LuFigures> figures_;
};

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

int run_lu_methods(const ModeInvocation& invocation) {
  const LuMethodsOptions options = parse_lu_methods_options(invocation.arguments);
  return run_mode(LuMethods(options), options, lu_methods_table, invocation);
}

}  // namespace glinpack::app
