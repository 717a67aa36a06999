#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "app/papers/studies.hpp"
#include "openblas/host_solvers.hpp"
#include "solvers/accuracy.hpp"
#include "solvers/lu_study/lu_drawing.hpp"

namespace glinpack::app {

namespace {

using solvers::LuCounts;
using solvers::LuDivision;
using solvers::LuDrawing;
using solvers::LuOrder;
using solvers::LuSettings;
using solvers::LuStrategy;

// How the times of device, host and copies are separated.
constexpr const char* by_timer_queries = "timer queries";  // device timestamps around passes and copies
constexpr int lu_fit_degree = 3;
constexpr const char* by_waiting = "waiting";  // the host waits after passes and copies

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

constexpr const char* lu_methods_examples =
    "  glinpack-papers lu-methods --n 64,128,256 --methods all\n"
    "  glinpack-papers lu-methods --n 256 --methods M1,M3 --strategy switch\n"
    "  glinpack-papers lu-methods --n 32,64,128,256,512,1024,2048 --repeat 1 --warm-up 0  # the paper's sizes\n"
    "  glinpack-papers lu-methods --n 64,96,128,192,256 --methods M1,M2 --fit  # where branches cost more than passes\n"
    "  glinpack-papers lu-methods --n 128 --methods right-looking,left-looking,crout\n"
    "  glinpack-papers lu-methods --input A.npy --methods M3 --strategy switch --output LU.npy\n";

/// A, its last computed factors, and the reference factors of plain loops in double precision. Row-major, n x n.
struct LuProblem {
  Index n = 0;
  std::vector<float> a = {};
  std::vector<float> factors = {};
  std::vector<double> exact = {};  // empty if a pivot is 0
  solvers::DenseSystem<float> system = {};

  /// The system with factors of zeros.
  solvers::DenseSystem<float>& begin() {
    factors.assign(a.size(), 0.0F);
    return system = {.a = square_view(std::as_const(a), n), .factors = square_view(factors, n)};
  }
  double error_at(Index i, Index j) const {
    const auto at = static_cast<std::size_t>(i * n + j);
    return std::abs(static_cast<double>(factors[at]) - exact[at]);
  }
  /// The largest of value(i, j) below the diagonal.
  double largest_of_l(const std::function<double(Index, Index)>& value) const {
    double largest = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < i; ++j) largest = std::max(largest, value(i, j));
    }
    return largest;
  }
  double largest_multiplier() const {
    return largest_of_l([this](Index i, Index j) { return std::abs(exact[static_cast<std::size_t>(i * n + j)]); });
  }
  /// The largest error of column k of L, and of row k of U unless `l_alone`, over the largest exact element of L, and
  /// of U, for the last step k of each eighth of the steps; null if it is unknown or not finite, or if the column is
  /// empty.
  nlohmann::json errors_by_step(bool l_alone) const {
    constexpr Index eighths = 8;
    nlohmann::json errors = nlohmann::json::array();
    if (exact.empty()) return errors;
    const double largest = l_alone ? largest_multiplier() : largest_magnitude(exact);
    for (Index eighth = 1; eighth <= eighths; ++eighth) {
      const Index k = std::max<Index>(1, n * eighth / eighths) - 1;
      std::optional<double> error;
      if (!l_alone) error = error_at(k, k);
      for (Index i = k + 1; i < n; ++i) {
        error = std::max({error.value_or(0), error_at(i, k), l_alone ? 0 : error_at(k, i)});
      }
      errors.push_back(number_or_null(error ? std::optional(*error / largest) : error));
    }
    return errors;
  }
  /// HPL's residual of A x = b, x by forward and backward substitution with the factors.
  double residual_of_solution() const {
    std::mt19937_64 random(1);
    const std::vector<float> b = random_elements<float>(n, random);
    std::vector<float> x = b;
    const auto at = [](Index i) { return static_cast<std::size_t>(i); };
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < i; ++j) x[at(i)] -= system.factors(i, j) * x[at(j)];
    }
    for (Index i = n; i-- > 0;) {
      for (Index j = i + 1; j < n; ++j) x[at(i)] -= system.factors(i, j) * x[at(j)];
      x[at(i)] /= system.factors(i, i);
    }
    return scaled_residual<float>(system.a, {x.data(), n, 1, 1}, {b.data(), n, 1, 1});
  }
  /// The factors' largest error relative to the largest exact element; null if it is unknown or not finite.
  nlohmann::json difference() const {
    if (exact.empty()) return {};
    return number_or_null(largest_difference(factors, exact) / largest_magnitude(exact));
  }
  /// L's largest error relative to its largest exact element: U's diagonal hides it in difference().
  nlohmann::json difference_of_l() const {
    if (exact.empty()) return {};
    return number_or_null(largest_of_l([this](Index i, Index j) { return error_at(i, j); }) / largest_multiplier());
  }
};

