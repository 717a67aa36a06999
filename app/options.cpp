#include "app/options.hpp"

#include <algorithm>
#include <climits>
#include <functional>
#include <sstream>

#include "app/input/config_file.hpp"
#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_text.hpp"

namespace glinpack::app {

namespace {

using Values = std::vector<std::string>;

constexpr int largest_repeat = 1'000'000;
constexpr int largest_device = 4096;
constexpr int largest_threads = 4096;

// Names of options as configuration files write them: without dashes in front.
std::string key_of(const CLI::Option& option) { return option.get_lnames().front(); }

// The help text of an option with its default, broken into lines that fit beside the names.
std::string help_text(const std::string& help, const std::string& default_text) {
  constexpr std::size_t width = 84;
  std::istringstream words(default_text.empty() ? help : help + " [" + default_text + "]");
  std::string text;
  std::size_t column = 0;
  for (std::string word; words >> word;) {
    const bool fits = column + 1 + word.size() <= width;
    if (column > 0) text += fits ? ' ' : '\n';
    column = (column > 0 && fits ? column + 1 : 0) + word.size();
    text += word;
  }
  return text;
}

// Adds an option, `set` taking its text; what `set` throws is prefixed with the option's name.
void add(CLI::App& app, const std::string& name, const std::string& type, const std::string& default_text,
         const std::string& help, std::function<void(const std::string&)> set) {
  const auto guarded = [name, set = std::move(set)](const std::string& value) {
    try {
      set(value);
    } catch (const InputError& error) {
      throw InputError(name + ": " + error.what());
    }
  };
  app.add_option_function<std::string>(name, guarded, help_text(help, default_text))->type_name(type);
}

// The same for a list, given with commas, spaces, or both.
void add_list(CLI::App& app, const std::string& name, const std::string& type, const std::string& default_text,
              const std::string& help, std::function<void(const Values&)> set) {
  const auto guarded = [name, set = std::move(set)](const Values& values) {
    try {
      set(split_list(values));
    } catch (const InputError& error) {
      throw InputError(name + ": " + error.what());
    }
  };
  app.add_option_function<Values>(name, guarded, help_text(help, default_text))->type_name(type);
}

void add_text(CLI::App& app, const std::string& name, const std::string& type, const std::string& help,
              std::string& into) {
  add(app, name, type, "", help, [&into](const std::string& text) {
    if (text.empty()) throw InputError("the name is empty");
    into = text;
  });
}

void add_flag(CLI::App& app, const std::string& name, const std::string& help, std::function<void()> set) {
  app.add_flag_callback(name, std::move(set), help_text(help, ""));
}

std::vector<Index> whole_numbers(const Values& values, Index largest) {
  std::vector<Index> numbers;
  for (const std::string& value : values) numbers.push_back(parse_whole(value, 1, largest));
  return numbers;
}

void define_problem(CLI::App& app, PluOptions& o) {
  add_list(app, "--n", "N,...", "2000", "Orders of the matrix, in rows",
           [&o](const Values& v) { o.n = whole_numbers(v, largest_n); });
  add_list(app, "--nb", "NB,...", "128", "Block sizes of the distribution, in rows and columns",
           [&o](const Values& v) { o.nb = whole_numbers(v, largest_nb); });
  add_list(app, "--grid", "PxQ,...", "squarest", "Process grids: P rows, Q columns; surplus processes idle",
           [&o](const Values& v) {
             o.grid.clear();
             for (const std::string& text : v) o.grid.push_back(parse_grid(text));
           });
  add_flag(app, "--row-major", "Processes fill the grid row by row (default)",
           [&o] { o.order = RankOrder::row_major; });
  add_flag(app, "--column-major", "Processes fill the grid column by column",
           [&o] { o.order = RankOrder::column_major; });
  app.get_option("--row-major")->excludes("--column-major");
  add(app, "--matrix", "KIND", "hpl",
      enumerate(matrix_choices()) + ": HPL's own, or one to study pivoting with (docs/pivoting.md); not with --input",
      [&o](const std::string& t) { o.matrix = parse_matrix(t); });
  add(app, "--seed", "SEED", "100", "Seed of a random matrix and right-hand side (HPL itself uses 100)",
      [&o](const std::string& t) { o.seed = static_cast<std::uint64_t>(parse_whole(t, 0, LLONG_MAX)); });
  add_text(app, "--input", "FILE", "Matrix from a .npy or Matrix Market file instead; b = A times ones", o.input);
  add_text(app, "--hpl-dat", "FILE", "Take the runs from netlib's HPL.dat; options given here override it", o.hpl_dat);
}

void define_algorithm(CLI::App& app, PluOptions& o) {
  add(app, "--precision", "single|double", "double",
      "Precision of the factors and the solution; gl-raster: single, whatever the default",
      [&o](const std::string& t) { o.precision = parse_precision(t); });
  add(app, "--pivoting", "local|partial", "partial",
      "Pivots among the rows of the pivot's process, or of its process column (HPL's); gl-raster's default is local",
      [&o](const std::string& t) { o.pivoting = parse_pivoting(t); });
  add(app, "--broadcast", "KIND", "ring",
      "ring, ring-modified, two-rings, two-rings-modified, long, long-modified (or HPL's digits 0 ... 5), or ibcast",
      [&o](const std::string& t) { o.broadcast = parse_broadcast(t); });
  add(app, "--repeat", "COUNT", "1", "Runs of every combination",
      [&o](const std::string& t) { o.repeat = static_cast<int>(parse_whole(t, 1, largest_repeat)); });
  add(app, "--threshold", "REAL", "16.0", "Largest scaled residual that passes; negative: no check",
      [&o](const std::string& t) { o.threshold = parse_real(t); });
}

void define_machine(CLI::App& app, PluOptions& o) {
  add(app, "--backend", "NAME", "auto",
      enumerate(backend_choices()) +
          "; auto: gl-compute where every process has a hardware OpenGL device, else openblas",
      [&o](const std::string& t) { o.backend = parse_backend(t); });
  add(app, "--device", "INDEX", "by local rank", "EGL device for every process, as `glinpack devices` counts",
      [&o](const std::string& t) { o.device = static_cast<int>(parse_whole(t, 0, largest_device)); });
  add(app, "--threads", "COUNT", "cores / ranks of the node", "Threads of every process for arithmetic on the host",
      [&o](const std::string& t) { o.threads = static_cast<int>(parse_whole(t, 1, largest_threads)); });
  add_text(app, "--shader-dir", "DIR", "GLSL files here override the built-in ones", o.shader_dir);
  add(app, "--raster-coordinates", "WAY", "streamed",
      "gl-raster: texture coordinates from the vertices (streamed), or computed by every fragment (computed)",
      [&o](const std::string& t) { o.raster_coordinates = parse_raster_coordinates(t); });
}

void define_output(CLI::App& app, PluOptions& o) {
  add_text(app, "--output-dir", "DIR",
           "Folder for the files below, made if missing; without names: report.txt, results.json, results.csv",
           o.output_dir);
  add_text(app, "--json", "FILE", "All results with the breakdown, per rank, as JSON", o.json);
  add_text(app, "--csv", "FILE", "One line per run", o.csv);
  add_text(app, "--trace", "FILE", "Timeline in Chrome's trace format, for ui.perfetto.dev", o.trace);
  add_text(app, "--save-solution", "FILE", "Solution x of the last run as .npy (float64)", o.save_solution);
  add_flag(app, "--force", "Overwrite output files that exist", [&o] { o.force = true; });
  add(app, "--progress", "WHEN", "auto", "Progress on stderr: auto (from runs of seconds on), always or never",
      [&o](const std::string& t) { o.progress = parse_when(t); });
  add(app, "--breakdown", "WHEN", "auto",
      "Network against compute after each run: auto (in sweeps of up to 10 runs), "
      "always or never",
      [&o](const std::string& t) { o.breakdown = parse_when(t); });
}

void define_plan(CLI::App& app, PluOptions& o) {
  add_flag(app, "--dry-run", "Print the runs, memory per process and expected flops; run nothing",
           [&o] { o.dry_run = true; });
  add(app, "--explain-pass", "K", "",
      "Print the schedule of pass K (from 0): roles, messages, who waits for whom; run nothing",
      [&o](const std::string& t) { o.explain_pass = parse_whole(t, 0, largest_n); });
  add_text(app, "--config", "FILE",
           "TOML file with any of these options (without dashes in front) as keys; the command "
           "line takes precedence",
           o.config);
}

constexpr const char* examples =
    "Examples:\n"
    "  mpirun -np 4 glinpack plu --config configs/quickstart.toml\n"
    "  mpirun -np 4 glinpack plu --n 8000,16000 --nb 128,256 --grid 2x2,1x4 --backend openblas --json results.json\n"
    "  mpirun -np 4 glinpack plu --n 512 --nb 64 --backend gl-raster --json raster.json\n"
    "  mpirun -np 6 glinpack plu --n 777 --nb 32 --grid 2x3 --backend gl-compute --precision single\n"
    "  mpirun -np 4 glinpack plu --hpl-dat HPL.dat --backend openblas\n"
    "  glinpack plu --n 100000 --nb 512 --grid 16x32 --dry-run\n"
    "\n"
    "Times are in seconds, rates in GFLOPS (10^9 operations a second), memory in MiB (2^20 bytes) and GiB (2^30).\n"
    "Exit code: 0 all runs passed, 1 a run failed its check, 2 unusable input, 3 an error while running.";

// An argument that no option takes.
[[noreturn]] void refuse_argument(const CLI::App& app, const std::string& argument) {
  if (!argument.starts_with("-")) {
    throw InputError("argument " + in_quotes(argument) +
                     " is not expected; options begin with -- (see glinpack plu --help)");
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back("--" + key_of(*option));
  const std::string name = argument.substr(0, argument.find('='));
  throw InputError("unknown option " + in_quotes(name) + did_you_mean(name, names) + "; see glinpack plu --help");
}

std::set<std::string> given_options(const CLI::App& app) {
  std::set<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) names.insert(key_of(*option));
  }
  return names;
}

// Parses over what `options` holds; returns the names of the options that were given.
std::set<std::string> parse_arguments(std::vector<std::string> arguments, PluOptions& options) {
  CLI::App app;
  define_plu_options(app, options);
  app.allow_extras();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::ArgumentMismatch& error) {
    throw InputError(std::string(error.what()) + " (an option takes one value, the lists --n, --nb and --grid more)");
  } catch (const CLI::ParseError& error) {
    throw InputError(std::string(error.what()) + "; see glinpack plu --help");
  }
  if (const std::vector<std::string> extras = app.remaining(); !extras.empty()) refuse_argument(app, extras.front());
  return given_options(app);
}

