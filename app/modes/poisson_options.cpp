#include "app/modes/poisson_options.hpp"

#include <algorithm>

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

std::vector<Field> variant_fields(PoissonOptions& o) {
  const Texts hosts{"serial", "threads"}, all{"all"}, none{"none"};
  const auto read_memory = [&o, all, none](const Texts& values) {
    o.all_memories = values == all;
    o.memory.clear();
    if (values != none) o.memory = parse_kinds(values, solvers::all_poisson_memories);
  };
  const auto read_host = [&o, hosts, none](const Texts& values) {
    o.host.clear();
    if (values != none) o.host = parse_names(values, hosts);
  };
  const auto read_preconditioner = [&o, all](const Texts& values) {
    o.all_preconditioners = values == all;
    o.preconditioner = parse_kinds(values, all_poisson_preconditioners);
  };
  return {
      {"memory",
       list_value(some_of(names_of(solvers::all_poisson_memories), {"all", "none"}), read_memory,
                  [&o] { return names_of(o.memory); }),
       "Memory of the device that the vectors are in; all: every one that has the precision, the textures having "
       "single; none: the processor alone"},
      {"host", list_value(some_of(hosts, {"all", "none"}), read_host, [&o] { return o.host; }),
       "The processor's loops: serial, by one thread; threads, by all; none"},
      {"preconditioner", list_value("NAME,...", read_preconditioner, [&o] { return names_of(o.preconditioner); }),
       enumerate(names_of(all_poisson_preconditioners)) +
           "; all: every one. jacobi: the diagonal of A, which leaves the iterations what they are; multigrid: "
           "V-cycles, few iterations for any N, of one process, with storage buffers"},
      {"precision", single_or_double(o.precision), "Of vectors; the parts of scalar products are added up in double"},
  };
}

// Throws if the named memory and preconditioner cannot be combined.
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

// In double precision, removes textures from `all`; throws if they were named.
void check_precision(PoissonOptions& o) {
  const auto lacks_it = [](PoissonMemory memory) { return !solvers::has_double_precision(memory); };
  o.textures_skipped = o.all_memories && o.precision == Precision::double_;
  if (o.precision == Precision::single) return;
  if (o.textures_skipped) std::erase_if(o.memory, lacks_it);
  const auto named = std::find_if(o.memory.begin(), o.memory.end(), lacks_it);
  if (named == o.memory.end()) return;
  throw InputError("--memory " + std::string(name_of(*named)) +
                   ": textures hold single precision; use --precision single, or --memory global,shared");
}

}  // namespace

OptionTable poisson_table(PoissonOptions& o) {
  const std::vector<Field> problem{
      size_field(o), {"output", text(o.output, "FILE"), "u of the last result, as .npy or .mtx by the name"}};
  OptionTable table{
      .command = "poisson",
      .description =
          "Solves the Poisson equation on the unit square by conjugate gradients, without a matrix, with each kind\n"
          "of a device's memory; checks by the exact solution and compares with the processor. Under a launcher the\n"
          "processes share the square, each having a strip of it.",
      .footer = mode_footer(poisson_examples, ",\n5 ended by --watchdog"),
      .groups = mode_groups(o, {{"Problem", problem}, {"Variants", variant_fields(o)}})};
  table.groups.back().fields.push_back(watchdog_field(o.watchdog));
  return table;
}

PoissonOptions parse_poisson_options(const std::vector<std::string>& arguments, TextFiles& files) {
  Parsed<PoissonOptions> parsed = parse(arguments, poisson_table, files);
  if (parsed.options.memory.empty() && parsed.options.host.empty()) {
    throw InputError("--memory none and --host none leave nothing to compute: name one of them");
  }
  check_precision(parsed.options);
  check_preconditioner(parsed.options);
  return parsed.options;
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