/// The problem that is measured, and the drawing that solves it.
struct LuStudy {
  using Work = LuDrawing::Work;

  const LuMethodsOptions& options;
  std::string clock = by_waiting;
  DevicePeaks peaks = {};
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
    record.parameters["difference_of_l"] = problem.difference_of_l();
    record.parameters["errors_by_step"] = problem.errors_by_step(false);
    record.parameters["errors_of_l_by_step"] = problem.errors_by_step(true);
    const double residual = problem.residual_of_solution();
    record.parameters["solution_residual"] = number_or_null(residual);
    if (residual <= solvers::largest_scaled_residual) return;
    record.failure = fmt::format("x of A x = b by the factors has a scaled residual of {:.3g}, above {}", residual,
                                 solvers::largest_scaled_residual);
  }

  /// The fastest repetition.
  LuDrawing::Seconds timed(Work work) const {
    LuDrawing::Seconds fastest;
    for (int round = 0; round < options.repeat; ++round) {
      drawing->load();
      const LuDrawing::Seconds seconds = drawing->compute_timed(work);
      if (round == 0 || seconds.whole < fastest.whole) fastest = seconds;
    }
    return fastest;
  }

  /// The parameters of a record: counts, Table 3, and a run whose shaders do the same reads without arithmetic and
  /// copies.
  nlohmann::json figures_of(const ModeRecord& record, const LuSettings& settings) const {
    const LuDrawing::Seconds seconds = timed(Work::whole);
    const LuCounts counts = drawing->counts();
    const double access_seconds = timed(Work::access).passes;
    const auto bytes = static_cast<double>(counts.read_bytes);
    std::optional<double> rate;  // empty if the time is too short
    if (access_seconds > 0 && bytes > 0) rate = bytes / access_seconds;
    nlohmann::json figures = counts_json(settings, problem.n, counts);
    const bool copying = settings.strategy == LuStrategy::copying;
    figures["breakdown"] = {{"source", clock},
                            {"whole_seconds", seconds.whole},
                            {"device_seconds", seconds.passes},
                            {"host_seconds", seconds.commands},
                            {"copy_seconds", copying ? nlohmann::json(seconds.copies) : nlohmann::json()}};
    figures["share_of_peak"] = record.flops / seconds.whole / peaks.flops;
    figures["access"] = {{"bytes", bytes},
                         {"seconds", access_seconds},
                         {"bytes_per_second", number_or_null(rate)},
                         {"share", rate ? nlohmann::json(*rate / peaks.fetch_rate) : nlohmann::json()}};
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

std::string with_division(const std::string& settings, LuDivision division) {
  return settings + (division == LuDivision::reciprocal ? ", reciprocal" : "");
}

Variant factors_by_drawing(const SharedStudy& s, const LuSettings& settings, Index n) {
  const auto make = [=](ModeRun& run) {
    s->drawing.reset();
    s->drawing = std::make_shared<LuDrawing>(run.device(), s->problem.begin(), settings);
    return steps_of(run.device().clock(), s->drawing);
  };
  const auto check = [=](ModeRecord& record) {
    s->check(record);
    record.parameters.update(s->figures_of(record, settings));
    s->drawing.reset();
  };
  const auto refusal = [=](const DeviceDescription& device) { return LuDrawing::obstacle(device, n, settings); };
  return {.name = std::string(name_of(settings.method)),
          .settings = with_division(std::string(name_of(settings.strategy)), settings.division),
          .make = make,
          .check = check,
          .refusal = refusal};
}

Variant factors_by_blocks(const SharedStudy& s, LuDivision division, Index n) {
  const auto make = [=](ModeRun& run) {
    s->drawing.reset();
    return solvers::make_unpivoted_lu(run.device().description().index, run.machine().threads, s->options.shader_dir,
                                      s->problem.begin(), division);
  };
  const auto check = [s](ModeRecord& record) { s->check(record); };
  const auto refusal = [n](const DeviceDescription& device) {
    return device.software ? std::string() : solvers::memory_obstacle(device, "it takes", 4 * square(n));
  };
  return {.name = blocked_lu_name,
          .settings = with_division("blocks of " + std::to_string(solvers::unpivoted_block), division),
          .make = make,
          .check = check,
          .refusal = refusal};
}

Variant factors_in_order(const SharedStudy& s, LuOrder order, Index n, bool on_host) {
  const auto make = [=](ModeRun& run) {
    s->drawing.reset();
    const solvers::DenseSystem<float>& system = s->problem.begin();
    return on_host ? solvers::make_lu_order_on_host(system, order)
                   : solvers::make_lu_order(run.device(), system, order);
  };
  const auto check = [=](ModeRecord& record) {
    s->check(record);
    const solvers::LuOrderCounts counts = counts_of(order, n);
    record.parameters.update({{"order_passes", counts.passes},
                              {"order_drawn", counts.drawn},
                              {"order_reads", counts.reads},
                              {"order_area", counts.largest_area},
                              {"order_fragment", counts.largest_fragment}});
  };
  const auto refusal = [n](const DeviceDescription& device) {
    return texture_obstacle(device, n, n, solvers::Packing::p1x1);
  };
  return {.name = std::string(name_of(order)),
          .settings = on_host ? "1 thread" : "device",
          .make = make,
          .check = check,
          .refusal = refusal};
}

std::string steps_table(std::span<const ModeRecord> records, const std::string& key, const std::string& title) {
  std::vector<Column> columns{{"variant", -24, [](const ModeRecord& r) { return r.series(); }},
                              {"n", 6, [](const ModeRecord& r) { return r.size; }}};
  for (int eighth = 0; eighth < 8; ++eighth) {
    columns.push_back({fmt::format("{}n/8", eighth + 1), 11, parameter(fmt::format("/{}/{}", key, eighth), "{:.2e}")});
  }
  const std::string rows = records_table(records, key, columns);
  return rows.empty() ? rows : "\n" + title + "\n" + rows;
}

std::string orders_table(std::span<const ModeRecord> records) {
  const std::string rows = records_table(records, "order_passes",
                                         {{"order", -24, [](const ModeRecord& r) { return r.series(); }},
                                          {"n", 6, [](const ModeRecord& r) { return r.size; }},
                                          {"passes", 12, parameter("/order_passes")},
                                          {"drawn", 14, parameter("/order_drawn")},
                                          {"reads", 16, parameter("/order_reads")},
                                          {"area", 12, parameter("/order_area")},
                                          {"fragment", 12, parameter("/order_fragment")}});
  if (rows.empty()) return {};
  return "\nLoop orders (section 3.1): elements drawn and read by all passes; area: different elements that a pass "
         "reads at most;\nfragment: elements that a fragment reads at most\n" +
         rows;
}

}  // namespace