void apply(const Setting& setting, PluOptions& options) {
  CLI::App app;
  define_plu_options(app, options);
  const CLI::Option* option = app.get_option_no_throw("--" + setting.key);
  if (option == nullptr || setting.key == "help" || setting.key == "config") {
    std::vector<std::string> keys;
    for (const CLI::Option* known : app.get_options()) {
      if (key_of(*known) != "help" && key_of(*known) != "config") keys.push_back(key_of(*known));
    }
    throw InputError("unknown key " + in_quotes(setting.key) + did_you_mean(setting.key, keys) +
                     "; the keys are the options of glinpack plu --help");
  }
  const bool is_flag = option->get_items_expected_max() == 0;
  if (is_flag != setting.is_boolean) {
    throw InputError(setting.key + " = " + setting.text + ": " + (is_flag ? "true or false" : "a value") +
                     " is expected");
  }
  if (is_flag && setting.values.front() == "false") return;
  if (setting.values.empty())
    throw InputError(setting.key + " = []: the list is empty; at least one value is expected");
  const bool is_list = option->get_items_expected_max() > 1;
  if (setting.values.size() > 1 && !is_list) {
    throw InputError(setting.key + " = " + setting.text + ": one value is expected, not a list");
  }
  std::string argument = "--" + setting.key;
  if (!is_flag) {
    argument += "=" + setting.values.front();
    for (std::size_t i = 1; i < setting.values.size(); ++i) argument += "," + setting.values[i];
    if (argument.back() == '=') throw InputError(setting.key + " = " + setting.text + ": the value is empty");
  }
  try {
    parse_arguments({argument}, options);
  } catch (const InputError& error) {
    throw InputError(setting.key + " = " + setting.text + ": " +
                     std::string(error.what()).substr(setting.key.size() + 4));  // without "--key: "
  }
}

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
  app.name("glinpack plu");
  app.description("Factorises P A = L U on a P x Q grid of processes, solves A x = b, checks the answer as HPL does.");
  app.footer(examples);
  app.get_formatter()->column_width(34);
  const auto group = [&](const std::string& name, void (*define)(CLI::App&, PluOptions&)) {
    app.option_defaults()->group(name);
    define(app, options);
  };
  group("Problem", define_problem);
  group("Algorithm", define_algorithm);
  group("Backend", define_machine);
  group("Output", define_output);
  group("Plan and configuration", define_plan);
}

