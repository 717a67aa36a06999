#include "app/modes/poisson_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/option_text.hpp"
#include "app/watchdog_option.hpp"

namespace glinpack::app {

namespace {

using solvers::PoissonMemory;

constexpr const char* poisson_examples =
    "  glinpack poisson\n"
    "  glinpack poisson --n 32,64,128,256 --memory all --json poisson.json\n"
    "  glinpack poisson --n 256 --precision single --memory all --host none\n"
    "  glinpack poisson --n 256,1024 --preconditioner none,multigrid\n"
    "  glinpack poisson --n 64 --output u.npy\n"
    "  mpirun.mpich -np 4 glinpack poisson --n 256\n";

std::vector<std::string> memory_choices() {
  std::vector<std::string> names;
  for (const PoissonMemory memory : solvers::all_poisson_memories) names.emplace_back(name_of(memory));
  return names;
}

const std::vector<std::string> host_choices{"serial", "threads"};

std::vector<std::string> preconditioner_choices() {
  std::vector<std::string> names;
  for (const PoissonPreconditioner kind : all_poisson_preconditioners) names.emplace_back(name_of(kind));
  return names;
}

std::vector<PoissonPreconditioner> parse_preconditioners(const std::vector<std::string>& values) {
  const std::vector<std::string> choices = preconditioner_choices();
  std::vector<PoissonPreconditioner> kinds;
  for (const std::string& name : parse_names(values, choices)) {
    const auto place = std::find(choices.begin(), choices.end(), name) - choices.begin();
    kinds.push_back(all_poisson_preconditioners[static_cast<std::size_t>(place)]);
  }
  return kinds;
}

/// As parse_names(), or none of them.
std::vector<std::string> parse_names_or_none(const std::vector<std::string>& values,
                                             std::span<const std::string> choices) {
  if (values == std::vector<std::string>{"none"}) return {};
  return parse_names(values, choices);
}

void define_poisson_options(CLI::App& app, PoissonOptions& o) {
  describe_mode(
      app, "poisson",
      "Solves the Poisson equation on the unit square by conjugate gradients, without a matrix, with each kind\n"
      "of a device's memory; checks by the exact solution and compares with the processor. Under a launcher the\n"
      "processes share the square, each having a strip of it.",
      poisson_examples, mode_units(",\n5 ended by --watchdog"));
  define_mode_orders(app, o);
  add_text(app, "--output", "FILE", "u of the last result, as .npy or .mtx by the name", o.output);
  begin_group(app, "Variants");
  add_list(app, "--memory", some_of(memory_choices(), {"all", "none"}), "global",
           "Memory of the device that the vectors are in; all: every one that has the precision, the textures having "
           "single; none: the processor alone",
           [&o](const std::vector<std::string>& values) {
             o.all_memories = o.textures_skipped = values == std::vector<std::string>{"all"};
             o.memory.clear();
             for (const std::string& name : parse_names_or_none(values, memory_choices())) {
               o.memory.push_back(*solvers::poisson_memory_from_name(name));
             }
           });
  add_list(app, "--host", some_of(host_choices, {"all", "none"}), "serial,threads",
           "The processor's loops: serial, by one thread; threads, by all; none",
           [&o](const std::vector<std::string>& values) { o.host = parse_names_or_none(values, host_choices); });
  add_list(app, "--preconditioner", "NAME,...", "none",
           enumerate(preconditioner_choices()) +
               "; all: every one. jacobi: the diagonal of A, which leaves the iterations what they are; multigrid: "
               "V-cycles, few iterations for any N, of one process, with storage buffers",
           [&o](const std::vector<std::string>& values) {
             o.all_preconditioners = values == std::vector<std::string>{"all"};
             o.preconditioner = parse_preconditioners(values);
           });
  add(app, "--precision", "single|double", "double", "Of vectors; the parts of scalar products are added up in double",
      [&o](const std::string& t) { o.precision = parse_single_or_double(t); });
  define_mode_measuring(app, o);
  define_mode_machine(app, o);
  define_mode_output(app, o);
  add_watchdog(app, o.watchdog);
}

/// Refuses what does not go together where both are named.
void check_preconditioner(const PoissonOptions& o) {
  if (o.all_memories || o.all_preconditioners) return;
  for (const PoissonMemory memory : o.memory) {
    for (const PoissonPreconditioner kind : o.preconditioner) {
      if (allowed(memory, kind)) continue;
      throw InputError("--preconditioner " + std::string(name_of(kind)) + ", --memory " + std::string(name_of(memory)) +
                       ": multigrid works in storage buffers; use --memory global,shared");
    }
  }
}

/// Leaves the textures out of `all` in double precision; refuses them where they are named.
void check_precision(PoissonOptions& o) {
  const auto lacks_it = [](PoissonMemory memory) { return !solvers::has_double_precision(memory); };
  o.textures_skipped = o.textures_skipped && o.precision == Precision::double_;
  if (o.precision == Precision::single) return;
  if (o.textures_skipped) std::erase_if(o.memory, lacks_it);
  const auto named = std::find_if(o.memory.begin(), o.memory.end(), lacks_it);
  if (named == o.memory.end()) return;
  throw InputError("--memory " + std::string(name_of(*named)) +
                   ": textures hold single precision; use --precision single, or --memory global,shared");
}

}  // namespace

PoissonOptions parse_poisson_options(const std::vector<std::string>& arguments) {
  Parsed<PoissonOptions> parsed;
  parse_into(parsed, arguments, define_poisson_options);
  if (parsed.options.memory.empty() && parsed.options.host.empty()) {
    throw InputError("--memory none and --host none leave nothing to compute: name one of them");
  }
  check_precision(parsed.options);
  check_preconditioner(parsed.options);
  return parsed.options;
}

std::string poisson_help() {
  PoissonOptions options;
  return help_of([&](CLI::App& app) { define_poisson_options(app, options); });
}

nlohmann::json to_json(const PoissonOptions& o) {
  nlohmann::json json = mode_to_json(o);
  json.erase("seed");
  json.erase("input");
  std::vector<std::string> memory;
  for (const PoissonMemory kind : o.memory) memory.emplace_back(name_of(kind));
  std::vector<std::string> preconditioner;
  for (const PoissonPreconditioner kind : o.preconditioner) preconditioner.emplace_back(name_of(kind));
  json.update({{"memory", memory},
               {"host", o.host},
               {"precision", name_of(o.precision)},
               {"preconditioner", preconditioner},
               {"watchdog", watchdog_json(o.watchdog)}});
  return json;
}

PoissonOptions poisson_options_from_json(const nlohmann::json& configuration) {
  nlohmann::json spelled = configuration;
  for (const char* list : {"memory", "host"}) {
    if (spelled.at(list).empty()) spelled[list] = "none";
  }
  PoissonOptions options;
  apply_configuration(spelled, [&](CLI::App& app) { define_poisson_options(app, options); });
  return options;
}

bool allowed(PoissonMemory memory, PoissonPreconditioner preconditioner) {
  return preconditioner != PoissonPreconditioner::multigrid || solvers::allows_multigrid(memory);
}

std::vector<std::string> adapt_to_ranks(PoissonOptions& o, int ranks) {
  std::vector<std::string> notes;
  if (ranks == 1 && o.watchdog) {
    throw InputError("--watchdog: one process waits for no other; start several, or leave it out");
  }
  if (ranks == 1) return notes;
  for (const Index n : o.n) {
    if (n >= ranks) continue;
    throw InputError("--n " + std::to_string(n) + ": " + std::to_string(ranks) +
                     " processes were started, but each needs a row of its own; start " + std::to_string(n) +
                     " at most, or use a larger N");
  }
  notes.push_back(std::to_string(ranks) + " ranks, each with a strip of rows; ghost rows go over MPI");
  if (std::erase(o.preconditioner, PoissonPreconditioner::multigrid) > 0) {
    if (!o.all_preconditioners) {
      throw InputError("--preconditioner multigrid is for one process, but " + std::to_string(ranks) +
                       " were started; start one, or use --preconditioner none,jacobi");
    }
    notes.emplace_back("--preconditioner all of several ranks is none and jacobi: multigrid is for one process");
  }
  if (std::erase(o.memory, PoissonMemory::texture2d) == 0) return notes;
  if (!o.all_memories) {
    throw InputError(
        "--memory texture2d: 2D textures hold the whole square, not strips; start one process, or use "
        "--memory global,texture1d,shared");
  }
  notes.emplace_back(
      "--memory all of several ranks is global, texture1d and shared: 2D textures hold the whole square");
  return notes;
}

}  // namespace glinpack::app