std::string lu_tables(std::span<const ModeRecord> records, const DevicePeaks& peaks) {
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
                                   {"T", 12, milliseconds("/breakdown/copy_seconds")},
                                   {"of peak", 12, parameter("/share_of_peak", "{:.2f}%", 100)}});
  const std::string access = table({{"GB", 12, parameter("/access/bytes", "{:.4f}", 1e-9)},
                                    {"ms", 12, milliseconds("/access/seconds")},
                                    {"GB/s", 12, parameter("/access/bytes_per_second", "{:.2f}", 1e-9)},
                                    {"share", 12, parameter("/access/share", "{:.0f}%", 100)}});
  const bool timed_by_device = std::ranges::any_of(
      records, [](const ModeRecord& r) { return parameter("/breakdown/source")(r) == by_timer_queries; });
  return "\nPasses and copies as they were called for, beside the paper's Table 1 (whose formula for M3 and M4 is that "
         "of multiples of 4).\nweight: texels drawn, over those of M1 and M2\n" +
         counts +
         "\nBreakdown as the paper's Table 3, milliseconds, of the fastest of runs made for it: A all, G the device "
         "computes,\nC the processor gives commands, T copies; " +
         (timed_by_device ? "G and T are between timestamps of the device, C = A - G - T.\n"
                          : "G and T are what the processor waits after passes and copies, C = A - G - T.\n") +
         fmt::format(
             "of peak: 2 n^3 / 3 operations in A, of {:.1f} GFLOPS, the device's multiply-adds alone (the paper: 30 % "
             "at most)\n",
             1e-9 * peaks.flops) +
         times +
         fmt::format(
             "\nAccesses alone, without arithmetic and copies: 16 bytes a texel that a fragment fetches, and the "
             "share of what the device\nfetches at most from a texture in cache, {:.1f} GB/s\n",
             1e-9 * peaks.fetch_rate) +
         access;
}