namespace {

// What the white paper's backend can do, and does unless told otherwise: single precision, pivots of the rank's own
// rows.
ParsedOptions settled(ParsedOptions parsed) {
  if (parsed.options.backend != "gl-raster") return parsed;
  const auto given = [&parsed](const char* name) {
    return parsed.on_command_line.contains(name) || parsed.in_file.contains(name);
  };
  if (given("precision") && parsed.options.precision == Precision::double_) {
    throw InputError(
        "the backend gl-raster computes in single precision only; use --precision single or another backend");
  }
  parsed.options.precision = Precision::single;
  if (!given("pivoting")) parsed.options.pivoting = Pivoting::local;
  return parsed;
}

}  // namespace

ParsedOptions parse_plu_options(const std::vector<std::string>& arguments) {
  PluOptions from_command_line;
  ParsedOptions parsed;
  parsed.on_command_line = parse_arguments(arguments, from_command_line);
  if (from_command_line.config.empty()) {
    parsed.options = from_command_line;
    return settled(with_one_matrix(std::move(parsed)));
  }
  for (const Setting& setting : read_config_file(from_command_line.config)) {
    try {
      apply(setting, parsed.options);
    } catch (const InputError& error) {
      throw InputError(from_command_line.config + ":" + std::to_string(setting.line) + ": " + error.what());
    }
    parsed.in_file.insert(setting.key);
  }
  parse_arguments(arguments, parsed.options);
  return settled(with_one_matrix(std::move(parsed)));
}

