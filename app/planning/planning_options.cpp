#include "app/planning/planning_options.hpp"

#include <nlohmann/json.hpp>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "app/option_text.hpp"
#include "app/planning/quantities.hpp"

namespace glinpack::app {

namespace {

constexpr const char* planning_examples =
    "Examples:\n"
    "  glinpack plan --nodes 16 --gpus-per-node 4 --memory 80G --network 100Gb/s\n"
    "  glinpack plan --nodes 16 --gpus-per-node 4 --memory 80G --network 100Gb/s --precision single \\\n"
    "    --pivoting tournament --from one-node.json --links network.json\n"
    "  glinpack plan --nodes 4 --backend openblas --from one-core.json --n 2000 --nb 128 --network 100mbit\n"
    "\n"
    "FILE of --from is of `glinpack plu --json`, of --links `glinpack network --json`, of --ceilings\n"
    "`glinpack ceilings --json`. Where nothing was measured, figures of another machine stand in, and the plan says\n"
    "which; nothing is run. Times in seconds unless another unit stands there; rates in FLOPS (operations a second) "
    "and\n"
    "bytes a second, powers of ten.\n"
    "Exit code: 0 planned, 2 unusable input, 3 an error while planning.";

void define_cluster(CLI::App& app, PlanningOptions& o) {
  begin_group(app, "Cluster");
  add(app, "--nodes", "COUNT", "1", "Nodes",
      [&o](const std::string& t) { o.nodes = static_cast<int>(parse_whole(t, 1, largest_processes)); });
  add(app, "--gpus-per-node", "COUNT", "1", "GPUs of a node, a process each; with openblas, processes of a node",
      [&o](const std::string& t) { o.processes_per_node = static_cast<int>(parse_whole(t, 1, largest_processes)); });
  add(app, "--memory", "BYTES", "", "Memory of a GPU, such as 80G or 64GiB; with openblas, for a process",
      [&o](const std::string& t) { o.memory = parse_bytes(t); });
  add(app, "--memory-fraction", "SHARE", text_of(o.memory_fraction), "Of that memory, that a run may take",
      [&o](const std::string& t) {
        o.memory_fraction = parse_real(t);
        if (o.memory_fraction > 0 && o.memory_fraction <= 1) return;
        throw InputError(in_quotes(t) + " is out of range; more than 0 and at most 1 is expected");
      });
  add(app, "--network", "RATE", "", "Link of a node, each direction: bits as in 100Gb/s, or bytes as in 12.5GB/s",
      [&o](const std::string& t) { o.network = parse_link_rate(t); });
  add(app, "--latency", "TIME", "5us, assumed", "A small message from node to node, such as 2us",
      [&o](const std::string& t) { o.latency = parse_latency(t); });
}

std::string parse_planned_backend(const std::string& text) {
  if (text != "auto") return parse_given_backend(text);
  throw InputError("auto: a plan looks at no machine; openblas or gl-compute is expected");
}

Precision parse_modelled_precision(const std::string& text) {
  if (text != "mixed") return parse_single_or_double(text);
  throw InputError("mixed: how often a solution is refined is not in the model; plan with single");
}

void define_run(CLI::App& app, PlanningOptions& o) {
  constexpr int deepest = 1000;
  begin_group(app, "Run");
  add(app, "--n", "N", "the largest that fits", "Order of the matrix",
      [&o](const std::string& t) { o.n = parse_whole(t, 1, largest_n); });
  add(app, "--nb", "NB", "the fastest of those measured", "Block size",
      [&o](const std::string& t) { o.nb = parse_whole(t, 1, largest_nb); });
  add(app, "--grid", "PxQ", "the fastest", "Process grid, of all processes",
      [&o](const std::string& t) { o.grid = parse_grid(t); });
  add(app, "--backend", one_of(given_backend_choices()), o.backend, "gl-compute: a GPU for each process; openblas: processors",
      [&o](const std::string& t) { o.backend = parse_planned_backend(t); });
  add(app, "--precision", "single|double", "double", "Of the factors",
      [&o](const std::string& t) { o.precision = parse_modelled_precision(t); });
  add(app, "--pivoting", "local|partial|tournament", "partial", "As in glinpack plu",
      [&o](const std::string& t) { o.pivoting = parse_pivoting(t); });
  add(app, "--broadcast", one_of(names_of(all_broadcasts)), "ring", "As in glinpack plu",
      [&o](const std::string& t) { o.broadcast = parse_broadcast(t); });
  add(app, "--row-swap", one_of(names_of(all_row_swaps)), "binary-exchange", "As in glinpack plu",
      [&o](const std::string& t) { o.row_swap.kind = parse_row_swap(t); });
  add(app, "--lookahead", "DEPTH", "1", "As in glinpack plu",
      [&o](const std::string& t) { o.lookahead = static_cast<int>(parse_whole(t, 0, deepest)); });
  add(app, "--node-broadcast", "shared|mpi", "shared", "As in glinpack plu",
      [&o](const std::string& t) { o.node_transport = parse_node_transport(t); });
  add_flag(app, "--messages-only", "The time of `glinpack network`: a factorisation's messages without its arithmetic",
           [&o] { o.messages_only = true; });
}

void check(const PlanningOptions& o) {
  const auto processes = static_cast<std::int64_t>(o.nodes) * o.processes_per_node;
  if (processes > largest_processes) {
    throw InputError("--nodes " + std::to_string(o.nodes) + " of " + std::to_string(o.processes_per_node) +
                     " processes are more than the " + std::to_string(largest_processes) +
                     " that glinpack can address");
  }
  if (!o.n && !o.memory) {
    throw InputError(
        "neither --memory nor --n is given: how large a matrix to plan for? Give the memory of a GPU "
        "(--memory 80G), or N");
  }
  if (o.nodes > 1 && !o.network && o.links.empty()) {
    throw InputError("--nodes " + std::to_string(o.nodes) +
                     ": how fast is the network between them? Give a node's link (--network 100Gb/s), or what "
                     "`glinpack network --json` measured (--links FILE)");
  }
  if (o.grid && o.grid->size() != o.processes()) {
    throw InputError("--grid " + text_of(*o.grid) + " has " + std::to_string(o.grid->size()) + " processes, but " +
                     std::to_string(o.nodes) + " x " + std::to_string(o.processes_per_node) +
                     " (--nodes, --gpus-per-node) are " + std::to_string(o.processes()));
  }
}

}  // namespace

void define_planning_options(CLI::App& app, PlanningOptions& o) {
  describe(app, "glinpack plan",
           "Plans a run on a cluster, without one: N, NB, grid, and the time and rate that a model expects of it.",
           planning_examples);
  define_cluster(app, o);
  define_run(app, o);
  begin_group(app, "Figures");
  add_list(app, "--from", "FILES", "of gl-compute an H200's",
           "Results of glinpack plu on one of the nodes: rates are fitted to them",
           [&o](const std::vector<std::string>& files) { o.from = files; });
  add_text(app, "--links", "FILE", "Result of glinpack network: latencies and rates by its ping-pongs", o.links);
  add_text(app, "--ceilings", "FILE", "Result of glinpack ceilings: the default figures are scaled to it", o.ceilings);
  begin_group(app, "Output");
  add_text(app, "--json", "FILE", "All of it as JSON (docs/plan.schema.json)", o.json);
  add_flag(app, "--force", "Overwrite a file that exists", [&o] { o.force = true; });
  begin_group(app, "Configuration");
  define_config_option(app, o.config);
}

PlanningOptions parse_planning_options(const std::vector<std::string>& arguments) {
  Parsed<PlanningOptions> parsed;
  parse_into(parsed, arguments, define_planning_options);
  check(parsed.options);
  return parsed.options;
}

std::string planning_help() {
  PlanningOptions options;
  return help_of([&](CLI::App& app) { define_planning_options(app, options); });
}

nlohmann::json to_json(const PlanningOptions& o) {
  const auto number = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  const auto text = [](const std::string& value) { return value.empty() ? nlohmann::json() : nlohmann::json(value); };
  return {{"nodes", o.nodes},
          {"gpus-per-node", o.processes_per_node},
          {"memory", number(o.memory)},
          {"memory-fraction", o.memory_fraction},
          {"network", number(o.network)},
          {"latency", number(o.latency)},
          {"n", number(o.n)},
          {"nb", number(o.nb)},
          {"grid", o.grid ? nlohmann::json(text_of(*o.grid)) : nlohmann::json()},
          {"backend", o.backend},
          {"precision", name_of(o.precision)},
          {"pivoting", name_of(o.pivoting)},
          {"broadcast", name_of(o.broadcast)},
          {"row-swap", name_of(o.row_swap.kind)},
          {"lookahead", o.lookahead},
          {"node-broadcast", name_of(o.node_transport)},
          {"messages-only", o.messages_only},
          {"from", o.from},
          {"links", text(o.links)},
          {"ceilings", text(o.ceilings)},
          {"json", text(o.json)},
          {"force", o.force}};
}

}  // namespace glinpack::app