std::string trade_offs_text(std::span<const SeriesFit> fits, double min_n, double max_n) {
  const auto fit_of = [&](const std::string& series) -> const PolynomialFit* {
    const auto found = std::ranges::find(fits, series, &SeriesFit::series);
    return found == fits.end() ? nullptr : &found->fit;
  };
  std::string text;
  for (const auto& [by_host, by_shader] : {std::pair{"M1", "M2"}, {"M3", "M4"}}) {
    for (const LuStrategy strategy : solvers::all_lu_strategies) {
      const std::string settings = " " + std::string(name_of(strategy));
      const PolynomialFit *host = fit_of(by_host + settings), *shader = fit_of(by_shader + settings);
      if (host == nullptr || shader == nullptr) continue;
      const std::optional<double> n = crossing(*host, *shader, min_n, max_n);
      const char* faster = host->at(max_n) < shader->at(max_n) ? by_host : by_shader;
      text += fmt::format("{} and {}{}: {}, {} is faster\n", by_host, by_shader, settings,
                          n ? fmt::format("above N = {:.0f}", *n) : "at all sizes", faster);
    }
  }
  if (text.empty()) return text;
  return "\nWhere the fits cross: branches by the processor, M1 and M3, or by the shader, M2 and M4 (the paper: above "
         "N = 512 the processor)\n" +
         text;
}

std::vector<LuSettings> LuMethodsOptions::drawn() const {
  std::vector<LuSettings> all;
  for (const LuStrategy each : strategy) {
    for (const LuDivision kind : division) {
      for (const solvers::LuMethod method : kinds_among(methods, solvers::all_lu_methods)) {
        all.push_back({method, each, kind});
      }
    }
  }
  return all;
}

std::vector<LuOrder> LuMethodsOptions::orders() const { return kinds_among(methods, solvers::all_lu_orders); }

bool LuMethodsOptions::blocked() const { return std::ranges::find(methods, blocked_lu_name) != methods.end(); }

OptionTable lu_methods_table(LuMethodsOptions& o) {
  Texts methods = names_of(solvers::all_lu_methods);
  methods.emplace_back(blocked_lu_name);
  for (const LuOrder order : solvers::all_lu_orders) methods.emplace_back(name_of(order));
  const std::vector<Field> variants{
      {"methods", names_value(o.methods, methods),
       "M1: two passes per step; M2: one pass, with a branch in the shader; M3, M4: the same with four rows per texel; "
       "compute: blocked, on compute shaders; right-looking, left-looking, crout: loop orders, on the device and one "
       "thread; all: every method",
       "M1,M2,M3,M4,compute"},
      {"strategy", kinds_value(o.strategy, solvers::all_lu_strategies),
       "For M1 to M4: copy (draw, then copy to the texture that is read) or switch (alternate between two textures); "
       "all: both",
       "all"},
      {"division", kinds_value(o.division, solvers::all_lu_divisions),
       "For all but loop orders: a / b as a quotient, or as a (1 / b), which the paper blames for errors; all: both"},
  };
  return mode_table(
      o, "lu-methods",
      "Factorises A = L U without pivoting by the methods of a study of 2005, four ways of drawing, each with "
      "copies\nand with two textures that take turns; counts passes and bytes, splits the time, and compares "
      "with\ncompute shaders and LAPACK. Tables have milliseconds.",
      lu_methods_examples,
      {{"Problem",
        problem_fields(o, "A from a .npy or Matrix Market file instead of a random diagonally dominant matrix",
                       "L and U of the last result in one matrix, L's diagonal of ones left out, as .npy or .mtx")},
       {"Variants", variants}});
}

