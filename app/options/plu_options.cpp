#include "app/options/plu_options.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/input/values.hpp"
#include "app/options/option_text.hpp"
#include "matrix/matrix_formulas.hpp"

namespace glinpack::app {

namespace {

constexpr int largest_repeat = 1'000'000;
constexpr int largest_lookahead = 9;  // HPL's result line has one digit
constexpr const char* auto_word = "auto";

// A list of sizes or grids, or only the word auto: {chosen_later}.
template <class Value>
FieldValue list_or_auto(std::vector<Value>& option, const std::string& type, bool with_auto, Value chosen_later,
                        std::function<Value(const std::string&)> parse,
                        std::function<nlohmann::json(const Value&)> print) {
  const auto read = [&option, with_auto, chosen_later, parse = std::move(parse)](const Texts& values) {
    option.clear();
    if (with_auto && values == Texts{auto_word}) option = {chosen_later};
    for (const std::string& value : option.empty() ? values : Texts{}) {
      if (with_auto && value == auto_word) {
        throw InputError("'auto' is in a list with other values; give it alone, or values alone");
      }
      try {
        option.push_back(parse(value));
      } catch (const InputError& error) {
        throw InputError(std::string(error.what()) + (with_auto ? "; auto is accepted, too" : ""));
      }
    }
  };
  const auto json = [&option, chosen_later, print = std::move(print)] {
    nlohmann::json list;
    if (option == std::vector<Value>{chosen_later}) return nlohmann::json(auto_word);
    for (const Value& value : option) list.push_back(print(value));
    return list;
  };
  return {
      .form = FieldValue::Form::list, .type = type + (with_auto ? "|auto,..." : ",..."), .read = read, .json = json};
}

FieldValue sizes(std::vector<Index>& option, const std::string& type, bool with_auto, Index largest) {
  return list_or_auto<Index>(
      option, type, with_auto, automatic, [largest](const std::string& value) { return parse_size(value, 1, largest); },
      [](const Index& size) { return nlohmann::json(size); });
}

double parse_peak(std::string_view text) {
  const double gflops = parse_real(text);
  if (gflops > 0) return gflops;
  throw InputError(in_quotes(text) + " is out of range; GFLOPS above 0, auto or none are expected");
}

std::vector<Field> problem_fields(PluOptions& o) {
  // null with --input, since the matrix has no formula
  const auto matrix = word(
      one_of(names_of(matrix_formulas)), [&o](const std::string& t) { o.matrix = kind_named(t, matrix_formulas); },
      [&o] { return o.matrix == MatrixKind::file ? "" : std::string(name_of(o.matrix)); });
  return {
      {"matrix", matrix,
       "Kind of matrix (docs/input.md); not with --input. mxp: that of HPL-MxP, with --precision mixed unless another "
       "is given"},
      {"seed", whole(o.seed, 0, LLONG_MAX, "SEED"), "Seed of the random matrix and right-hand side; HPL uses 100"},
      {"input", text(o.input, "FILE"),
       "Read the matrix from a .npy or Matrix Market file; b = A times ones (docs/input.md)"},
      {"hpl-dat", text(o.hpl_dat, "FILE"),
       "Read the runs from netlib's HPL.dat; options given here override it (docs/input.md)",
       "./HPL.dat if it exists and there is no --n, --input or --config"},
  };
}

std::vector<Field> panel_and_message_fields(PluOptions& o) {
  const auto abft = word(
      "PASSES|auto|off",
      [&o](const std::string& t) {
        o.abft.reset();
        if (t != "off") o.abft = t == auto_word ? automatic : parse_size(t, 1, largest_n);
      },
      [&o] { return !o.abft                ? "off"
                    : *o.abft == automatic ? auto_word
                                           : std::to_string(*o.abft); });
  return {
      {"panel", choice(o.panel, all_panel_places),
       "Where panels are factorised; auto: on GPUs, but on the host with local pivoting on several process rows, and "
       "with partial pivoting on process rows of several nodes"},
      {"broadcast", broadcast_choice(o.broadcast),
       "How panels are broadcast along process rows, and U12 down process columns with --row-swap direct. HPL's "
       "digits 0 to 5: the first six. ibcast: MPI_Ibcast; ring-pipelined: a ring in pieces (docs/algorithm.md)"},
      {"lookahead", whole(o.lookahead, 0, largest_lookahead, "DEPTH"),
       "1: factorise and send the next panel during the trailing update; 0: after it. HPL.dat's larger DEPTHs act as "
       "1"},
      {"threshold", real(o.threshold, "REAL", parse_real), "Largest scaled residual that passes; 0 or less: no check"},
      {"compute-only", flag(o.compute_only),
       "Measure the arithmetic alone: send nothing, and neither solve nor check; not with tournament pivoting "
       "(docs/reading-a-report.md)"},
      {"abft", abft,
       "Carry checksums of the rows and check them every so many passes; auto: every 20000 / NB passes, below 2 % of "
       "the time. The report names the process that computed, stored or received a wrong number. A failed check rolls "
       "back to the last checkpoint, at most three times to the same one; else it ends the run (docs/diagnosing.md)"},
  };
}

std::vector<Field> machine_fields(PluOptions& o) {
  const auto peak = word(
      "GFLOPS|auto|none",
      [&o](const std::string& t) {
        o.peak.reset();
        o.measures_peak = t == "auto";
        if (t == "none") o.peak = 0;
        if (t != "auto" && t != "none") o.peak = parse_peak(t);
      },
      [&o] { return !o.peak        ? "auto"
                    : *o.peak == 0 ? "none"
                                   : fmt::format("{}", *o.peak); });
  return {
      {"backend", name_value(o.backend, backend_choices()),
       "What computes (docs/getting-started.md). auto: gl-compute or vk-compute, whichever is faster, if every process "
       "has a hardware device, else openblas"},
      {"device", whole(o.device, 0, largest_device, "INDEX"), "Device of every process, an index of `glinpack devices`",
       "by local rank"},
      {"threads", whole(o.threads, 1, largest_threads), "Host threads of each process",
       "OPENBLAS_NUM_THREADS, else OMP_NUM_THREADS, else cores / ranks of the node"},
      {"memory-fraction", real(o.memory_fraction, "FRACTION", parse_fraction),
       "--n auto: use at most this part of the free memory of every host and device, more than 0, at most 1"},
      {"time", real(o.time, "SECONDS", parse_seconds),
       "--n auto: the N that takes this long at the peak rate, if --memory-fraction allows it"},
      {"peak", peak,
       "Peak rate of each process, the reference of the report's share. auto: as `glinpack peaks` measures it, with "
       "all processes at once: the host's GEMM or the device's multiply-adds; about a second. The best is "
       "kept in the cache folder, and measured again if other programs used the node. Runs below 5e10 operations per "
       "process (N = 4200 on one) measure it only if auto is given"},
  };
}

// The options of the backends alone.
std::vector<Field> backend_fields(BackendValues& values) {
  std::vector<Field> fields;
  for (const BackendOption& option : all_backend_options()) {
    const std::string name(option.name);
    std::string& value = values[name];
    fields.push_back(
        {name, text(value, std::string(option.type)), std::string(option.help), std::string(option.default_text)});
  }
  return fields;
}

std::vector<Field> checkpoint_fields(PluOptions& o) {
  return {
      {"checkpoint", text(o.checkpoint, "DIR"),
       "Write the state of the run into this folder, from time to time, on SIGUSR1, and when SIGTERM or SIGINT ends "
       "it; removed after the report (docs/running-on-a-cluster.md)"},
      {"checkpoint-every", real(o.checkpoint_every, "SECONDS", parse_seconds), "--checkpoint: time between two",
       fmt::format("{}", default_checkpoint_every)},
      {"resume", text(o.resume, "DIR"),
       "Continue from the last complete checkpoint in this folder. Options that decide on the bits of the factors are "
       "those of the run that wrote it; if they are given, they must fit. Time and Gflops are then no HPL result"},
  };
}

std::vector<Field> plu_output_fields(PluOptions& o) {
  const auto doctor = word(
      "on|off",
      [&o](const std::string& t) {
        o.doctor = choose(t, Texts{"off", "on"}) == 1;
      },
      [&o] { return std::string(o.doctor ? "on" : "off"); });
  const auto breakdown = word(
      one_of(names_of(all_breakdown_tables)),
      [&o](const std::string& t) {
        // the names that older scripts and TOML files have
        o.breakdown = t == "always"  ? BreakdownTable::phases
                      : t == "never" ? BreakdownTable::none
                                     : kind_named(t, all_breakdown_tables);
      },
      [&o] { return std::string(name_of(o.breakdown)); });
  return {
      {"trace", text(o.trace, "FILE"), "Write the timeline in Chrome's trace format, for ui.perfetto.dev"},
      {"save-solution", text(o.save_solution, "FILE"), "Write the solution x of the last run as .npy (float64)"},
      {"breakdown", breakdown,
       fmt::format("Where the time of each run went. phases: HPL's, which add up to the time; roles: network and "
                   "compute times by role, phase and lane; auto: phases in sweeps of up to {} runs, else none "
                   "(docs/reading-a-report.md)",
                   max_runs_with_breakdown)},
      {"doctor", doctor,
       "Run the checks of `glinpack doctor --quick` first; the notes of the report name what is wrong"},
  };
}

std::vector<Field> plan_fields(PluOptions& o) {
  return {
      {"dry-run", flag(o.dry_run),
       "Print the runs, memory per process and expected flops; run nothing. More than 20 runs are shortened, except "
       "with --log-level debug"},
      {"explain-pass", whole(o.explain_pass, 0, largest_n, "K"),
       "Print the schedule of pass K, counted from 0: roles, messages, steps; with --json every operation; run "
       "nothing"},
      {"write-hpl-dat", text(o.write_hpl_dat, "FILE"),
       "Write the runs as netlib's HPL.dat, with --n auto --nb auto --grid auto those of this machine; run nothing"},
      config_field(o.config),
  };
}

Footer plu_footer() {
  return {
      .examples =
          "mpirun -np 4 glinpack plu --config configs/quickstart.toml\n"
          "mpirun -np 4 glinpack plu --hpl-dat HPL.dat --backend openblas\n"
          "mpirun -np 4 glinpack plu --n 8k,1.6e4 --precision fp64 --nb 128,256 --grid 2x2,1x4 --json results.json\n"
          "mpirun -np 4 glinpack plu --n auto --nb auto --grid auto --dry-run\n"
          "mpirun -np 4 glinpack plu --n auto --nb auto --grid auto --write-hpl-dat HPL.dat\n"
          "mpirun -np 8 -ppn 4 glinpack plu --n 8k --grid 2x4 --node-grid 2x2\n"
          "mpirun -np 6 glinpack plu --n 777 --nb 32 --grid 2x3 --backend gl-raster",
      .notes = {"Sizes and counts may be written as 8k (8000), 8Ki (8192), 1M (10^6), 1Mi (2^20) or 1e4.",
                "Lists are written with commas or spaces. Several values make a sweep: every combination runs --repeat "
                "times. Grids vary slowest, then N, then NB.",
                "Times are in seconds, rates in GFLOPS (10^9 operations a second), memory in MiB (2^20 bytes) and GiB "
                "(2^30 bytes)."},
      .exit_codes = {{0, "all runs passed"},
                     {1, "a run failed its check"},
                     {2, "unusable input"},
                     {3, "an error while running"},
                     {4, "ended by a signal (SIGTERM, SIGUSR1, SIGINT), after a report of the finished runs"},
                     {5, "ended by --watchdog"}}};
}

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

// Checks the values that a backend refuses.
void check_backend_values(const PluOptions& options) {
  for (const BackendOption& option : all_backend_options()) {
    const std::string key(option.name);
    const std::string& value = options.backend_values.at(key);
    if (value.empty() || option.check == nullptr) continue;
    try {
      option.check(value, options.precision);
    } catch (const std::runtime_error& error) {
      throw InputError("--" + key + ": " + error.what());
    }
  }
}

void check_abft(const PluOptions& options) {
  if (!options.abft) return;
  if (options.compute_only) {
    throw InputError("--abft and --compute-only: without messages, no sum is right; leave one of them out");
  }
  const std::string& products = options.backend_values.at("products");
  if (products == "half" || products == "split") {
    throw InputError("--abft and --products " + products +
                     ": the bounds of checksums are those of plain products; leave one of them out");
  }
  const BackendRecord* backend = find_backend(options.backend);
  if (backend != nullptr && backend->row_by_row) {
    throw InputError("--abft: the backend " + options.backend +
                     " computes row by row, without checksums; use another backend, or leave --abft out");
  }
}

void check_time(const PluOptions& options) {
  if (!options.time) return;
  if (std::ranges::find(options.n, automatic) == options.n.end()) {
    throw InputError("--time chooses N: use it with --n auto, or leave it out");
  }
  if (options.peak == 0.0) throw InputError("--time needs a peak rate: leave --peak none out");
}

// --products auto is the default of mixed. Checksums bound the errors of plain products, and single precision is not
// refined.
void choose_products(ParsedOptions& parsed) {
  const PluOptions& o = parsed.options;
  std::string& products = parsed.options.backend_values.at("products");
  const bool is_plain = o.abft || o.precision == Precision::single;
  if (products == auto_word && is_plain) {
    products = "plain";
    parsed.backend_note =
        std::string("--products auto takes plain products with ") + (o.abft ? "--abft" : "--precision single");
  }
  const BackendRecord* backend = find_backend(o.backend);
  const bool has_option = backend == nullptr || backend->has_option("products");
  if (products.empty() && o.precision == Precision::mixed && has_option && !is_plain) products = auto_word;
}

// Sets defaults that depend on the matrix and the backend: the precision, and a pivoting that the backend supports.
ParsedOptions with_dependent_defaults(ParsedOptions parsed) {
  if (parsed.options.matrix == MatrixKind::mxp && !parsed.given("precision")) {
    parsed.options.precision = Precision::mixed;
  }
  if (parsed.options.backend != "auto") check_options_of_backend(parsed.options, parsed.options.backend);
  choose_products(parsed);
  check_backend_values(parsed.options);
  check_time(parsed.options);
  check_abft(parsed.options);
  const BackendRecord* backend = find_backend(parsed.options.backend);
  if (backend == nullptr) return parsed;
  std::string chosen;
  if (!backend->make_double && parsed.options.precision == Precision::double_) {
    if (parsed.given("precision")) {
      throw InputError("the backend " + parsed.options.backend +
                       " computes in single precision only; use --precision single or mixed, or another backend");
    }
    parsed.options.precision = Precision::single;
    chosen = "--precision single";
  }
  if (backend->row_by_row && !parsed.given("pivoting")) {
    parsed.options.pivoting = Pivoting::local;
    chosen += (chosen.empty() ? "" : " and ") + std::string("--pivoting local");
  }
  if (!chosen.empty()) parsed.backend_note = "--backend " + parsed.options.backend + " chooses " + chosen;
  return parsed;
}

}  // namespace

std::vector<Field> grid_fields(CommonOptions& o, bool with_auto) {
  const auto help = [with_auto](const char* text, const char* chosen) {
    return std::string(text) + (with_auto ? std::string("; auto: ") + chosen : std::string());
  };
  const auto node_grid = word(
      "PxQ", [&o](const std::string& t) { o.node_grid = parse_grid(t); },
      [&o] { return o.node_grid ? text_of(*o.node_grid) : ""; });
  return {
      {"n", sizes(o.n, "N", with_auto, largest_n),
       help("Orders N of the matrix, in rows, such as 8000, 8k or 1e4", "the largest that --memory-fraction allows")},
      {"nb", sizes(o.nb, "NB", with_auto, largest_nb),
       help("Block sizes NB, in rows and columns", "by backend, precision, --products and N"),
       with_auto ? "128; on GPUs auto" : "128"},
      {"grid",
       list_or_auto<GridShape>(o.grid, "PxQ", with_auto, automatic_shape, parse_grid,
                               [](const GridShape& grid) { return nlohmann::json(text_of(grid)); }),
       help("Process grids, P rows by Q columns; surplus processes idle",
            "one row if all processes use GPUs of one host, else the squarest grid"),
       with_auto ? "squarest; on GPUs auto" : "squarest"},
      {"node-grid", node_grid,
       "Grid of the processes of a host, which keeps rows or columns of the process grid inside hosts (rocHPL's -p and "
       "-q); every host needs P times Q processes"},
  };
}

std::vector<Field> algorithm_fields(CommonOptions& o) {
  return {
      {"pivoting", choice(o.pivoting, all_pivotings),
       "Rows that a pivot is chosen from. local: the pivot's process; partial: its process column, as in HPL; "
       "tournament: the same by a reduction tree, TSLU (docs/algorithm.md)"},
      {"row-swap", row_swap_choice(o.row_swap.kind),
       "How processes exchange rows of the matrix with partial and tournament pivoting. mix: binary-exchange or "
       "spread-roll, for more than 64 columns per process. HPL's digits 0, 1 and 2: binary-exchange, spread-roll and "
       "mix"},
      {"repeat", whole(o.repeat, 1, largest_repeat), "Runs of every combination"},
  };
}

std::vector<Field> result_fields(CommonOptions& o) {
  return {
      {"output-dir", text(o.output_dir, "DIR"),
       "Folder for output files, created if missing. Default names: report.txt, results.json, results.csv"},
      {"json", text(o.json, "FILE"), "Write all results, per rank, as JSON"},
      {"csv", text(o.csv, "FILE"), "Write one line of CSV per run"},
      {"force", flag(o.force), "Overwrite existing output files"},
      log_level_field(),
      watchdog_field(o.watchdog),
  };
}

void check_options_of_backend(const PluOptions& options, std::string_view backend) {
  const BackendRecord& record = backend_record(backend);
  const std::string chosen = options.backend == "auto" ? fmt::format("--backend auto takes {} here, which", backend)
                                                       : fmt::format("the backend {}", backend);
  const auto refuse = [&chosen](const std::string& given, const char* lack, const auto& has_it) {
    throw InputError(given + ": " + chosen + " " + lack + "; leave it out, or use --backend " + backends_with(has_it));
  };
  if (options.device && record.memory == MemorySpace::host) {
    refuse("--device " + std::to_string(*options.device), "computes on the host",
           [](const BackendRecord& other) { return other.memory == MemorySpace::device; });
  }
  if (options.panel == PanelPlace::device && !record.panels_on_device) {
    refuse("--panel device", "factorises panels on the host", &BackendRecord::panels_on_device);
  }
  for (const BackendOption& option : all_backend_options()) {
    const std::string name(option.name);
    const std::string& value = options.backend_values.at(name);
    const auto has_option = [&option](const BackendRecord& other) { return other.has_option(option.name); };
    if (value.empty() || value == option.default_text || option.check == nullptr || has_option(record)) continue;
    // asks for nothing that this backend does not do
    if (options.backend == "auto" && (value == "none" || value == auto_word)) continue;
    refuse("--" + name + " " + value, "does not have this option", has_option);
  }
}

// Options that make an HPL.dat of the current folder superfluous.
constexpr std::array sources_of_n{"n", "input", "config"};

bool ParsedOptions::overrides_hpl_dat(const std::string& name) const {
  if (on_command_line.contains(name)) return true;
  return in_file.contains(name) && !on_command_line.contains("hpl-dat");
}

void choose_default_hpl_dat(ParsedOptions& parsed, const TextFiles& files) {
  if (parsed.on_command_line.contains("hpl-dat") || !files.exists("HPL.dat")) return;
  for (const char* name : sources_of_n) {
    if (!parsed.on_command_line.contains(name)) continue;
    parsed.hpl_dat_note = std::string("HPL.dat in the current folder is not read: --") + name + " is given";
    return;
  }
  parsed.options.hpl_dat = "HPL.dat";
  parsed.hpl_dat_note = "the runs are those of HPL.dat in the current folder: no option names another source of N";
}

std::string default_order_note(const ParsedOptions& parsed) {
  const auto is_given = [&](const char* name) { return parsed.on_command_line.contains(name); };
  if (!parsed.options.hpl_dat.empty() || is_given("resume") || std::ranges::any_of(sources_of_n, is_given)) return "";
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  const std::string used = fmt::format("; N {} is the default", fmt::join(parsed.options.n, ", "));
  if (std::filesystem::is_symlink("HPL.dat", error)) return "HPL.dat in " + folder + " is a link to nothing" + used;
  for (const char* other : {"hpl.dat", "Hpl.dat", "HPL.DAT"}) {
    if (!std::filesystem::exists(other, error)) continue;
    return fmt::format("no HPL.dat in {}, and {} is read only with --hpl-dat{}", folder, other, used);
  }
  return "no HPL.dat in " + folder + used;
}

OptionTable plu_table(PluOptions& o) {
  const Field precision{"precision", choice(o.precision, all_precisions),
                        "Precision of the factors and the solution. mixed: single factors, the solution refined in "
                        "double until it passes (docs/algorithm.md)"};
  OptionTable table{
      .command = "plu",
      .description = "Factorises P A = L U on a P x Q grid of processes, solves A x = b and checks x as HPL does.",
      .footer = plu_footer(),
      .groups = {{"Problem", joined(grid_fields(o, true), problem_fields(o))},
                 {"Algorithm", joined({precision}, algorithm_fields(o), panel_and_message_fields(o))},
                 {"Backend", joined(machine_fields(o), backend_fields(o.backend_values))},
                 {"Checkpoints", checkpoint_fields(o)},
                 {"Output", joined(result_fields(o), plu_output_fields(o))},
                 {"Instead of a run", plan_fields(o)}}};
  return with_common_options(
      std::move(table), {"n", "nb", "grid", "backend", "precision", "pivoting", "repeat", "hpl-dat", "config", "json"});
}

BackendValues values_for_backend(const PluOptions& options) {
  BackendValues values = options.backend_values;
  std::string& products = values.at("products");
  if (products != auto_word) return values;
  const char* refined = options.matrix == MatrixKind::mxp ? "auto:half" : "auto:split";
  products = options.precision == Precision::double_ ? "auto:int8" : refined;
  return values;
}

ParsedOptions parse_plu_options(const std::vector<std::string>& arguments, TextFiles& files) {
  return with_dependent_defaults(with_one_matrix({parse(arguments, plu_table, files)}));
}

}  // namespace glinpack::app
