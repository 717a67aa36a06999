#include "app/options.hpp"

#include <climits>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_set.hpp"
#include "app/option_text.hpp"
#include "app/watchdog_option.hpp"
#include "backend/registry.hpp"
#include "gl/compute/tuning.hpp"

namespace glinpack::app {

namespace {

using Values = std::vector<std::string>;

constexpr int largest_repeat = 1'000'000;
constexpr int largest_device = 4096;
constexpr int largest_threads = 4096;
constexpr int largest_pieces = 1000;
constexpr int largest_lookahead = 9;  // one digit in HPL's row
constexpr const char* auto_word = "auto";

nlohmann::json text_or_null(const std::string& value) {
  return value.empty() ? nlohmann::json() : nlohmann::json(value);
}

// A list, or {chosen_later} for the word auto, which stands alone.
template <class Value>
std::vector<Value> list_or_auto(const Values& values, bool with_auto, Value chosen_later,
                                const std::function<Value(const std::string&)>& parse) {
  if (with_auto && values == Values{auto_word}) return {chosen_later};
  std::vector<Value> list;
  for (const std::string& value : values) {
    if (with_auto && value == auto_word) {
      throw InputError("'auto' stands in a list with other values; give it alone, or values alone");
    }
    list.push_back(parse(value));
  }
  return list;
}

std::vector<Index> sizes(const Values& values, bool with_auto, Index largest) {
  return list_or_auto<Index>(values, with_auto, automatic,
                             [largest](const std::string& value) { return parse_whole(value, 1, largest); });
}

// The list as `as_json` writes its values; null where it is empty.
template <class Value, class AsJson>
nlohmann::json list_to_json(const std::vector<Value>& list, Value chosen_later, AsJson as_json) {
  if (list == std::vector<Value>{chosen_later}) return auto_word;
  nlohmann::json values;
  for (const Value& value : list) values.push_back(as_json(value));
  return values;
}

nlohmann::json sizes_to_json(const std::vector<Index>& list) {
  return list_to_json(list, automatic, [](Index size) { return size; });
}

double parse_fraction(const std::string& text) {
  const double fraction = parse_real(text);
  if (fraction > 0 && fraction <= 1) return fraction;
  throw InputError(in_quotes(text) + " is out of range; a part, more than 0 and at most 1, is expected");
}

double parse_power_interval(const std::string& text) {
  const double seconds = parse_real(text);
  if (seconds == 0 || (seconds >= 0.01 && seconds <= 60)) return seconds;
  throw InputError(in_quotes(text) + " is out of range; seconds from 0.01 to 60 are expected, or 0 for no readings");
}

}  // namespace

void define_grid_options(CLI::App& app, CommonOptions& o, bool with_auto) {
  const auto help = [with_auto](const char* text, const char* chosen) {
    return std::string(text) + (with_auto ? std::string("; auto: ") + chosen : std::string());
  };
  add_list(app, "--n", "N,...", "2000",
           help("Orders of the matrix, in rows", "the largest that keeps within --memory-fraction"),
           [&o, with_auto](const Values& v) { o.n = sizes(v, with_auto, largest_n); });
  add_list(app, "--nb", "NB,...", "128",
           help("Block sizes of the distribution, in rows and columns", "by backend, precision and N"),
           [&o, with_auto](const Values& v) { o.nb = sizes(v, with_auto, largest_nb); });
  add_list(app, "--grid", "PxQ,...", "squarest",
           help("Process grids: P rows, Q columns; surplus processes idle",
                "one row of processes where all are GPUs of one host, else the squarest"),
           [&o, with_auto](const Values& v) {
             o.grid = list_or_auto<GridShape>(v, with_auto, automatic_shape, parse_grid);
           });
  add_flag(app, "--row-major", "Processes fill the grid row by row (default)",
           [&o] { o.order = RankOrder::row_major; });
  add_flag(app, "--column-major", "Processes fill the grid column by column",
           [&o] { o.order = RankOrder::column_major; });
  exclude(app, "--row-major", "--column-major");
}

void define_algorithm_options(CLI::App& app, CommonOptions& o) {
  add(app, "--pivoting", "local|partial|tournament", "partial",
      "Pivots among the rows of the pivot's process; of its process column (HPL's); of that, by a tree",
      [&o](const std::string& t) { o.pivoting = parse_pivoting(t); });
  add(app, "--node-broadcast", "shared|mpi", "shared",
      "What is broadcast goes between the processes of a node through memory that they share, or by MPI as between "
      "nodes",
      [&o](const std::string& t) { o.node_transport = parse_node_transport(t); });
  add(app, "--row-swap", one_of(names_of(all_row_swaps)), "binary-exchange",
      "How rows of the matrix change places between processes, with partial and tournament pivoting; mix: of "
      "binary-exchange and spread-roll (HPL's digits 0 ... 2 stand for these and mix)",
      [&o](const std::string& t) { o.row_swap.kind = parse_row_swap(t); });
  add(app, "--row-swap-threshold", "COLUMNS", "64",
      "mix: binary exchange for so many columns of a process at most, spread-roll for more",
      [&o](const std::string& t) { o.row_swap.threshold = parse_whole(t, 0, INT_MAX); });
  add(app, "--row-swap-pieces", "COUNT", "1",
      "The columns in so many pieces at most: rows of one change places while the one before it is reduced",
      [&o](const std::string& t) { o.row_swap.pieces = parse_whole(t, 1, largest_pieces); });
  add(app, "--repeat", "COUNT", "1", "Runs of every combination",
      [&o](const std::string& t) { o.repeat = static_cast<int>(parse_whole(t, 1, largest_repeat)); });
}

void define_result_options(CLI::App& app, CommonOptions& o) {
  add_text(app, "--output-dir", "DIR",
           "Folder for the files below, made if missing; without names: report.txt, results.json, results.csv",
           o.output_dir);
  add_text(app, "--json", "FILE", "All results, per rank, as JSON", o.json);
  add_text(app, "--csv", "FILE", "One line per run", o.csv);
  add_flag(app, "--force", "Overwrite output files that exist", [&o] { o.force = true; });
  add(app, "--progress", one_of(when_choices()), "auto", "Progress on stderr; auto: from runs of seconds on",
      [&o](const std::string& t) { o.progress = parse_when(t); });
  add_watchdog(app, o.watchdog);
}

void define_config_option(CLI::App& app, std::string& config) {
  add_text(app, "--config", "FILE",
           "TOML file with any of these options (without dashes in front) as keys; the command "
           "line takes precedence",
           config);
}

nlohmann::json common_to_json(const CommonOptions& o) {
  return {{"n", sizes_to_json(o.n)},
          {"nb", sizes_to_json(o.nb)},
          {"grid", list_to_json(o.grid, automatic_shape, [](const GridShape& shape) { return text_of(shape); })},
          {"row-major", o.order == RankOrder::row_major},
          {"column-major", o.order == RankOrder::column_major},
          {"precision", name_of(o.precision)},
          {"pivoting", name_of(o.pivoting)},
          {"node-broadcast", name_of(o.node_transport)},
          {"row-swap", name_of(o.row_swap.kind)},
          {"row-swap-threshold", o.row_swap.threshold},
          {"row-swap-pieces", o.row_swap.pieces},
          {"repeat", o.repeat},
          {"output-dir", text_or_null(o.output_dir)},
          {"json", text_or_null(o.json)},
          {"csv", text_or_null(o.csv)},
          {"force", o.force},
          {"progress", text_of(o.progress)},
          {"watchdog", watchdog_json(o.watchdog)}};
}

namespace {

void define_problem(CLI::App& app, PluOptions& o) {
  define_grid_options(app, o, true);
  add(app, "--matrix", one_of(matrix_choices()), "hpl",
      "HPL's own, or one to study pivoting with (docs/pivoting.md); not with --input",
      [&o](const std::string& t) { o.matrix = parse_matrix(t); });
  add(app, "--seed", "SEED", "100", "Seed of a random matrix and right-hand side (HPL itself uses 100)",
      [&o](const std::string& t) { o.seed = static_cast<std::uint64_t>(parse_whole(t, 0, LLONG_MAX)); });
  add_text(app, "--input", "FILE", "Matrix from a .npy or Matrix Market file instead; b = A times ones", o.input);
  add_text(app, "--hpl-dat", "FILE", "Take the runs from netlib's HPL.dat; options given here override it", o.hpl_dat);
}

void define_algorithm(CLI::App& app, PluOptions& o) {
  add(app, "--precision", "single|double|mixed", "double",
      "Precision of the factors and the solution; mixed: single factors, the solution refined in double until it "
      "passes (docs/mixed.md)",
      [&o](const std::string& t) { o.precision = parse_precision(t); });
  define_algorithm_options(app, o);
  add(app, "--panel", "auto|host|device", "auto",
      "Where panels are factorised; auto: on GPUs with tournament pivoting, else on the host",
      [&o](const std::string& t) { o.panel = parse_panel_place(t); });
  add(app, "--broadcast", one_of(names_of(all_broadcasts)), "ring",
      "How panels are broadcast along process rows, and U12 down process columns if row swaps are direct; HPL's digits "
      "0 ... 5 stand for the first six; ibcast: MPI_Ibcast; ring-pipelined: in pieces",
      [&o](const std::string& t) { o.broadcast = parse_broadcast(t); });
  add(app, "--lookahead", "DEPTH", "1",
      "1: the next panel is factorised and sent while the rest of the matrix is reduced; 0: after it. More, as "
      "HPL.dat's "
      "DEPTHs may ask for, computes as 1",
      [&o](const std::string& t) { o.lookahead = static_cast<int>(parse_whole(t, 0, largest_lookahead)); });
  add(app, "--threshold", "REAL", "16.0", "Largest scaled residual that passes; negative: no check",
      [&o](const std::string& t) { o.threshold = parse_real(t); });
  add_flag(app, "--compute-only",
           "The arithmetic alone: local buffers stand for messages, nothing is sent, solved or checked",
           [&o] { o.compute_only = true; });
}

void define_machine(CLI::App& app, PluOptions& o) {
  add(app, "--backend", one_of(backend_choices()), "auto",
      "auto: gl-compute where every process has a hardware OpenGL device, else openblas; gl-raster computes in "
      "single precision, and pivots locally unless told otherwise",
      [&o](const std::string& t) { o.backend = parse_backend(t); });
  add(app, "--device", "INDEX", "by local rank", "EGL device for every process, as `glinpack devices` counts",
      [&o](const std::string& t) { o.device = static_cast<int>(parse_whole(t, 0, largest_device)); });
  add(app, "--threads", "COUNT", "cores / ranks of the node", "Threads of every process for arithmetic on the host",
      [&o](const std::string& t) { o.threads = static_cast<int>(parse_whole(t, 1, largest_threads)); });
  add(app, "--memory-fraction", "PART", "0.8",
      "--n auto: the part of the free memory of every host and device that may be taken, more than 0, at most 1",
      [&o](const std::string& t) { o.memory_fraction = parse_fraction(t); });
  add_text(app, "--shader-dir", "DIR", "GLSL files here override the built-in ones", o.shader_dir);
  add_text(
      app, "--tile", "NAME",
      "gl-compute: the tile in which it reduces, of those that `glinpack tune` lists [what that has chosen, or the "
      "first of them]",
      o.tile);
  add(app, "--raster-coordinates", "streamed|computed", "streamed",
      "gl-raster: texture coordinates from the vertices (streamed), or computed by every fragment (computed)",
      [&o](const std::string& t) { o.raster_coordinates = parse_raster_coordinates(t); });
}

void define_output(CLI::App& app, PluOptions& o) {
  define_result_options(app, o);
  add_text(app, "--trace", "FILE", "Timeline in Chrome's trace format, for ui.perfetto.dev", o.trace);
  add_text(app, "--save-solution", "FILE", "Solution x of the last run as .npy (float64)", o.save_solution);
  add(app, "--breakdown", one_of(when_choices()), "auto",
      "Network against compute after each run; auto: in sweeps of up to 10 runs",
      [&o](const std::string& t) { o.breakdown = parse_when(t); });
  add(app, "--doctor", "on|off", "on",
      "Before the runs, the checks of `glinpack doctor --quick`: what is wrong stands among the report's notes",
      [&o](const std::string& t) { o.doctor = parse_switch(t); });
  add(app, "--power-interval", "SECONDS", "0.1",
      "Power, clocks and temperatures are read so often in the timed section, where there are sensors "
      "(docs/energy.md), 0.01 to 60; 0: never",
      [&o](const std::string& t) { o.power_interval = parse_power_interval(t); });
}

void define_plan(CLI::App& app, PluOptions& o) {
  add_flag(app, "--dry-run", "Print the runs, memory per process and expected flops; run nothing",
           [&o] { o.dry_run = true; });
  add(app, "--explain-pass", "K", "",
      "Print the schedule of pass K (from 0): roles, messages, who waits for whom; run nothing",
      [&o](const std::string& t) { o.explain_pass = parse_whole(t, 0, largest_n); });
  define_config_option(app, o.config);
}

constexpr const char* plu_examples =
    "Examples:\n"
    "  mpirun -np 4 glinpack plu --config configs/quickstart.toml\n"
    "  mpirun -np 4 glinpack plu --n 8000,16000 --nb 128,256 --grid 2x2,1x4 --backend openblas --json results.json\n"
    "  mpirun -np 4 glinpack plu --n 512 --nb 64 --backend gl-raster --json raster.json\n"
    "  mpirun -np 6 glinpack plu --n 777 --nb 32 --grid 2x3 --backend gl-compute --precision single\n"
    "  mpirun -np 4 glinpack plu --hpl-dat HPL.dat --backend openblas\n"
    "  glinpack plu --n 100000 --nb 512 --grid 16x32 --dry-run\n"
    "\n"
    "Lists are written with commas or spaces. Several make a sweep: every combination is run, grids outermost, block\n"
    "sizes innermost, each --repeat times.\n"
    "\n"
    "Times are in seconds, rates in GFLOPS (10^9 operations a second), memory in MiB (2^20 bytes) and GiB (2^30).\n"
    "Exit code: 0 all runs passed, 1 a run failed its check, 2 unusable input, 3 an error while running, 4 ended by a\n"
    "signal (SIGTERM, SIGUSR1, SIGINT) with a report of what was finished, 5 ended by --watchdog.";

// One source of the matrix: --input makes it `file`.
ParsedOptions with_one_matrix(ParsedOptions parsed) {
  if (parsed.options.input.empty()) return parsed;
  if (parsed.on_command_line.contains("matrix") || parsed.in_file.contains("matrix")) {
    const bool in_file = parsed.in_file.contains("matrix") || parsed.in_file.contains("input");
    throw InputError((in_file ? parsed.options.config + ": " : "") + "--matrix " +
                     std::string(name_of(parsed.options.matrix)) + " and --input " + parsed.options.input +
                     " are both given: leave one of them out");
  }
  parsed.options.matrix = MatrixKind::file;
  return parsed;
}

}  // namespace

bool ParsedOptions::overrides_hpl_dat(const std::string& name) const {
  if (on_command_line.contains(name)) return true;
  return in_file.contains(name) && !on_command_line.contains("hpl-dat");
}

void define_plu_options(CLI::App& app, PluOptions& options) {
  describe(app, "glinpack plu",
           "Factorises P A = L U on a P x Q grid of processes, solves A x = b, checks the answer as HPL does.",
           plu_examples);
  const auto group = [&](const std::string& name, void (*define)(CLI::App&, PluOptions&)) {
    begin_group(app, name);
    define(app, options);
  };
  group("Problem", define_problem);
  group("Algorithm", define_algorithm);
  group("Backend", define_machine);
  group("Output", define_output);
  group("Plan and configuration", define_plan);
}

namespace {

// "gl-compute": the backends of which a claim holds.
std::string backends_with(bool BackendRecord::*claim) {
  std::string names;
  for (const BackendRecord* record : registered_backends) {
    if (record->*claim) names += (names.empty() ? "" : " or ") + std::string(record->name);
  }
  return names;
}

// A tile that the precision of the factors has.
void check_tile(const PluOptions& options) {
  if (options.tile.empty()) return;
  if (options.backend != "auto" && !backend_record(options.backend).tiled) {
    throw InputError("--tile " + options.tile + ": the backend " + options.backend +
                     " has no tiles; leave it out, or use --backend " + backends_with(&BackendRecord::tiled));
  }
  try {
    gl::reduce_tile(options.tile, options.precision);
  } catch (const std::runtime_error& error) {
    throw InputError("--tile: " + std::string(error.what()));
  }
}

void check_panel(const PluOptions& options) {
  if (options.panel != PanelPlace::device) return;
  if (options.pivoting != Pivoting::tournament) {
    throw InputError("--panel device: devices factorise panels with tournament pivoting only, not " +
                     std::string(name_of(options.pivoting)) + "; use --pivoting tournament, or leave --panel out");
  }
  if (options.backend != "auto" && !backend_record(options.backend).panels_on_device) {
    throw InputError("--panel device: the backend " + options.backend +
                     " factorises panels on the host; use --backend " +
                     backends_with(&BackendRecord::panels_on_device) + ", or leave --panel out");
  }
}

// The precision of the factors that a backend has, and the pivoting that it has an algorithm for, unless told
// otherwise.
ParsedOptions settled(ParsedOptions parsed) {
  check_tile(parsed.options);
  check_panel(parsed.options);
  const BackendRecord* backend = find_backend(parsed.options.backend);
  if (backend == nullptr) return parsed;
  const auto given = [&parsed](const char* name) {
    return parsed.on_command_line.contains(name) || parsed.in_file.contains(name);
  };
  if (!backend->make_double && parsed.options.precision == Precision::double_) {
    if (given("precision")) {
      throw InputError("the backend " + parsed.options.backend +
                       " computes in single precision only; use --precision single or mixed, or another backend");
    }
    parsed.options.precision = Precision::single;
  }
  if (backend->row_by_row && !given("pivoting")) parsed.options.pivoting = Pivoting::local;
  return parsed;
}

}  // namespace

ParsedOptions parse_plu_options(const std::vector<std::string>& arguments) {
  ParsedOptions parsed;
  parse_into(parsed, arguments, define_plu_options);
  return settled(with_one_matrix(std::move(parsed)));
}

std::string plu_help() {
  PluOptions options;
  return help_of([&](CLI::App& app) { define_plu_options(app, options); });
}

nlohmann::json to_json(const PluOptions& o) {
  const auto number = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  nlohmann::json json = common_to_json(o);
  json.update({{"matrix", o.matrix == MatrixKind::file ? nlohmann::json() : nlohmann::json(name_of(o.matrix))},
               {"seed", o.seed},
               {"input", text_or_null(o.input)},
               {"hpl-dat", text_or_null(o.hpl_dat)},
               {"panel", name_of(o.panel)},
               {"broadcast", name_of(o.broadcast)},
               {"lookahead", o.lookahead},
               {"threshold", o.threshold},
               {"compute-only", o.compute_only},
               {"backend", o.backend},
               {"device", number(o.device)},
               {"threads", number(o.threads)},
               {"memory-fraction", o.memory_fraction},
               {"shader-dir", text_or_null(o.shader_dir)},
               {"tile", text_or_null(o.tile)},
               {"raster-coordinates", text_of(o.raster_coordinates)},
               {"trace", text_or_null(o.trace)},
               {"save-solution", text_or_null(o.save_solution)},
               {"breakdown", text_of(o.breakdown)},
               {"doctor", o.doctor ? "on" : "off"},
               {"power-interval", o.power_interval},
               {"dry-run", o.dry_run},
               {"explain-pass", number(o.explain_pass)}});
  return json;
}

PluOptions from_json(const nlohmann::json& configuration) {
  PluOptions options;
  apply_configuration(configuration, [&](CLI::App& app) { define_plu_options(app, options); });
  if (!options.input.empty()) options.matrix = MatrixKind::file;
  return options;
}

}  // namespace glinpack::app