LuMethodsOptions parse_lu_methods_options(const Texts& arguments) {
  const Parsed<LuMethodsOptions> parsed = parse(arguments, lu_methods_table);
  check_sources(parsed);
  return parsed.options;
}

Study lu_methods_study(const LuMethodsOptions& o) {
  const auto input = std::make_shared<const DenseMatrix>(o.input.empty() ? DenseMatrix{} : read_elements(o.input));
  const auto s = std::make_shared<LuStudy>(LuStudy{.options = o});
  Study study{.fit_degree = lu_fit_degree};
  for (const Index n : o.input.empty() ? o.n : std::vector<Index>{input->rows}) {
    const double elements = square(n), order = static_cast<double>(n);
    const double blocked = o.blocked() ? 4 * elements : 0;
    const double drawn = o.drawn().empty() ? 0 : elements * 2 * solvers::lu_texel_bytes;
    const auto variants = [&o, s, n](const ModeMachine&) {
      std::vector<Variant> all{factors_by_getrf(s)};
      for (const LuSettings& settings : o.drawn()) all.push_back(factors_by_drawing(s, settings, n));
      for (const LuOrder order : o.orders()) {
        all.push_back(factors_in_order(s, order, n, true));
        all.push_back(factors_in_order(s, order, n, false));
      }
      for (const LuDivision division : o.division) {
        if (o.blocked()) all.push_back(factors_by_blocks(s, division, n));
      }
      return all;
    };
    // A, its factors, LAPACK's copy, the staging buffer, exact factors, and four matrices of the residual
    study.problems.push_back({.n = n,
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
    s->peaks = measure_peaks(run, Precision::single);
    run.add_to_json("texel_fetch_bytes_per_second", s->peaks.fetch_rate);
    run.add_to_json("multiply_add_flops_per_second", s->peaks.flops);
  };
  study.end = [&o, s](ModeRun& run) {
    const std::string errors = errors_table(run.records(), "difference", "-", 24, "n", 10,
                                            {{"of L", 14, parameter("/difference_of_l", "{:.2e}")},
                                             {"A x = b", 14, parameter("/solution_residual", "{:.2e}")}});
    run.print(lu_tables(run.records(), s->peaks) + orders_table(run.records()));
    if (o.fit) {
      const auto [min, max] = std::ranges::minmax_element(o.n);
      run.print(trade_offs_text(fit_series(run.records(), lu_fit_degree), static_cast<double>(*min),
                                static_cast<double>(*max)));
    }
    if (errors.empty()) return;
    run.print(
        "\nErrors: the residual, the largest element of |A - L U| over that of eps n |L| |U|, which is judged, eps = "
        "2^-24;\nthe largest difference from the factors of plain loops in double precision, over the largest element "
        "of these, and\nof L alone, over L's; and the "
        "residual of A x = b by the factors, ||A x - b|| / (eps (||A|| ||x|| + ||b||) n), which is judged, too\n" +
        errors +
        steps_table(run.records(), "errors_by_step",
                    "Errors by the step of elimination: of its row of U and column of L, over the largest element of "
                    "both") +
        steps_table(run.records(), "errors_of_l_by_step",
                    "L's errors by the step of elimination, over the largest element of L"));
  };
  study.result = [s] { return DenseMatrix{s->problem.n, s->problem.n, converted<double>(s->problem.factors)}; };
  return study;
}

}  // namespace glinpack::app