std::string plu_help() {
  CLI::App app;
  PluOptions options;
  define_plu_options(app, options);
  return app.help();
}

nlohmann::json to_json(const PluOptions& o) {
  const auto text = [](const std::string& value) { return value.empty() ? nlohmann::json() : nlohmann::json(value); };
  const auto number = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  nlohmann::json grid;
  for (const GridShape& shape : o.grid) grid.push_back(text_of(shape));
  return {{"n", o.n},
          {"nb", o.nb},
          {"grid", grid},
          {"row-major", o.order == RankOrder::row_major},
          {"column-major", o.order == RankOrder::column_major},
          {"matrix", o.matrix == MatrixKind::file ? nlohmann::json() : nlohmann::json(name_of(o.matrix))},
          {"seed", o.seed},
          {"input", text(o.input)},
          {"hpl-dat", text(o.hpl_dat)},
          {"precision", name_of(o.precision)},
          {"pivoting", name_of(o.pivoting)},
          {"broadcast", name_of(o.broadcast)},
          {"repeat", o.repeat},
          {"threshold", o.threshold},
          {"backend", o.backend},
          {"device", number(o.device)},
          {"threads", number(o.threads)},
          {"shader-dir", text(o.shader_dir)},
          {"raster-coordinates", text_of(o.raster_coordinates)},
          {"output-dir", text(o.output_dir)},
          {"json", text(o.json)},
          {"csv", text(o.csv)},
          {"trace", text(o.trace)},
          {"save-solution", text(o.save_solution)},
          {"force", o.force},
          {"progress", text_of(o.progress)},
          {"breakdown", text_of(o.breakdown)},
          {"dry-run", o.dry_run},
          {"explain-pass", number(o.explain_pass)}};
}

PluOptions from_json(const nlohmann::json& configuration) {
  PluOptions options;
  for (const auto& [key, value] : configuration.items()) {
    if (value.is_null()) continue;
    Setting setting{.key = key, .text = value.dump(), .is_boolean = value.is_boolean()};
    const auto text = [](const nlohmann::json& item) {
      return item.is_string() ? item.get<std::string>() : item.dump();
    };
    if (value.is_array()) {
      for (const nlohmann::json& item : value) setting.values.push_back(text(item));
    } else {
      setting.values.push_back(text(value));
    }
    apply(setting, options);
  }
  if (!options.input.empty()) options.matrix = MatrixKind::file;
  return options;
}

}  // namespace glinpack::app
