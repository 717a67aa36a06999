#include "app/options.hpp"

#include <climits>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/input/values.hpp"
#include "app/option_text.hpp"
#include "app/watchdog_option.hpp"
#include "backend/registry.hpp"
#include "gl/compute/tuning.hpp"

namespace glinpack::app {

namespace {

constexpr int largest_repeat = 1'000'000;
constexpr int largest_device = 4096;
constexpr int largest_threads = 4096;
constexpr int largest_pieces = 1000;
constexpr int largest_lookahead = 9;  // HPL's result line has one digit
constexpr const char* auto_word = "auto";

// A list of sizes or grids, or only the word auto: {chosen_later}.
template <class Value>
FieldValue list_or_auto(std::vector<Value>& option, std::string type, bool with_auto, Value chosen_later,
                        std::function<Value(const std::string&)> parse,
                        std::function<nlohmann::json(const Value&)> print) {
  const auto read = [&option, with_auto, chosen_later, parse = std::move(parse)](const Texts& values) {
    option.clear();
    if (with_auto && values == Texts{auto_word}) option = {chosen_later};
    for (const std::string& value : option.empty() ? values : Texts{}) {
      if (with_auto && value == auto_word) {
        throw InputError("'auto' stands in a list with other values; give it alone, or values alone");
      }
      option.push_back(parse(value));
    }
  };
  const auto json = [&option, chosen_later, print = std::move(print)] {
    nlohmann::json list;
    if (option == std::vector<Value>{chosen_later}) return nlohmann::json(auto_word);
    for (const Value& value : option) list.push_back(print(value));
    return list;
  };
  return {.form = FieldValue::Form::list, .type = std::move(type), .read = read, .json = json};
}

FieldValue sizes(std::vector<Index>& option, std::string type, bool with_auto, Index largest) {
  return list_or_auto<Index>(
      option, std::move(type), with_auto, automatic,
      [largest](const std::string& value) { return parse_whole(value, 1, largest); },
      [](const Index& size) { return nlohmann::json(size); });
}

double parse_fraction(std::string_view text) {
  const double fraction = parse_real(text);
  if (fraction > 0 && fraction <= 1) return fraction;
  throw InputError(in_quotes(text) + " is out of range; a part, more than 0 and at most 1, is expected");
}

double parse_power_interval(std::string_view text) {
  const double seconds = parse_real(text);
  if (seconds == 0 || (seconds >= 0.01 && seconds <= 60)) return seconds;
  throw InputError(in_quotes(text) + " is out of range; seconds from 0.01 to 60 are expected, or 0 for no readings");
}

}  // namespace

std::vector<Field> grid_fields(CommonOptions& o, bool with_auto) {
  const auto help = [with_auto](const char* text, const char* chosen) {
    return std::string(text) + (with_auto ? std::string("; auto: ") + chosen : std::string());
  };
  const auto order = [&o](RankOrder value) {
    return flag([&o, value] { o.order = value; }, [&o, value] { return o.order == value; });
  };
  return {
      {"n", sizes(o.n, "N,...", with_auto, largest_n),
       help("Orders of the matrix, in rows", "the largest that keeps within --memory-fraction")},
      {"nb", sizes(o.nb, "NB,...", with_auto, largest_nb),
       help("Block sizes of the distribution, in rows and columns", "by backend, precision and N")},
      {"grid",
       list_or_auto<GridShape>(o.grid, "PxQ,...", with_auto, automatic_shape, parse_grid,
                               [](const GridShape& grid) { return nlohmann::json(text_of(grid)); }),
       help("Process grids: P rows, Q columns; surplus processes idle",
            "one row of processes where all are GPUs of one host, else the squarest"),
       "squarest"},
      {"row-major", order(RankOrder::row_major), "Processes fill the grid row by row (default)", "", "column-major"},
      {"column-major", order(RankOrder::column_major), "Processes fill the grid column by column", "", "row-major"},
  };
}

std::vector<Field> algorithm_fields(CommonOptions& o) {
  return {
      {"pivoting", choice(o.pivoting, all_pivotings),
       "Pivots among the rows of the pivot's process; of its process column (HPL's); of that, by a tree"},
      {"node-broadcast", choice(o.node_transport, all_node_transports),
       "What is broadcast goes between the processes of a node through memory that they share, or by MPI as between "
       "nodes"},
      {"row-swap", row_swap_value(o.row_swap.kind),
       "How rows of the matrix change places between processes, with partial and tournament pivoting; mix: of "
       "binary-exchange and spread-roll (HPL's digits 0 ... 2 stand for these and mix)"},
      {"row-swap-threshold", whole(o.row_swap.threshold, 0, INT_MAX, "COLUMNS"),
       "mix: binary exchange for so many columns of a process at most, spread-roll for more"},
      {"row-swap-pieces", whole(o.row_swap.pieces, 1, largest_pieces),
       "The columns in so many pieces at most: rows of one change places while the one before it is reduced"},
      {"repeat", whole(o.repeat, 1, largest_repeat), "Runs of every combination"},
  };
}

std::vector<Field> result_fields(CommonOptions& o) {
  return {
      {"output-dir", text(o.output_dir, "DIR"),
       "Folder for the files below, made if missing; without names: report.txt, results.json, results.csv"},
      {"json", text(o.json, "FILE"), "All results, per rank, as JSON"},
      {"csv", text(o.csv, "FILE"), "One line per run"},
      {"force", flag(o.force), "Overwrite output files that exist"},
      {"progress", choice(o.progress, all_whens), "Progress on stderr; auto: from runs of seconds on"},
      log_level_field(),
      watchdog_field(o.watchdog),
  };
}

namespace {

std::vector<Field> problem_fields(PluOptions& o) {
  // null with --input, since the matrix has no formula
  const auto matrix = word(
      one_of(names_of(matrix_formulas)),
      [&o](const std::string& t) { o.matrix = matrix_formulas[choose(t, names_of(matrix_formulas))]; },
      [&o] { return o.matrix == MatrixKind::file ? "" : std::string(name_of(o.matrix)); });
  return {
      {"matrix", matrix, "HPL's own, or one to study pivoting with (docs/algorithm.md); not with --input"},
      {"seed", whole(o.seed, 0, LLONG_MAX, "SEED"),
       "Seed of a random matrix and right-hand side (HPL itself uses 100)"},
      {"input", text(o.input, "FILE"), "Matrix from a .npy or Matrix Market file instead; b = A times ones"},
      {"hpl-dat", text(o.hpl_dat, "FILE"), "Take the runs from netlib's HPL.dat; options given here override it"},
  };
}

std::vector<Field> panel_and_message_fields(PluOptions& o) {
  return {
      {"panel", choice(o.panel, all_panel_places),
       "Where panels are factorised; auto: on GPUs with tournament pivoting, else on the host"},
      {"broadcast", broadcast_value(o.broadcast),
       "How panels are broadcast along process rows, and U12 down process columns if row swaps are direct; HPL's "
       "digits "
       "0 ... 5 stand for the first six; ibcast: MPI_Ibcast; ring-pipelined: in pieces"},
      {"lookahead", whole(o.lookahead, 0, largest_lookahead, "DEPTH"),
       "1: the next panel is factorised and sent while the rest of the matrix is reduced; 0: after it. More, as "
       "HPL.dat's DEPTHs may ask for, computes as 1"},
      {"threshold", real(o.threshold, "REAL", parse_real), "Largest scaled residual that passes; negative: no check"},
      {"compute-only", flag(o.compute_only),
       "The arithmetic alone: local buffers stand for messages, nothing is sent, solved or checked"},
  };
}

std::vector<Field> machine_fields(PluOptions& o) {
  return {
      {"backend", name_value(o.backend, backend_choices()),
       "auto: gl-compute where every process has a hardware OpenGL device, else openblas; gl-raster computes in "
       "single precision, and pivots locally unless told otherwise"},
      {"device", whole(o.device, 0, largest_device, "INDEX"),
       "EGL device for every process, as `glinpack devices` counts", "by local rank"},
      {"threads", whole(o.threads, 1, largest_threads), "Threads of every process for arithmetic on the host",
       "cores / ranks of the node"},
      {"memory-fraction", real(o.memory_fraction, "PART", parse_fraction),
       "--n auto: the part of the free memory of every host and device that may be taken, more than 0, at most 1"},
      {"shader-dir", text(o.shader_dir, "DIR"), "GLSL files here override the built-in ones"},
      {"tile", text(o.tile, "NAME"), "gl-compute: the tile in which it reduces, of those that `glinpack tune` lists",
       "what that has chosen, or the first of them"},
      {"raster-coordinates", choice(o.raster_coordinates, all_raster_coordinates),
       "gl-raster: texture coordinates from the vertices (streamed), or computed by every fragment (computed)"},
  };
}

std::vector<Field> plu_output_fields(PluOptions& o) {
  const auto doctor = word(
      "on|off",
      [&o](const std::string& t) {
        o.doctor = choose(t, Texts{"off", "on"}) == 1;
      },
      [&o] { return std::string(o.doctor ? "on" : "off"); });
  return {
      {"trace", text(o.trace, "FILE"), "Timeline in Chrome's trace format, for ui.perfetto.dev"},
      {"save-solution", text(o.save_solution, "FILE"), "Solution x of the last run as .npy (float64)"},
      {"breakdown", choice(o.breakdown, all_whens),
       "Network against compute after each run; auto: in sweeps of up to 10 runs"},
      {"doctor", doctor,
       "Before the runs, the checks of `glinpack doctor --quick`: what is wrong stands among the report's notes"},
      {"power-interval", real(o.power_interval, "SECONDS", parse_power_interval),
       "Power, clocks and temperatures are read so often in the timed section, where there are sensors "
       "(docs/reading-a-report.md), 0.01 to 60; 0: never"},
  };
}

std::vector<Field> plan_fields(PluOptions& o) {
  return {
      {"dry-run", flag(o.dry_run), "Print the runs, memory per process and expected flops; run nothing"},
      {"explain-pass", whole(o.explain_pass, 0, largest_n, "K"),
       "Print the schedule of pass K (from 0): roles, messages, who waits for whom; run nothing"},
      config_field(o.config),
  };
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

// Sets the matrix to `file` if --input is given; rejects two sources of the matrix.
ParsedOptions with_one_matrix(ParsedOptions parsed) {
  if (parsed.options.input.empty()) return parsed;
  if (parsed.given("matrix")) {
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

OptionTable plu_table(PluOptions& o) {
  const Field precision{"precision", choice(o.precision, all_precisions),
                        "Precision of the factors and the solution; mixed: single factors, the solution refined in "
                        "double until it passes (docs/algorithm.md)"};
  return {.command = "plu",
          .description =
              "Factorises P A = L U on a P x Q grid of processes, solves A x = b, checks the answer as HPL "
              "does.",
          .footer = plu_examples,
          .groups = {{"Problem", joined(grid_fields(o, true), problem_fields(o))},
                     {"Algorithm", joined({precision}, algorithm_fields(o), panel_and_message_fields(o))},
                     {"Backend", machine_fields(o)},
                     {"Output", joined(result_fields(o), plu_output_fields(o))},
                     {"Plan and configuration", plan_fields(o)}}};
}

namespace {

// The names of the backends for which `claim` is true.
std::string backends_with(bool BackendRecord::*claim) {
  std::string names;
  for (const BackendRecord* record : registered_backends) {
    if (record->*claim) names += (names.empty() ? "" : " or ") + std::string(record->name);
  }
  return names;
}

// Checks that the tile supports the precision of the factors.
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

// Sets defaults that depend on the backend: the precision of its factors, and a pivoting that it supports.
ParsedOptions settled(ParsedOptions parsed) {
  check_tile(parsed.options);
  check_panel(parsed.options);
  const BackendRecord* backend = find_backend(parsed.options.backend);
  if (backend == nullptr) return parsed;
  if (!backend->make_double && parsed.options.precision == Precision::double_) {
    if (parsed.given("precision")) {
      throw InputError("the backend " + parsed.options.backend +
                       " computes in single precision only; use --precision single or mixed, or another backend");
    }
    parsed.options.precision = Precision::single;
  }
  if (backend->row_by_row && !parsed.given("pivoting")) parsed.options.pivoting = Pivoting::local;
  return parsed;
}

}  // namespace

ParsedOptions parse_plu_options(const std::vector<std::string>& arguments, TextFiles& files) {
  return settled(with_one_matrix({parse(arguments, plu_table, files)}));
}

}  // namespace glinpack::app
